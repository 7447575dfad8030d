// abut convert: scenes to MJCF, recordings to the formats for other eyes.
#include <string.h>

#include "cli.h"
#include "progress.h"

static const CliOption option[] = {
    {"--every", "K", "of a recording, keep every K-th sample (1)"},
    {"--quiet", NULL, "no progress bar, no warnings"},
};

static const CliCommand command = {
    "convert",
    "IN OUT",
    2,
    2,
    "Converts a scene (MJCF or URDF) to MJCF or to a model file (.abm), or a recording (.h5) to "
    "CSV, .html, .glb or .h5.",
    "A scene is written as MJCF that MuJoCo loads, too: defaults resolved, includes drawn in, "
    "every\n"
    "number as it was compiled from. A model file holds the compiled model: it loads wherever a "
    "scene\n"
    "does, at once and without other files, but only in the version of abut that wrote it.\n\n"
    "Examples:\n"
    "  abut convert robot.urdf robot.xml\n"
    "  abut convert robot.urdf robot.abm\n"
    "  abut convert out/run.h5 out/run.html\n"
    "  abut convert out/run.h5 out/csv/ --every 10\n",
    sizeof option / sizeof option[0],
    option};

static bool ends_with(const char* text, const char* end) {
  size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static int convert_to_model(const char* in, const char* out, bool quiet) {
  abError error = {0};
  abModel* model = cli_load(in, quiet, false);
  if (!model) return CLI_BAD_INPUT;
  abStatus status = ab_model_save(model, out, &error);
  ab_model_free(model);
  return status == AB_OK ? CLI_DONE : cli_error(&error);
}

static int convert_scene(const char* in, const char* out, bool quiet) {
  abError error = {0};
  abNotes notes = {0};
  if (ends_with(out, ".abm")) return convert_to_model(in, out, quiet);
  if (!ends_with(out, ".xml"))
    return cli_fail(
        "cannot convert the scene %s to %s; scenes are written to a name ending in .xml or .abm",
        in, out);
  if (ends_with(in, ".abm"))
    return cli_fail("%s is a compiled model; only the scene it came from can be written as MJCF",
                    in);
  abScene* scene = ab_scene_load(in, &notes, &error);
  for (int i = 0; i < notes.n && !quiet; i++)
    fprintf(stderr, "%s:%d: warning: %s\n", notes.note[i].file, notes.note[i].line,
            notes.note[i].message);
  if (!scene) cli_problems(&notes, &error);
  ab_notes_free(&notes);
  if (!scene) return CLI_BAD_INPUT;
  // A scene that does not compile is refused here, and not by whoever reads the new file.
  abModel* model = ab_scene_compile(scene, &error);
  bool good = model && ab_scene_save(scene, out, &error) == AB_OK;
  ab_model_free(model);
  ab_scene_free(scene);
  return good ? CLI_DONE : cli_error(&error);
}

static bool copy_samples(abRecording* from, abRecorder* to, int every, bool quiet, abError* error) {
  int n = ab_recording_count(from);
  const abModel* model = ab_recording_model(from);
  Progress progress = progress_begin("abut convert", quiet);
  bool good = true;
  for (int i = 0; i < n && good; i += every) {
    const abData* data = ab_recording_sample(from, i, error);
    good = data && ab_record_sample(to, model, data, error) == AB_OK;
    progress_show(&progress, (double)(i + 1) / n);
  }
  progress_end(&progress);
  return good;
}

static int convert_recording(const char* in, const char* out, int every, bool quiet) {
  abError error = {0};
  abRecording* from = ab_recording_open(in, &error);
  if (!from) return cli_error(&error);
  abRecorder* to = ab_record_open(out, ab_recording_model(from), &error);
  bool good = to && copy_samples(from, to, every, quiet, &error);
  if (to) good = ab_record_close(to, good ? &error : NULL) == AB_OK && good;
  ab_recording_close(from);
  return good ? CLI_DONE : cli_error(&error);
}

int cli_convert(int argc, char** argv) {
  CliArgs args;
  int code;
  double every = 1;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  if (!cli_number(&args, "--every", 0.5, 1e9, &every)) return CLI_BAD_INPUT;
  const char *in = args.argument[0], *out = args.argument[1];
  bool quiet = cli_has(&args, "--quiet");
  if (cli_same_file(in, out))
    return cli_fail("IN and OUT are the same file %s; choose another OUT", in);
  if (ends_with(in, ".h5") || ends_with(in, ".hdf5"))
    return convert_recording(in, out, (int)every, quiet);
  if (ends_with(in, ".html") || ends_with(in, ".glb") || ends_with(in, ".csv"))
    return cli_fail("%s: only .h5 recordings can be converted; record with --record FILE.h5", in);
  return convert_scene(in, out, quiet);
}
