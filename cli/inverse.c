// abut inverse: which contacts a recorded motion must have had.
//
// For every free body and every two successive samples, the impulse that load and motion leave
// unexplained is placed on the contact plane: the fixed plane or face of a fixed box the body is
// nearest to at the end of the step.
#include <abut/inverse.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "forces.h"

static const CliOption option[] = {
    {"--forces", "FILE", "the applied forces of the run, as given to abut run"},
    {"--csv", "FILE", "write there instead of to the terminal"},
    {"--svg", "FILE", "a plot of forces and contact points over time"},
    {"--check", "TOLERANCE",
     "compare with the contacts in the recording; exit 1 if a point [m] or a force (relative) "
     "differs by more"},
    {"--gyro", "0|1", "rotational equation of the run, for the model ecp (the scene's)"},
    {"--quiet", NULL, "no warnings"},
};

static const CliCommand command = {
    "inverse",
    "RECORDING SCENE",
    2,
    2,
    "Contact points and wrenches from recorded motion: the equivalent contact point and the "
    "wrench\n"
    "there that explain the motion of each free body, uniquely, given the load.",
    "The recording (.h5) must hold every step (--every 1). Columns: time, body, contact point, "
    "normal,\n"
    "force and torque about the point (on the body), sliding velocities v_t, v_o, v_r. A body "
    "that\n"
    "several things touch at once is given their resultant.\n\n"
    "Examples:\n"
    "  abut run scenes/slide.xml --contact ecp --record out/slide.h5\n"
    "  abut inverse out/slide.h5 scenes/slide.xml\n"
    "  abut inverse out/slide.h5 scenes/slide.xml --check 1e-8 --svg out/slide.svg\n",
    sizeof option / sizeof option[0],
    option};

typedef struct Row {
  double time;
  int body;
  abPlane plane;
  double h;
  abInverseContact contact;
} Row;

typedef struct Job {
  const abModel* model;
  abRecording* recording;
  abData* scene_data;  // carries the applied forces
  Forces* forces;
  bool explicit_gyro;
  int nrow, capacity, nrefused;
  Row* row;
  double worst_point, worst_force;  // against the recorded contacts
} Job;

typedef struct Sample {
  double time, h;
  abVec3* com;
  abTwist* twist;
  abMat3* R;
  abPose* pose;
} Sample;

static abVec3 rotate(abQuat q, abVec3 x) {
  abVec3 t = {2 * (q.y * x.z - q.z * x.y), 2 * (q.z * x.x - q.x * x.z),
              2 * (q.x * x.y - q.y * x.x)};
  return (abVec3){x.x + q.w * t.x + q.y * t.z - q.z * t.y, x.y + q.w * t.y + q.z * t.x - q.x * t.z,
                  x.z + q.w * t.z + q.x * t.y - q.y * t.x};
}

static double dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static abMat3 world_inertia(const abBody* b, const abMat3* R) {
  abMat3 A, out;
  abVec3 axis[3] = {rotate(b->inertia_q, (abVec3){1, 0, 0}),
                    rotate(b->inertia_q, (abVec3){0, 1, 0}),
                    rotate(b->inertia_q, (abVec3){0, 0, 1})};
  for (int j = 0; j < 3; j++) {
    double local[3] = {axis[j].x, axis[j].y, axis[j].z};
    for (int i = 0; i < 3; i++)
      A.m[i][j] = R->m[i][0] * local[0] + R->m[i][1] * local[1] + R->m[i][2] * local[2];
  }
  double d[3] = {b->inertia.x, b->inertia.y, b->inertia.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out.m[i][j] = A.m[i][0] * d[0] * A.m[j][0] + A.m[i][1] * d[1] * A.m[j][1] +
                    A.m[i][2] * d[2] * A.m[j][2];
  return out;
}

// Height of a body's lowest vertex over a plane. Smooth shapes are tessellated with vertices on
// their surface, so this finds the right plane, and no number depends on it.
static double height_over(const abModel* m, int body, abPose pose, abPlane plane) {
  double least = INFINITY;
  for (int g = m->body[body].geom0; g < m->body[body].geom0 + m->body[body].ngeom; g++) {
    const abPolyhedron* p = m->geom[g].shape.poly;
    for (int i = 0; p && i < p->nvert; i++) {
      abVec3 x = rotate(m->geom[g].pose.q, p->vert[i]), o = m->geom[g].pose.p;
      x = rotate(pose.q, (abVec3){x.x + o.x, x.y + o.y, x.z + o.z});
      abVec3 at = {x.x + pose.p.x, x.y + pose.p.y, x.z + pose.p.z};
      double height = dot(plane.n, at) - plane.d;
      if (height < least) least = height;  // by fmin, gcc 12 for ARM fails with an internal error
    }
  }
  return least;
}

// The fixed plane the body is nearest to; faces of fixed boxes count, too.
static bool support_plane(const Job* job, const Sample* s, int body, abPlane* out) {
  const abModel* m = job->model;
  double best = INFINITY;
  for (int g = 0; g < m->ngeom; g++) {
    const abGeom* geom = &m->geom[g];
    int owner = geom->body;
    if (m->body[owner].mover >= 0) continue;
    abPose frame = s->pose[owner];
    abVec3 at = rotate(frame.q, geom->pose.p);
    at = (abVec3){at.x + frame.p.x, at.y + frame.p.y, at.z + frame.p.z};
    bool plane = geom->shape.type == AB_SHAPE_PLANE;
    int nface = plane ? 1 : geom->shape.type == AB_SHAPE_BOX ? geom->shape.poly->nface : 0;
    for (int f = 0; f < nface; f++) {
      abPlane local = plane ? (abPlane){{0, 0, 1}, 0} : geom->shape.poly->plane[f];
      abVec3 n = rotate(frame.q, rotate(geom->pose.q, local.n));
      abPlane p = {n, local.d + dot(n, at)};
      double h = fabs(height_over(m, body, s->pose[body], p));
      if (h < best) best = h, *out = p;
    }
  }
  return isfinite(best);
}

static bool keep(Job* job, Row row) {
  if (job->nrow == job->capacity) {
    int room = job->capacity ? 2 * job->capacity : 1024;
    Row* more = realloc(job->row, sizeof(Row) * (size_t)room);
    if (!more) return false;
    job->row = more;
    job->capacity = room;
  }
  job->row[job->nrow++] = row;
  return true;
}

static bool take_sample(const abModel* m, const abData* d, Sample* s) {
  size_t n = (size_t)m->nbody;
  if (!s->com) {
    s->com = malloc(n * sizeof *s->com);
    s->twist = malloc(n * sizeof *s->twist);
    s->R = malloc(n * sizeof *s->R);
    s->pose = malloc(n * sizeof *s->pose);
  }
  if (!s->com || !s->twist || !s->R || !s->pose) return false;
  s->time = d->time;
  s->h = d->h;
  memcpy(s->com, d->com, n * sizeof *s->com);
  memcpy(s->twist, d->twist, n * sizeof *s->twist);
  memcpy(s->R, d->R, n * sizeof *s->R);
  memcpy(s->pose, d->pose, n * sizeof *s->pose);
  return true;
}

static void free_sample(Sample* s) {
  free(s->com);
  free(s->twist);
  free(s->R);
  free(s->pose);
}

static abInverseDef define(const Job* job, const Sample* a, const Sample* b, int body) {
  const abModel* m = job->model;
  const abBody* x = &m->body[body];
  abInverseDef def = {.h = b->time - a->time,
                      .mass = x->mass,
                      .inertia_start = world_inertia(x, &a->R[body]),
                      .inertia_end = world_inertia(x, &b->R[body]),
                      .twist_start = a->twist[body],
                      .twist_end = b->twist[body],
                      .com_end = b->com[body],
                      .explicit_gyro = job->explicit_gyro};
  if (job->forces) def.load = job->scene_data->applied[body];
  if (x->gravity) {
    def.load.force.x += x->mass * m->gravity.x;
    def.load.force.y += x->mass * m->gravity.y;
    def.load.force.z += x->mass * m->gravity.z;
  }
  return def;
}

// Against the recorded contacts, where the body has exactly one.
static void compare(Job* job, const abData* d, const Row* row) {
  const abContact* one = NULL;
  int n = 0;
  for (int i = 0; i < d->ncontact; i++) {
    const abContact* c = &d->contacts[i];
    if (c->body1 != row->body && c->body2 != row->body) continue;
    n++;
    one = c->body1 == row->body ? c : NULL;
  }
  if (n != 1 || !one || !row->contact.touching) return;
  abVec3 p = row->contact.point, q = one->point, f = row->contact.impulse.force;
  double k = 1 / row->h;
  abVec3 df = {k * f.x - one->wrench.force.x, k * f.y - one->wrench.force.y,
               k * f.z - one->wrench.force.z};
  double point =
      sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z));
  double force = sqrt(dot(df, df) / dot(one->wrench.force, one->wrench.force));
  job->worst_point = fmax(job->worst_point, point);
  job->worst_force = fmax(job->worst_force, force);
}

static bool work_step(Job* job, const Sample* a, const Sample* b, const abData* d) {
  const abModel* m = job->model;
  for (int i = 0; i < m->nmover; i++) {
    int body = m->mover[i].body0;
    if (m->mover[i].jointed) continue;
    Row row = {.time = b->time, .body = body, .h = b->time - a->time};
    if (!support_plane(job, b, body, &row.plane)) continue;
    abInverseDef def = define(job, a, b, body);
    def.plane = row.plane;
    if (ab_contact_inverse(&def, &row.contact, NULL) != AB_OK) {
      job->nrefused++;
      continue;
    }
    compare(job, d, &row);
    if (row.contact.touching && !keep(job, row)) return false;
  }
  return true;
}

static int work(Job* job) {
  abError error = {0};
  Sample sample[2];
  memset(sample, 0, sizeof sample);
  int n = ab_recording_count(job->recording), code = CLI_DONE;
  for (int i = 0; i < n && code == CLI_DONE; i++) {
    const abData* d = ab_recording_sample(job->recording, i, &error);
    Sample *now = &sample[i & 1], *before = &sample[1 - (i & 1)];
    if (!d) {
      code = cli_error(&error);
    } else if (!take_sample(job->model, d, now)) {
      code = cli_fail("out of memory");
    } else if (i > 0) {
      // times add up from steps, exact to far better than this
      if (fabs(now->time - before->time - now->h) > 1e-6 * now->h) {
        code = cli_fail(
            "samples %d and %d are %g s apart but the step was %g s; record every step "
            "(--every 1)",
            i - 1, i, now->time - before->time, now->h);
        break;
      }
      job->scene_data->time = before->time;
      if (job->forces) forces_apply(job->forces, job->scene_data);
      if (!work_step(job, before, now, d)) code = cli_fail("out of memory");
    }
  }
  free_sample(&sample[0]);
  free_sample(&sample[1]);
  return code;
}

// A name as a CSV field (RFC 4180): quoted where it holds a separator.
static void print_name(FILE* out, const char* name) {
  bool quoted = strpbrk(name, ",\"\r\n") != NULL;
  if (quoted) fputc('"', out);
  for (const char* c = name; *c; c++) {
    if (*c == '"') fputc('"', out);
    fputc(*c, out);
  }
  if (quoted) fputc('"', out);
}

static void print_rows(const Job* job, FILE* out) {
  fprintf(out, "time,body,px,py,pz,nx,ny,nz,fx,fy,fz,tx,ty,tz,vt,vo,vr\n");
  for (int i = 0; i < job->nrow; i++) {
    const Row* r = &job->row[i];
    const abInverseContact* c = &r->contact;
    double k = 1 / r->h;
    fprintf(out, "%.17g,", r->time);
    print_name(out, job->model->body[r->body].name);
    fprintf(out, ",%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,", c->point.x, c->point.y, c->point.z,
            r->plane.n.x, r->plane.n.y, r->plane.n.z);
    fprintf(out, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", k * c->impulse.force.x,
            k * c->impulse.force.y, k * c->impulse.force.z, k * c->impulse.torque.x,
            k * c->impulse.torque.y, k * c->impulse.torque.z, c->slip[0], c->slip[1], c->slip[2]);
  }
}

// --- the plot
// -----------------------------------------------------------------------------------------

enum { NCURVE = 7, WIDTH = 720, HEIGHT = 110 };
static const char* const curve_name[NCURVE] = {
    "normal force [N]", "friction t [N]", "friction o [N]", "friction torque [N m]",
    "point x [m]",      "point y [m]",    "point z [m]"};

static double curve(const Row* r, int which) {
  const abInverseContact* c = &r->contact;
  double v[NCURVE] = {c->p_n / r->h, c->p_t / r->h, c->p_o / r->h, c->p_r / r->h,
                      c->point.x,    c->point.y,    c->point.z};
  return v[which];
}

static void plot_curve(const Job* job, FILE* out, int which) {
  double low = INFINITY, high = -INFINITY, first = INFINITY, last = -INFINITY;
  for (int i = 0; i < job->nrow; i++) {
    double y = curve(&job->row[i], which), t = job->row[i].time;
    low = fmin(low, y), high = fmax(high, y), first = fmin(first, t), last = fmax(last, t);
  }
  double dy = high > low ? high - low : 1, dt = last > first ? last - first : 1;
  int top = which * (HEIGHT + 30) + 24;
  fprintf(out, "<text x='70' y='%d'>%s</text><text x='4' y='%d'>%.4g</text>", top - 6,
          curve_name[which], top + 10, high);
  fprintf(out, "<text x='4' y='%d'>%.4g</text><rect x='70' y='%d' width='%d' height='%d'/>\n",
          top + HEIGHT, low, top, WIDTH, HEIGHT);
  for (int i = 0; i < job->nrow; i++)
    fprintf(out, "<circle cx='%.2f' cy='%.2f' r='1'/>",
            70 + WIDTH * (job->row[i].time - first) / dt,
            top + HEIGHT * (high - curve(&job->row[i], which)) / dy);
  if (which == NCURVE - 1)
    fprintf(out, "<text x='70' y='%d'>%.4g s</text><text x='%d' y='%d'>%.4g s</text>",
            top + HEIGHT + 14, first, 40 + WIDTH, top + HEIGHT + 14, last);
}

static bool plot(const Job* job, const char* path) {
  FILE* out = fopen(path, "w");
  if (!out) return false;
  fprintf(out,
          "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
          "font-size='12'><style>rect{fill:none;stroke:#999}circle{fill:#1f5fa8}</style>\n",
          WIDTH + 90, NCURVE * (HEIGHT + 30) + 30);
  for (int i = 0; i < NCURVE; i++) plot_curve(job, out, i);
  fprintf(out, "</svg>\n");
  bool good = !ferror(out);
  return fclose(out) == 0 && good;
}

static bool scene_gyro(const abModel* model) {
  for (int i = 0; i < model->nsetting; i++)
    if (!strcmp(model->setting[i].name, "gyro")) return model->setting[i].value != 0;
  return true;
}

static int report(Job* job, const CliArgs* args) {
  const char *csv = cli_value(args, "--csv"), *svg = cli_value(args, "--svg");
  if (csv || !cli_has(args, "--check")) {
    FILE* out = csv ? fopen(csv, "w") : stdout;
    if (!out) return cli_fail("cannot write %s", csv);
    print_rows(job, out);
    bool good = !csv || !ferror(out);
    if ((csv && fclose(out)) || !good) return cli_fail("cannot write %s; is the disk full?", csv);
  }
  if (svg && !plot(job, svg)) return cli_fail("cannot write %s", svg);
  if (job->nrefused && !cli_has(args, "--quiet"))
    fprintf(stderr,
            "abut inverse: warning: %d steps are not explained by one contact with a fixed plane; "
            "were forces applied (--forces), or do bodies touch each other?\n",
            job->nrefused);
  double tolerance = INFINITY;
  if (!cli_number(args, "--check", 0, 1e9, &tolerance)) return CLI_BAD_INPUT;
  if (!cli_has(args, "--check")) return CLI_DONE;
  bool good = job->worst_point <= tolerance && job->worst_force <= tolerance && !job->nrefused;
  printf(
      "%d contacts; largest difference from the recorded ones: point %.3g m, force %.3g "
      "(relative): %s\n",
      job->nrow, job->worst_point, job->worst_force, good ? "ok" : "FAILED");
  return good ? CLI_DONE : CLI_CHECK_FAILED;
}

int cli_inverse(int argc, char** argv) {
  CliArgs args;
  int code;
  abError error = {0};
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  abModel* model = cli_load(args.argument[1], cli_has(&args, "--quiet"), false);
  if (!model) return CLI_BAD_INPUT;
  Job job = {.model = model, .explicit_gyro = !scene_gyro(model)};
  double gyro = job.explicit_gyro ? 0 : 1;
  if (!cli_number(&args, "--gyro", -0.5, 1.5, &gyro)) return ab_model_free(model), CLI_BAD_INPUT;
  job.explicit_gyro = gyro < 0.5;
  job.recording = ab_recording_open(args.argument[0], &error);
  job.scene_data = job.recording ? ab_data_create(model, &error) : NULL;
  code = job.scene_data ? CLI_DONE : cli_error(&error);
  const char* forces = cli_value(&args, "--forces");
  if (code == CLI_DONE && forces && !(job.forces = forces_load(forces, model)))
    code = CLI_BAD_INPUT;
  if (code == CLI_DONE && ab_recording_model(job.recording)->nbody != model->nbody)
    code = cli_fail("%s has %d bodies, but %s has %d: not the scene of this recording",
                    args.argument[1], model->nbody, args.argument[0],
                    ab_recording_model(job.recording)->nbody);
  if (code == CLI_DONE) code = work(&job);
  if (code == CLI_DONE) code = report(&job, &args);
  if (job.forces) forces_free(job.forces);
  free(job.row);
  if (job.scene_data) ab_data_free(job.scene_data);
  if (job.recording) ab_recording_close(job.recording);
  ab_model_free(model);
  return code;
}
