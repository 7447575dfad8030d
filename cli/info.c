// abut info: the compiled model, for people as tables, for machines as JSON.
#include <math.h>
#include <string.h>

#include "cli.h"

static const CliOption option[] = {
    {"--floating", NULL, "what is fixed to the world floats: the root link of a URDF"},
    {"--json", NULL, "the model as one JSON object; references are indices"},
};

static const CliCommand command = {
    "info",
    "SCENE",
    1,
    1,
    "Compiles a scene and prints what it became: bodies, joints, geoms, actuators, keyframes.",
    "Masses, centres of mass and principal inertias are those the simulation uses; lengths in m,\n"
    "masses in kg, angles in rad. Warnings name what the file asks for and abut does not "
    "honour.\n\n"
    "Examples:\n"
    "  abut info scenes/pendulum.xml\n"
    "  abut info scenes/pile.xml --json | python3 -m json.tool\n",
    sizeof option / sizeof option[0],
    option};

static const char* shape_name(abShapeType type) {
  static const char* const name[] = {"plane",    "box",       "sphere", "capsule",
                                     "cylinder", "ellipsoid", "mesh"};
  return name[type];
}

static const char* joint_name(abJointType type) {
  static const char* const name[] = {"free", "ball", "slide", "hinge"};
  return name[type];
}

static const char* or_dash(const char* name) { return name && name[0] ? name : "-"; }

static void print_head(const abModel* m) {
  int moving = 0, jointed = 0;
  for (int i = 1; i < m->nbody; i++) moving += m->body[i].mover >= 0;
  for (int i = 0; i < m->nmover; i++) jointed += m->mover[i].jointed;
  printf("%s (%s)\n", m->name && m->name[0] ? m->name : "unnamed scene", m->file ? m->file : "");
  printf("  %d moving bodies (%d free, %d joint trees), %d coordinates, %d velocities, %d geoms\n",
         moving, m->nmover - jointed, jointed, m->nq, m->nv, m->ngeom);
  printf("  step %g s, integrator %s, gravity (%g, %g, %g) m/s2\n", m->timestep,
         m->integrator == AB_INTEGRATOR_RK4 ? "RK4" : "Euler", m->gravity.x, m->gravity.y,
         m->gravity.z);
  printf("  total mass %g kg, extent %.4g m, model %zu bytes\n", m->total_mass, m->extent,
         m->bytes);
  printf("  contact model: %s", m->contact ? m->contact : "the default");
  for (int i = 0; i < m->nsetting; i++)
    printf("%s%s = %g", i ? ", " : "; ", m->setting[i].name, m->setting[i].value);
  printf("\n");
}

static void print_bodies(const abModel* m) {
  static const char* const heading[] = {
      "body", "parent", ">mass [kg]", "centre of mass [m]", "inertia [kg m2]", ">geoms", "joints"};
  CliTable t = cli_table(7, heading);
  for (int i = 1; i < m->nbody; i++) {
    const abBody* b = &m->body[i];
    char joints[160] = "";
    for (int k = 0; k < b->njoint && k < 6; k++) {
      size_t at = strlen(joints);
      snprintf(joints + at, sizeof joints - at, "%s%s", k ? ", " : "",
               joint_name(m->joint[b->joint0 + k].type));
    }
    cli_cell(&t, "%s", or_dash(b->name));
    cli_cell(&t, "%s", or_dash(m->body[b->parent].name));
    cli_cell(&t, "%.6g", b->mass);
    cli_cell(&t, "(%.4g, %.4g, %.4g)", b->com.x, b->com.y, b->com.z);
    cli_cell(&t, "(%.4g, %.4g, %.4g)", b->inertia.x, b->inertia.y, b->inertia.z);
    cli_cell(&t, "%d", b->ngeom);
    cli_cell(&t, "%s",
             b->njoint       ? joints
             : b->mocap >= 0 ? "moved from outside"
             : b->mover < 0  ? "fixed to the world"
                             : "welded");
  }
  printf("\nBodies\n");
  cli_table_print(&t, "  ");
}

static void print_joints(const abModel* m) {
  static const char* const heading[] = {"joint", "type",     "body",       "axis",
                                        "range", ">damping", ">stiffness", ">armature"};
  int n = 0;
  for (int i = 0; i < m->njoint; i++) n += m->joint[i].type != AB_JOINT_FREE;
  if (n == 0) return;
  CliTable t = cli_table(8, heading);
  for (int i = 0; i < m->njoint; i++) {
    const abJoint* j = &m->joint[i];
    if (j->type == AB_JOINT_FREE) continue;
    cli_cell(&t, "%s", or_dash(j->name));
    cli_cell(&t, "%s", joint_name(j->type));
    cli_cell(&t, "%s", or_dash(m->body[j->body].name));
    cli_cell(&t, "(%.4g, %.4g, %.4g)", j->axis.x, j->axis.y, j->axis.z);
    if (j->limited)
      cli_cell(&t, "%.4g .. %.4g", j->range[0], j->range[1]);
    else
      cli_cell(&t, "free");
    cli_cell(&t, "%.4g", j->damping);
    cli_cell(&t, "%.4g", j->stiffness);
    cli_cell(&t, "%.4g", j->armature);
  }
  printf("\nJoints (free joints left out)\n");
  cli_table_print(&t, "  ");
}

static void print_geoms(const abModel* m) {
  static const char* const heading[] = {"geom",   "body",       "shape",      "size [m]",
                                        ">faces", ">mass [kg]", ">mu static", ">mu kinetic"};
  CliTable t = cli_table(8, heading);
  for (int i = 0; i < m->ngeom; i++) {
    const abGeom* g = &m->geom[i];
    cli_cell(&t, "%s", or_dash(g->name));
    cli_cell(&t, "%s", or_dash(m->body[g->body].name));
    cli_cell(&t, "%s", shape_name(g->shape.type));
    cli_cell(&t, "(%.4g, %.4g, %.4g)", g->shape.size.x, g->shape.size.y, g->shape.size.z);
    cli_cell(&t, g->shape.poly ? "%d" : "-", g->shape.poly ? g->shape.poly->nface : 0);
    cli_cell(&t, "%.6g", g->mass);
    cli_cell(&t, "%.4g", g->mu_static < 0 ? g->friction[0] : g->mu_static);
    cli_cell(&t, "%.4g", g->friction[0]);
  }
  printf("\nGeoms\n");
  cli_table_print(&t, "  ");
}

static void print_tendons(const abModel* m) {
  if (!m->ntendon) return;
  static const char* const heading[] = {"tendon",     "joints",          "range",
                                        ">stiffness", ">damping",        ">frictionloss",
                                        ">armature",  "slack [m or rad]"};
  CliTable t = cli_table(8, heading);
  for (int i = 0; i < m->ntendon; i++) {
    const abTendon* a = &m->tendon[i];
    char joints[400] = "";
    for (int k = 0; k < a->njoint; k++) {
      const abTendonJoint* e = &m->tendon_joint[a->joint0 + k];
      size_t at = strlen(joints);
      snprintf(joints + at, sizeof joints - at, "%s%.4g %s", k ? " + " : "", e->coef,
               m->joint[e->joint].name);
    }
    cli_cell(&t, "%s", or_dash(a->name));
    cli_cell(&t, "%s", joints);
    if (a->limited)
      cli_cell(&t, "%.4g .. %.4g", a->range[0], a->range[1]);
    else
      cli_cell(&t, "free");
    cli_cell(&t, "%.4g", a->stiffness);
    cli_cell(&t, "%.4g", a->damping);
    cli_cell(&t, "%.4g", a->frictionloss);
    cli_cell(&t, "%.4g", a->armature);
    cli_cell(&t, "%.4g .. %.4g", a->springlength[0], a->springlength[1]);
  }
  printf("\nTendons\n");
  cli_table_print(&t, "  ");
}

// What an equality ties together, and how.
static void describe_equality(const abModel* m, const abEquality* e, char* text, size_t size) {
  const double* c = e->polycoef;
  abVec3 p = e->frame1.p, q = e->frame2.p;
  if (e->type == AB_EQUALITY_JOINT || e->type == AB_EQUALITY_TENDON) {
    bool joint = e->type == AB_EQUALITY_JOINT;
    int one = joint ? e->joint1 : e->tendon1, two = joint ? e->joint2 : e->tendon2;
    const char* a = joint ? m->joint[one].name : m->tendon[one].name;
    const char* b = two < 0 ? "" : joint ? m->joint[two].name : m->tendon[two].name;
    if (two < 0)
      snprintf(text, size, "%s = %.4g", a, c[0]);
    else
      snprintf(text, size, "%s = (%.4g, %.4g, %.4g, %.4g, %.4g) . powers of %s", a, c[0], c[1],
               c[2], c[3], c[4], b);
    return;
  }
  snprintf(text, size, "%s at (%.4g, %.4g, %.4g) to %s at (%.4g, %.4g, %.4g)",
           m->body[e->body1].name, p.x, p.y, p.z, m->body[e->body2].name, q.x, q.y, q.z);
}

static void print_equalities(const abModel* m) {
  if (!m->nequality) return;
  static const char* const heading[] = {"equality", "type", "active", "what"};
  static const char* const type[] = {"connect", "weld", "joint", "tendon"};
  CliTable t = cli_table(4, heading);
  for (int i = 0; i < m->nequality; i++) {
    char what[600];
    describe_equality(m, &m->equality[i], what, sizeof what);
    cli_cell(&t, "%s", or_dash(m->equality[i].name));
    cli_cell(&t, "%s", type[m->equality[i].type]);
    cli_cell(&t, "%s", m->equality[i].active ? "yes" : "no");
    cli_cell(&t, "%s", what);
  }
  printf("\nEqualities\n");
  cli_table_print(&t, "  ");
}

static void print_actuators(const abModel* m) {
  if (!m->nactuator) return;
  static const char* const heading[] = {"actuator", "drives", ">gear", ">gain", "bias"};
  CliTable t = cli_table(5, heading);
  for (int i = 0; i < m->nactuator; i++) {
    const abActuator* a = &m->actuator[i];
    bool joint = a->drive == AB_DRIVE_JOINT, tendon = a->drive == AB_DRIVE_TENDON;
    cli_cell(&t, "%s", or_dash(a->name));
    cli_cell(&t, "%s%s",
             joint    ? ""
             : tendon ? "tendon "
                      : "site ",
             or_dash(joint    ? m->joint[a->joint].name
                     : tendon ? m->tendon[a->tendon].name
                              : m->site[a->site].name));
    cli_cell(&t, "%.4g", a->gear[0]);
    cli_cell(&t, "%.4g", a->gainprm[0]);
    cli_cell(&t, "(%.4g, %.4g, %.4g)", a->biasprm[0], a->biasprm[1], a->biasprm[2]);
  }
  printf("\nActuators\n");
  cli_table_print(&t, "  ");
}

static void print_keys(const abModel* m) {
  if (m->nkey) printf("\nKeyframes: ");
  for (int i = 0; i < m->nkey; i++) printf("%s%s", i ? ", " : "", or_dash(m->key[i].name));
  if (m->nkey) printf("\n");
}

int cli_info(int argc, char** argv) {
  CliArgs args;
  int code;
  if (!cli_parse(&command, argc, argv, &args, &code)) return code;
  abModel* model = cli_load(args.argument[0], false, cli_has(&args, "--floating"));
  if (!model) return CLI_BAD_INPUT;
  if (cli_has(&args, "--json")) {
    char* json = ab_model_json(model, false);
    json_t* j = json ? json_loads(json, 0, NULL) : NULL;
    ab_json_free(json);
    cli_json_print(j);
  } else {
    print_head(model);
    print_bodies(model);
    print_joints(model);
    print_geoms(model);
    print_tendons(model);
    print_equalities(model);
    print_actuators(model);
    print_keys(model);
  }
  ab_model_free(model);
  return CLI_DONE;
}
