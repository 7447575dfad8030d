// Recordings hold what was sampled, to the last bit, also when the program is killed.
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "io/buffer.h"
#include "support/check.h"

static char folder[] = "/tmp/abut-test-record-XXXXXX";

static const char* in_folder(const char* name) {
  static char path[4][256];
  static int next;
  char* p = path[next++ % 4];
  snprintf(p, 256, "%s/%s", folder, name);
  return p;
}

static void record_samples(const char* path, int n) {
  Fake f;
  abError error = {0};
  fake_init(&f);
  abRecorder* r = ab_record_open(path, &f.model, &error);
  if (!r) fail_msg("%s", error.message);
  for (int i = 0; i < n; i++) {
    fake_state(&f, i);
    assert_int_equal(ab_record_sample(r, &f.model, &f.data, &error), AB_OK);
  }
  if (ab_record_close(r, &error) != AB_OK) fail_msg("%s", error.message);
}

static char* read_all(const char* path) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char* text = calloc(1, 1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, file);
  assert_true(n < (1 << 20) - 1);
  fclose(file);
  return text;
}

static int count_lines(const char* text) {
  int n = 0;
  for (; *text; text++) n += *text == '\n';
  return n;
}

static void csv_has_the_promised_files_and_headers(void** state) {
  (void)state;
  record_samples(in_folder("deep/er/csv"), 4);
  char* bodies = read_all(in_folder("deep/er/csv/bodies.csv"));
  char* joints = read_all(in_folder("deep/er/csv/joints.csv"));
  char* contacts = read_all(in_folder("deep/er/csv/contacts.csv"));
  const char* head = "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n0,\"a \"\"big\"\", box\",";
  assert_memory_equal(bodies, head, strlen(head));
  assert_int_equal(count_lines(bodies), 1 + 4 * 2);
  assert_memory_equal(joints, "time,joint,q,v\n0,hinge,", 23);
  assert_int_equal(count_lines(joints), 1 + 4);
  head = "time,body1,body2,geom1,geom2,px,py,pz,nx,ny,nz,fx,fy,fz,tx,ty,tz,area,depth,kind,mode\n";
  assert_memory_equal(contacts, head, strlen(head));
  assert_int_equal(count_lines(contacts), 1 + 0 + 1 + 2 + 0);
  free(bodies);
  free(joints);
  free(contacts);
}

static void csv_numbers_read_back_to_the_same_doubles(void** state) {
  (void)state;
  Fake f;
  fake_init(&f);
  record_samples(in_folder("csv2/"), 2);
  fake_state(&f, 1);
  char* text = read_all(in_folder("csv2/bodies.csv"));
  char* line = strstr(text, "\n0.01,arm,");
  assert_non_null(line);
  const double want[13] = {f.com[2].x,       f.com[2].y,       f.com[2].z,       f.pose[2].q.w,
                           f.pose[2].q.x,    f.pose[2].q.y,    f.pose[2].q.z,    f.twist[2].lin.x,
                           f.twist[2].lin.y, f.twist[2].lin.z, f.twist[2].ang.x, f.twist[2].ang.y,
                           f.twist[2].ang.z};
  char* p = line + 9;
  for (int i = 0; i < 13; i++) assert_true(strtod(p + 1, &p) == want[i]);
  assert_int_equal(*p, '\n');
  free(text);
  text = read_all(in_folder("csv2/contacts.csv"));
  line = strstr(text, "\n0.01,\"a \"\"big\"\", box\",world,box,floor,");
  assert_non_null(line);
  p = strstr(line, "floor") + 5;
  const abContact* c = &f.contact[0];
  const double wanted[14] = {c->point.x,
                             c->point.y,
                             c->point.z,
                             c->normal.x,
                             c->normal.y,
                             c->normal.z,
                             c->wrench.force.x,
                             c->wrench.force.y,
                             c->wrench.force.z,
                             c->wrench.torque.x,
                             c->wrench.torque.y,
                             c->wrench.torque.z,
                             c->area,
                             c->depth};
  for (int i = 0; i < 14; i++) assert_true(strtod(p + 1, &p) == wanted[i]);
  free(text);
}

static void check_sample(const abData* d, Fake* f, int i) {
  fake_state(f, i);
  assert_true(d->time == f->data.time);
  assert_memory_equal(d->q, f->q, sizeof f->q);
  assert_memory_equal(d->v, f->v, sizeof f->v);
  assert_memory_equal(d->pose, f->pose, sizeof f->pose);
  assert_memory_equal(d->com, f->com, sizeof f->com);
  assert_memory_equal(d->twist, f->twist, sizeof f->twist);
  assert_memory_equal(d->R, f->R, sizeof f->R);
  assert_int_equal(d->stat.status, f->data.stat.status);
  assert_true(d->stat.residual == f->data.stat.residual);
  assert_int_equal(d->ncontact, f->data.ncontact);
  for (int k = 0; k < d->ncontact; k++) {
    const abContact *a = &d->contacts[k], *b = &f->contact[k];
    assert_memory_equal(a, b, offsetof(abContact, polygon));
    if (b->nvert) assert_memory_equal(a->polygon, b->polygon, sizeof(abVec3) * (size_t)b->nvert);
    assert_int_equal(a->pressure != NULL, b->pressure != NULL && b->nvert > 0);
    if (a->pressure)
      assert_memory_equal(a->pressure, b->pressure, sizeof(double) * (size_t)b->nvert);
  }
}

static void check_recording(const char* path, int n) {
  Fake f;
  abError error = {0};
  fake_init(&f);
  abRecording* r = ab_recording_open(path, &error);
  if (!r) fail_msg("%s", error.message);
  assert_int_equal(ab_recording_count(r), n);
  for (int i = n - 1; i >= 0; i--) {
    const abData* d = ab_recording_sample(r, i, &error);
    if (!d) fail_msg("%s", error.message);
    check_sample(d, &f, i);
  }
  ab_recording_close(r);
}

static void h5_gives_back_what_was_sampled(void** state) {
  (void)state;
  record_samples(in_folder("run.h5"), 50);
  check_recording(in_folder("run.h5"), 50);
}

static void h5_keeps_the_model(void** state) {
  (void)state;
  Fake f;
  fake_init(&f);
  record_samples(in_folder("model.h5"), 1);
  abRecording* r = ab_recording_open(in_folder("model.h5"), NULL);
  assert_non_null(r);
  const abModel* m = ab_recording_model(r);
  assert_int_equal(m->nbody, f.model.nbody);
  for (int i = 0; i < m->nbody; i++) {
    assert_string_equal(m->body[i].name, f.body[i].name);
    assert_int_equal(m->body[i].mover, f.body[i].mover);
    assert_true(m->body[i].com.x == f.body[i].com.x);
  }
  for (int i = 0; i < m->ngeom; i++) {
    assert_string_equal(m->geom[i].name, f.geom[i].name);
    assert_int_equal(m->geom[i].shape.type, f.geom[i].shape.type);
    assert_memory_equal(&m->geom[i].shape.size, &f.geom[i].shape.size, sizeof(abVec3));
    assert_memory_equal(m->geom[i].rgba, f.geom[i].rgba, sizeof f.geom[i].rgba);
  }
  assert_memory_equal(m->mesh[0].vert, f.vert, sizeof f.vert);
  assert_memory_equal(m->mesh[0].triangle, f.triangle, sizeof f.triangle);
  assert_int_equal(m->joint[1].type, AB_JOINT_HINGE);
  ab_recording_close(r);
}

static void h5_can_be_read_while_it_grows(void** state) {
  (void)state;
  Fake f;
  fake_init(&f);
  abRecorder* r = ab_record_open(in_folder("grow.h5"), &f.model, NULL);
  assert_non_null(r);
  for (int i = 0; i < 40; i++) {
    fake_state(&f, i);
    assert_int_equal(ab_record_sample(r, &f.model, &f.data, NULL), AB_OK);
    if (i % 10 != 9) continue;
    assert_int_equal(ab_record_flush(r, NULL), AB_OK);
    check_recording(in_folder("grow.h5"), i + 1);
  }
  assert_int_equal(ab_record_close(r, NULL), AB_OK);
}

// In a child process: samples, flushes, samples a little more, and dies.
static void record_and_die(const char* path) {
  Fake f;
  fake_init(&f);
  abRecorder* r = ab_record_open(path, &f.model, NULL);
  for (int i = 0; r && i < 25; i++) {
    fake_state(&f, i);
    ab_record_sample(r, &f.model, &f.data, NULL);
    if (i == 19) ab_record_flush(r, NULL);
  }
  kill(getpid(), SIGKILL);
}

static void kill_recorder(const char* path) {
  pid_t child = fork();
  if (child == 0) record_and_die(path);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void killed_runs_leave_readable_h5(void** state) {
  (void)state;
  kill_recorder(in_folder("killed.h5"));
  check_recording(in_folder("killed.h5"), 20);
}

static void killed_runs_leave_whole_rows_of_csv(void** state) {
  (void)state;
  kill_recorder(in_folder("killed/"));
  char* text = read_all(in_folder("killed/bodies.csv"));
  assert_int_equal(count_lines(text), 1 + 20 * 2);
  assert_int_equal(text[strlen(text) - 1], '\n');
  free(text);
}

static void check_refused(const char* path) {
  Fake f;
  abError error = {0};
  fake_init(&f);
  assert_null(ab_record_open(path, &f.model, &error));
  assert_true(error.code != AB_OK && strlen(error.message) > 10);
}

static void impossible_recordings_are_refused(void** state) {
  (void)state;
  check_refused("");
  check_refused(in_folder("run.mp4"));
  check_refused("/proc/no/such/run.h5");
  check_refused("/proc/no/such/folder/");
  check_refused("/proc/no/such/run.glb");
}

static void damaged_recordings_are_refused(void** state) {
  (void)state;
  abError error = {0};
  assert_null(ab_recording_open(in_folder("missing.h5"), &error));
  assert_int_equal(error.code, AB_ERROR_FILE);
  FILE* file = fopen(in_folder("text.h5"), "w");
  fputs("this is not HDF5\n", file);
  fclose(file);
  assert_null(ab_recording_open(in_folder("text.h5"), &error));
  record_samples(in_folder("cut.h5"), 30);
  struct stat info;
  assert_int_equal(stat(in_folder("cut.h5"), &info), 0);
  for (int part = 1; part < 8; part++) {
    assert_int_equal(truncate(in_folder("cut.h5"), info.st_size * (8 - part) / 8), 0);
    abRecording* r = ab_recording_open(in_folder("cut.h5"), &error);
    for (int i = 0; r && i < ab_recording_count(r); i++) ab_recording_sample(r, i, &error);
    ab_recording_close(r);
  }
}

static void base64_is_as_the_standard_says(void** state) {
  (void)state;
  static const char* const pair[][2] = {{"", ""},
                                        {"f", "Zg=="},
                                        {"fo", "Zm8="},
                                        {"foo", "Zm9v"},
                                        {"foob", "Zm9vYg=="},
                                        {"fooba", "Zm9vYmE="},
                                        {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
    abBuffer b = {0};
    ab_buffer_base64(&b, pair[i][0], strlen(pair[i][0]));
    ab_buffer_add(&b, "", 1);
    assert_string_equal(b.byte, pair[i][1]);
    ab_buffer_free(&b);
  }
}

static int make_folder(void** state) {
  (void)state;
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  char command[300];
  snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command) == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csv_has_the_promised_files_and_headers),
      cmocka_unit_test(csv_numbers_read_back_to_the_same_doubles),
      cmocka_unit_test(h5_gives_back_what_was_sampled),
      cmocka_unit_test(h5_keeps_the_model),
      cmocka_unit_test(h5_can_be_read_while_it_grows),
      cmocka_unit_test(killed_runs_leave_readable_h5),
      cmocka_unit_test(killed_runs_leave_whole_rows_of_csv),
      cmocka_unit_test(impossible_recordings_are_refused),
      cmocka_unit_test(damaged_recordings_are_refused),
      cmocka_unit_test(base64_is_as_the_standard_says),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
