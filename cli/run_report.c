// What happened in a run: as JSON, as a summary, and why it failed.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "run.h"

static bool add_name(char* text, size_t size, const char* name) {
  size_t at = strlen(text);
  if (at + strlen(name) + 8 > size) return false;
  snprintf(text + at, size - at, "%s%s", at ? ", " : "", name);
  return true;
}

// The bodies a failed step is about: the one that shows it first, else those in contact.
static void name_bodies(const Run* run, char* text, size_t size) {
  const abStat* stat = &run->data->stat;
  text[0] = 0;
  if (stat->bad_body >= 0 && stat->bad_body < run->model->nbody) {
    add_name(text, size, run->model->body[stat->bad_body].name);
    return;
  }
  for (int b = 1; b < run->model->nbody; b++) {
    bool touches = false;
    for (int i = 0; i < run->data->ncontact && !touches; i++)
      touches = run->data->contacts[i].body1 == b || run->data->contacts[i].body2 == b;
    if (touches && !add_name(text, size, run->model->body[b].name)) {
      strcat(text, ", ...");
      return;
    }
  }
  if (!text[0]) snprintf(text, size, "none in contact");
}

int run_report_failure(const Run* run) {
  char bodies[200];
  name_bodies(run, bodies, sizeof bodies);
  bool broken = run->failure == AB_STEP_BROKEN;
  char why[300];
  fprintf(stderr,
          "abut: step %ld (time %.9g s) %s: bodies %s; residual %.3g\n"
          "      %s\n      %s; what was recorded until then is kept\n",
          broken ? run->step + 1 : run->step, run->data->time,
          broken ? "broke down" : "was not solved to the tolerance", bodies,
          run->data->stat.residual, ab_step_text(run->model, run->data, why, sizeof why),
          broken ? "try a smaller --step, or look for extreme forces or masses in the scene"
                 : "try a smaller --step, a larger --set tolerance=..., or --on-failure warn");
  return CLI_BROKEN;
}

static json_t* energy_json(const Run* run) {
  const abEnergy* e = &run->energy;
  json_t* j = json_object();
  json_object_set_new(j, "initial", cli_json_number(run->energy0));
  json_object_set_new(j, "final", cli_json_number(e->kinetic + e->gravity + e->spring));
  json_object_set_new(j, "kinetic", cli_json_number(e->kinetic));
  json_object_set_new(j, "gravity", cli_json_number(e->gravity));
  json_object_set_new(j, "spring", cli_json_number(e->spring));
  json_object_set_new(j, "max_gain", cli_json_number(run->max_gain));
  json_object_set_new(j, "max_step_gain", cli_json_number(run->max_step_gain));
  return j;
}

static json_t* failure_json(const Run* run) {
  char bodies[200];
  if (run->failure == AB_STEP_OK) return json_null();
  name_bodies(run, bodies, sizeof bodies);
  bool broken = run->failure == AB_STEP_BROKEN;
  json_t* j = json_object();
  json_object_set_new(j, "step", json_integer(broken ? run->step + 1 : run->step));
  json_object_set_new(j, "status", json_string(broken ? "broken" : "unconverged"));
  json_object_set_new(j, "bodies", cli_json_text(bodies));
  json_object_set_new(j, "residual", cli_json_number(run->data->stat.residual));
  return j;
}

static json_t* warnings_json(const Run* run) {
  json_t* list = json_array();
  deep_json(&run->deep, run->model, list);
  if (!run->note) return list;
  json_t* j = json_object();
  json_object_set_new(j, "text", json_string(run->note));
  json_object_set_new(j, "steps", json_integer(run->noted));
  json_object_set_new(j, "since", cli_json_number(run->noted_since));
  json_array_append_new(list, j);
  return list;
}

void run_report_json(const Run* run) {
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, ab_state_hash(run->model, run->data));
  json_t* j = json_object();
  json_object_set_new(j, "scene", cli_json_text(run->scene));
  json_object_set_new(j, "steps", json_integer(run->step));
  json_object_set_new(j, "time", cli_json_number(run->data->time));
  json_object_set_new(j, "step", cli_json_number(run->data->h));
  json_object_set_new(j, "wall_s", cli_json_number(run->wall));
  json_object_set_new(j, "threads", json_integer(run->data->nthread));
  json_object_set_new(j, "contact",
                      json_string(run->data->contact ? run->data->contact->name : "none"));
  json_object_set_new(j, "contacts", json_integer(run->data->ncontact));
  json_object_set_new(j, "max_contacts", json_integer(run->max_contact));
  json_object_set_new(j, "sleep", json_boolean(run->data->sleep.on));
  json_object_set_new(j, "asleep", json_integer(run->data->stat.nasleep));
  json_object_set_new(j, "asleep_since", cli_json_number(run->asleep_since));
  json_object_set_new(j, "max_residual", cli_json_number(run->max_residual));
  json_object_set_new(j, "unconverged_steps", json_integer(run->unconverged));
  json_object_set_new(j, "max_penetration", cli_json_number(run->max_penetration));
  json_object_set_new(j, "equality_error", cli_json_number(run->data->stat.equality_error));
  json_object_set_new(j, "warnings", warnings_json(run));
  json_object_set_new(j, "energy", energy_json(run));
  json_object_set_new(j, "interrupted", json_boolean(run->signal != 0));
  json_object_set_new(j, "failure", failure_json(run));
  json_object_set_new(j, "hash", json_string(hash));
  cli_json_print(j);
}

void run_report_summary(const Run* run) {
  const abEnergy* e = &run->energy;
  double simulated = (double)run->step * run->data->h;
  printf("%s: %ld steps of %g s = %g s in %.2f s", run->scene, run->step, run->data->h, simulated,
         run->wall);
  if (run->wall > 0) printf(" (%.3g x real time)", simulated / run->wall);
  printf("%s\n", run->signal ? ", interrupted" : "");
  printf("  contact   model %s; %d contacts at the end, at most %d\n",
         run->data->contact ? run->data->contact->name : "none", run->data->ncontact,
         run->max_contact);
  printf("  solved    largest residual %.2g; %ld steps not converged; penetration at most %.3g m\n",
         run->max_residual, run->unconverged, run->max_penetration);
  printf(
      "  energy    %.6g J -> %.6g J (kinetic %.3g, gravity %.3g, spring %.3g); gained at most %.2g "
      "J\n",
      run->energy0, e->kinetic + e->gravity + e->spring, e->kinetic, e->gravity, e->spring,
      run->max_gain);
  if (run->data->sleep.on) {
    printf("  asleep    %d of %d moving bodies", run->data->stat.nasleep, run->nmoving);
    printf(isnan(run->asleep_since) ? "\n" : ", all since %.9g s\n", run->asleep_since);
  }
  if (run->note)
    printf("  note      in %ld steps since %.9g s: %s\n", run->noted, run->noted_since, run->note);
  printf("  hash      %016" PRIx64 "\n", ab_state_hash(run->model, run->data));
  for (int i = 0; i < run->nrecording; i++)
    printf("  recorded  %s (%d samples)\n", run->recording[i].path, run->recording[i].nsample);
}
