// abut compare: one scene under several contact models, in one table.
//
// The second half of the run (or what --settle leaves) counts as "after settling". The floor force
// is the total contact force between moving bodies and those fixed to the world, along the
// direction against gravity. Its chatter is the standard deviation divided by the mean; its zero
// fraction the part of the steps in which it vanishes. Drift is the largest distance that a centre
// of mass moves from where it was when the settled part began.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "progress.h"

static const CliOption option[] = {
    {"--contact", "A,B,...", "the models to compare (all)"},
    CLI_SIMULATION_OPTIONS,
    {"--settle", "S", "time after which the scene counts as settled [s] (half of --time)"},
    {"--json", NULL, "a JSON list instead of the table"},
    {"--quiet", NULL, "no progress bar, no warnings"},
};

static const CliCommand command = {
    "compare",
    "SCENE",
    1,
    1,
    "Runs the same scene under several contact models and prints one table.",
    "  us/step       wall time of a step\n"
    "  residual      largest scaled residual of a step; unconv. counts the steps above tolerance\n"
    "  penetration   deepest overlap during the run\n"
    "  energy        change of the total energy, and the largest gain above the start\n"
    "  chatter       floor force after settling: standard deviation / mean, and the part of the\n"
    "                steps in which it is zero\n"
    "  drift         largest displacement of a centre of mass after settling\n"
    "  asleep        bodies asleep at the end (with --sleep)\n\n"
    "--set applies to the models that have the parameter; one that none has is an error.\n\n"
    "Example:\n"
    "  abut compare scenes/stack10.xml --contact patch,volume-pgs,point-pgs --time 4\n",
    sizeof option / sizeof option[0],
    option};

typedef struct Result {
  const char* contact;
  long steps, unconverged;
  double step_us, residual, penetration;
  double energy0, energy1, gain;
  double force_mean, chatter, zero;  // of the floor force after settling
  double drift;
  int asleep;
  bool broken;
} Result;

// Mean and variance, one value at a time (Welford).
typedef struct Moments {
  long n, nzero;
  double mean, m2;
} Moments;

static void add_value(Moments* m, double x, double zero) {
  m->n++;
  double d = x - m->mean;
  m->mean += d / (double)m->n;
  m->m2 += d * (x - m->mean);
  m->nzero += fabs(x) <= zero;
}

static double dot(abVec3 a, abVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static double floor_force(const abModel* model, const abData* data) {
  double g = sqrt(dot(model->gravity, model->gravity)), sum = 0;
  abVec3 up = g > 0 ? (abVec3){-model->gravity.x / g, -model->gravity.y / g, -model->gravity.z / g}
                    : (abVec3){0, 0, 1};
  for (int i = 0; i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    bool fixed1 = model->body[c->body1].mover < 0, fixed2 = model->body[c->body2].mover < 0;
    if (fixed1 == fixed2) continue;
    sum += (fixed2 ? 1 : -1) * dot(c->wrench.force, up);
  }
  return sum;
}

static double largest_shift(const abModel* model, const abData* data, const abVec3* from) {
  double most = 0;
  for (int i = 1; i < model->nbody; i++) {
    if (model->body[i].mover < 0) continue;
    abVec3 d = {data->com[i].x - from[i].x, data->com[i].y - from[i].y, data->com[i].z - from[i].z};
    most = fmax(most, sqrt(dot(d, d)));
  }
  return most;
}

typedef struct Plan {
  long nstep, settled;  // the step from which the scene counts as settled
  Progress* progress;
  double from, to;  // of the progress bar
} Plan;

static void run_one(const abModel* model, abData* data, const Plan* plan, Result* r) {
  abVec3* rest = calloc((size_t)model->nbody, sizeof *rest);
  Moments force = {0};
  // A millionth of the weight is no force.
  double zero = 1e-6 * model->total_mass * sqrt(dot(model->gravity, model->gravity));
  ab_forward(model, data);
  r->energy0 = r->energy1 = cli_total_energy(model, data);
  double spent = 0;
  for (long i = 0; i < plan->nstep && !r->broken && rest; i++) {
    double begun = cli_clock();
    abStepStatus status = ab_step(model, data);
    spent += cli_clock() - begun;
    r->broken = status == AB_STEP_BROKEN;
    if (r->broken) break;
    r->steps++;
    r->unconverged += status == AB_STEP_UNCONVERGED;
    r->residual = fmax(r->residual, data->stat.residual);
    r->penetration = fmax(r->penetration, data->stat.max_penetration);
    r->energy1 = cli_total_energy(model, data);
    r->gain = fmax(r->gain, r->energy1 - r->energy0);
    if (i + 1 == plan->settled) memcpy(rest, data->com, sizeof *rest * (size_t)model->nbody);
    if (i + 1 > plan->settled) {
      add_value(&force, floor_force(model, data), zero);
      r->drift = fmax(r->drift, largest_shift(model, data, rest));
    }
    double done = (double)(i + 1) / (double)plan->nstep;
    progress_show(plan->progress, plan->from + done * (plan->to - plan->from));
  }
  free(rest);
  r->asleep = data->stat.nasleep;
  r->step_us = r->steps ? 1e6 * spent / (double)r->steps : NAN;
  r->force_mean = force.mean;
  double deviation = force.n ? sqrt(force.m2 / (double)force.n) : NAN;
  r->chatter = fabs(force.mean) > zero ? deviation / fabs(force.mean) : NAN;
  r->zero = force.n ? (double)force.nzero / (double)force.n : NAN;
}

static json_t* result_json(const Result* r) {
  json_t* j = json_object();
  json_object_set_new(j, "contact", json_string(r->contact));
  json_object_set_new(j, "steps", json_integer(r->steps));
  json_object_set_new(j, "step_us", cli_json_number(r->step_us));
  json_object_set_new(j, "max_residual", cli_json_number(r->residual));
  json_object_set_new(j, "unconverged_steps", json_integer(r->unconverged));
  json_object_set_new(j, "max_penetration", cli_json_number(r->penetration));
  json_object_set_new(j, "energy_change", cli_json_number(r->energy1 - r->energy0));
  json_object_set_new(j, "energy_gain", cli_json_number(r->gain));
  json_object_set_new(j, "floor_force", cli_json_number(r->force_mean));
  json_object_set_new(j, "chatter", cli_json_number(r->chatter));
  json_object_set_new(j, "zero_fraction", cli_json_number(r->zero));
  json_object_set_new(j, "drift", cli_json_number(r->drift));
  json_object_set_new(j, "asleep", json_integer(r->asleep));
  json_object_set_new(j, "broken", json_boolean(r->broken));
  return j;
}

static void print_results(int n, const Result* result, bool sleep) {
  static const char* const heading[] = {
      "contact", ">us/step",     ">residual", ">unconv.", ">penetration", ">energy change",
      ">gain",   ">floor force", ">chatter",  ">zero",    ">drift",       ">asleep"};
  static const char* const unit[] = {"", "", "", "", "[m]", "[J]", "[J]", "[N]", "", "", "[m]", ""};
  int ncolumn = sleep ? 12 : 11;
  CliTable t = cli_table(ncolumn, heading);
  for (int i = 0; i < ncolumn; i++) cli_cell(&t, "%s", unit[i]);
  for (int i = 0; i < n; i++) {
    const Result* r = &result[i];
    cli_cell(&t, "%s%s", r->contact, r->broken ? " (broke down)" : "");
    cli_cell(&t, "%.1f", r->step_us);
    cli_cell(&t, "%.1e", r->residual);
    cli_cell(&t, "%ld", r->unconverged);
    cli_cell(&t, "%.2e", r->penetration);
    cli_cell(&t, "%.5g", r->energy1 - r->energy0);
    cli_cell(&t, "%.1e", r->gain);
    cli_cell(&t, "%.5g", r->force_mean);
    cli_cell(&t, isnan(r->chatter) ? "-" : "%.1e", r->chatter);
    cli_cell(&t, isnan(r->zero) ? "-" : "%.1f %%", 100 * r->zero);
    cli_cell(&t, "%.1e", r->drift);
    if (sleep) cli_cell(&t, "%d", r->asleep);
  }
  cli_table_print(&t, "");
}

enum { MAX_MODEL = 32 };

// Cuts A,B,C; without a list, all models. Returns their number, 0 with a message.
static int choose_models(const char* list, char name[MAX_MODEL][64]) {
  int n = 0, all = ab_contact_model_count();
  if (!list)
    for (; n < all && n < MAX_MODEL; n++) snprintf(name[n], 64, "%s", ab_contact_model(n)->name);
  const char* known[64];
  for (int i = 0; i < all && i < 64; i++) known[i] = ab_contact_model(i)->name;
  for (const char* p = list; p && *p && n < MAX_MODEL;) {
    size_t len = strcspn(p, ",");
    snprintf(name[n], 64, "%.*s", (int)(len < 63 ? len : 63), p);
    if (strcmp(name[n], "none") && !ab_find_contact_model(name[n]))
      return cli_fail("there is no contact model '%s'%s", name[n],
                      cli_suggest(name[n], all, known)),
             0;
    n++;
    p += len + (p[len] == ',');
  }
  if (n == 0) cli_fail("--contact: name the models to compare, as in patch,point-pgs");
  return n;
}

static bool has_param(const char* contact, const char* setting) {
  const abContactModel* m = ab_find_contact_model(contact);
  size_t n = strcspn(setting, "=");
  for (int i = 0; m && i < m->nparam; i++)
    if (strlen(m->param[i].name) == n && !strncmp(m->param[i].name, setting, n)) return true;
  return false;
}

// The options without the settings that this model does not have.
static CliArgs args_for(const CliArgs* args, const char* contact, int n, char name[][64]) {
  CliArgs own = *args;
  own.ngiven = 0;
  for (int i = 0; i < args->ngiven; i++) {
    bool set = !strcmp(args->name[i], "--set"), somebody = false;
    for (int k = 0; k < n; k++) somebody = somebody || has_param(name[k], args->value[i]);
    if (set && somebody && !has_param(contact, args->value[i])) continue;
    own.name[own.ngiven] = args->name[i];
    own.value[own.ngiven++] = args->value[i];
  }
  return own;
}

static int compare_all(const abModel* model, const CliArgs* args, int n, char name[][64]) {
  Result result[MAX_MODEL] = {0};
  double time = 2, settle = -1;
  if (!cli_number(args, "--time", 0, INFINITY, &time)) return CLI_BAD_INPUT;
  settle = time / 2;
  if (!cli_number(args, "--settle", 0, time, &settle)) return CLI_BAD_INPUT;
  Progress progress = progress_begin("abut compare", cli_has(args, "--quiet"));
  bool broken = false;
  for (int i = 0; i < n; i++) {
    CliArgs own = args_for(args, name[i], n, name);
    abData* data = cli_simulation(model, &own, name[i]);
    if (!data) return CLI_BAD_INPUT;
    Plan plan = {cli_step_count(time, data->h), cli_step_count(settle, data->h), &progress,
                 (double)i / n, (double)(i + 1) / n};
    result[i].contact = name[i];
    run_one(model, data, &plan, &result[i]);
    broken = broken || result[i].broken;
    ab_data_free(data);
  }
  progress_end(&progress);
  if (cli_has(args, "--json")) {
    json_t* list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, result_json(&result[i]));
    cli_json_print(list);
  } else {
    print_results(n, result, cli_has(args, "--sleep"));
  }
  return broken ? CLI_BROKEN : CLI_DONE;
}

int cli_compare(int argc, char** argv) {
  CliArgs args;
  int code;
  char name[MAX_MODEL][64];
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  int n = choose_models(cli_value(&args, "--contact"), name);
  if (n == 0) return CLI_BAD_INPUT;
  abModel* model =
      cli_load(args.argument[0], cli_has(&args, "--quiet"), cli_has(&args, "--floating"));
  if (!model) return CLI_BAD_INPUT;
  code = compare_all(model, &args, n, name);
  ab_model_free(model);
  return code;
}
