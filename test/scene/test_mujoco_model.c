// Every scene of scenes/check, loaded here and in MuJoCo, gives the same compiled model: sizes,
// tree, frames, masses, inertias, joints, geoms, actuators, keyframes, rules of contact. The same
// after the scene has been saved and loaded again, in both programs.
//
// Numbers agree to 1e-9 of the largest number of their kind in the model. What MuJoCo keeps in
// single precision (vertices of meshes) is compared to that precision.
#include "support/check.h"

#include <abut/scene.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/rotation.h"

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

static const char* scene_file;  // for messages

static void say_nothing(const char* text) { (void)text; }

static double tolerance(double scale) { return 1e-9 * scale; }

static void same_number(double ours, double theirs, double scale, const char* what, int i) {
  if (fabs(ours - theirs) <= tolerance(scale)) return;
  print_error("%s: %s of %d: %.17g, MuJoCo has %.17g (difference %g, tolerance %g)\n", scene_file,
              what, i, ours, theirs, ours - theirs, tolerance(scale));
  fail();
}

static void same_int(int ours, int theirs, const char* what, int i) {
  if (ours == theirs) return;
  print_error("%s: %s of %d: %d, MuJoCo has %d\n", scene_file, what, i, ours, theirs);
  fail();
}

static double largest(int n, const mjtNum* x) {
  double scale = 0;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(x[i]));
  return scale;
}

static void same_vec(abVec3 ours, const mjtNum* theirs, double scale, const char* what, int i) {
  for (int k = 0; k < 3; k++) same_number(v3_get(ours, k), theirs[k], scale, what, i);
}

// q and -q are the same turn
static void same_quat(abQuat q, const mjtNum* t, const char* what, int i) {
  double s = q.w * t[0] + q.x * t[1] + q.y * t[2] + q.z * t[3] < 0 ? -1 : 1;
  double x[4] = {q.w, q.x, q.y, q.z};
  for (int k = 0; k < 4; k++) same_number(s * x[k], t[k], 1, what, i);
}

static void same_name(const char* ours, const mjModel* m, int type, int i) {
  const char* theirs = mj_id2name(m, type, i);
  if (theirs && strcmp(ours, theirs)) {
    print_error("%s: name %s, MuJoCo has %s\n", scene_file, ours, theirs);
    fail();
  }
}

static abMat3 inertia_matrix(abQuat q, abVec3 d) {
  abMat3 R = quat_matrix(q);
  return m3_congruent_diag(&R, d);
}

// --- parts ---------------------------------------------------------------------------------------

// Meshes loosen what depends on their vertices: MuJoCo rounds these to single precision.
static bool has_meshes(const mjModel* m) { return m->nmesh > 0; }

static abVec3 sorted(abVec3 d) {
  double x[3] = {d.x, d.y, d.z};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 2; i++)
      if (x[i] < x[i + 1]) {
        double swap = x[i];
        x[i] = x[i + 1], x[i + 1] = swap;
      }
  return v3(x[0], x[1], x[2]);
}

// The principal axes of a body of several geoms come from MuJoCo's eigenvectors, which are good to
// about 1e-8; their error enters the moments squared, so these are compared in full.
static void same_inertia(const abBody* b, abQuat q, abVec3 d, double scale, int i) {
  abMat3 ours = inertia_matrix(b->inertia_q, b->inertia), theirs = inertia_matrix(q, d);
  abVec3 x = sorted(b->inertia), y = sorted(d);
  for (int k = 0; k < 3; k++) same_number(v3_get(x, k), v3_get(y, k), scale, "principal moment", i);
  for (int k = 0; k < 9; k++)
    same_number(ours.m[k / 3][k % 3], theirs.m[k / 3][k % 3], 100 * scale, "inertia", i);
}

static void same_bodies(const abModel* a, const mjModel* m) {
  same_int(a->nbody, m->nbody, "number of bodies", 0);
  double length = fmax(largest(3 * m->nbody, m->body_pos), largest(3 * m->nbody, m->body_ipos));
  double mass = largest(m->nbody, m->body_mass), moment = largest(3 * m->nbody, m->body_inertia);
  double loose = has_meshes(m) ? 300 : 1;  // 3e-7: a few roundings to single precision
  for (int i = 1; i < m->nbody; i++) {
    const abBody* b = &a->body[i];
    same_name(b->name, m, mjOBJ_BODY, i);
    same_int(b->parent, m->body_parentid[i], "parent", i);
    // this version counts mocap bodies to the world, newer ones do not
    if (a->body[b->weld].mocap < 0) same_int(b->weld, m->body_weldid[i], "weld", i);
    same_int(b->njoint, m->body_jntnum[i], "joints", i);
    same_vec(b->pose.p, m->body_pos + 3 * i, length, "body position", i);
    same_quat(b->pose.q, m->body_quat + 4 * i, "body orientation", i);
    same_number(b->mass, m->body_mass[i], loose * mass, "mass", i);
    if (m->body_mass[i] > 0)
      same_vec(b->com, m->body_ipos + 3 * i, loose * length, "centre of mass", i);
    const mjtNum* q = m->body_iquat + 4 * i;
    const mjtNum* d = m->body_inertia + 3 * i;
    same_inertia(b, (abQuat){q[0], q[1], q[2], q[3]}, v3(d[0], d[1], d[2]), loose * moment, i);
  }
}

static void same_joints(const abModel* a, const mjModel* m) {
  static const int type[] = {[AB_JOINT_FREE] = mjJNT_FREE,
                             [AB_JOINT_BALL] = mjJNT_BALL,
                             [AB_JOINT_SLIDE] = mjJNT_SLIDE,
                             [AB_JOINT_HINGE] = mjJNT_HINGE};
  same_int(a->njoint, m->njnt, "number of joints", 0);
  same_int(a->nq, m->nq, "number of coordinates", 0);
  same_int(a->nv, m->nv, "number of velocities", 0);
  for (int i = 0; i < m->njnt; i++) {
    const abJoint* j = &a->joint[i];
    int v0 = m->jnt_dofadr[i], q0 = m->jnt_qposadr[i];
    same_name(j->name, m, mjOBJ_JOINT, i);
    same_int(type[j->type], m->jnt_type[i], "joint type", i);
    same_int(j->body, m->jnt_bodyid[i], "body of joint", i);
    same_int(j->q0, q0, "first coordinate", i);
    same_int(j->v0, v0, "first velocity", i);
    same_int(j->limited, m->jnt_limited[i], "limited", i);
    same_number(j->stiffness, m->jnt_stiffness[i], fabs(j->stiffness), "stiffness", i);
    same_number(j->damping, m->dof_damping[v0], fabs(j->damping), "damping", i);
    same_number(j->armature, m->dof_armature[v0], fabs(j->armature), "armature", i);
    same_number(j->frictionloss, m->dof_frictionloss[v0], fabs(j->frictionloss), "frictionloss", i);
    if (j->type == AB_JOINT_FREE) continue;
    same_vec(j->pos, m->jnt_pos + 3 * i, 1, "joint position", i);
    same_number(j->margin, m->jnt_margin[i], 1, "margin", i);
    for (int k = 0; k < 2 && j->limited; k++)
      same_number(j->range[k], m->jnt_range[2 * i + k], 1, "range", i);
    if (j->type == AB_JOINT_BALL) continue;
    same_vec(j->axis, m->jnt_axis + 3 * i, 1, "axis", i);
    same_number(j->ref, m->qpos0[q0], 1, "ref", i);
    same_number(j->springref, m->qpos_spring[q0], 1, "springref", i);
  }
  for (int i = 0; i < m->nq; i++) same_number(a->q0[i], m->qpos0[i], 1, "initial coordinate", i);
}

// Each vertex of ours, put into the body frame, is one of theirs.
static void same_mesh(const abModel* a, const mjModel* m, int geom) {
  const abGeom* g = &a->geom[geom];
  const abMesh* mesh = &a->mesh[g->mesh];
  int id = m->geom_dataid[geom], n = m->mesh_vertnum[id];
  const float* v = m->mesh_vert + 3 * m->mesh_vertadr[id];
  const mjtNum *p = m->geom_pos + 3 * geom, *q = m->geom_quat + 4 * geom;
  abPose theirs = {v3(p[0], p[1], p[2]), {q[0], q[1], q[2], q[3]}};
  double size = 0;
  for (int i = 0; i < mesh->nvert; i++) size = fmax(size, v3_norm(mesh->vert[i]));
  for (int i = 0; i < mesh->nvert; i++) {
    abVec3 x = pose_apply(g->pose, mesh->vert[i]);
    double nearest = INFINITY;
    for (int k = 0; k < n; k++)
      nearest =
          fmin(nearest,
               v3_norm(v3_sub(x, pose_apply(theirs, v3(v[3 * k], v[3 * k + 1], v[3 * k + 2])))));
    check_below(nearest, 1e-6 * size);  // single precision, through two frames
  }
}

static void same_surface(const abGeom* g, const mjModel* m, int i) {
  same_int(g->contype, m->geom_contype[i], "contype", i);
  same_int(g->conaffinity, m->geom_conaffinity[i], "conaffinity", i);
  same_int(g->condim, m->geom_condim[i], "condim", i);
  same_int(g->priority, m->geom_priority[i], "priority", i);
  same_int(g->group, m->geom_group[i], "group", i);
  for (int k = 0; k < 3; k++)
    same_number(g->friction[k], m->geom_friction[3 * i + k], 1, "friction", i);
  same_number(g->margin, m->geom_margin[i], 1, "margin", i);
  same_number(g->gap, m->geom_gap[i], 1, "gap", i);
}

static void same_geoms(const abModel* a, const mjModel* m) {
  static const int type[] = {
      [AB_SHAPE_PLANE] = mjGEOM_PLANE,       [AB_SHAPE_BOX] = mjGEOM_BOX,
      [AB_SHAPE_SPHERE] = mjGEOM_SPHERE,     [AB_SHAPE_CAPSULE] = mjGEOM_CAPSULE,
      [AB_SHAPE_CYLINDER] = mjGEOM_CYLINDER, [AB_SHAPE_ELLIPSOID] = mjGEOM_ELLIPSOID,
      [AB_SHAPE_MESH] = mjGEOM_MESH};
  static const int nsize[] = {2, 3, 1, 2, 2, 3, 0};
  same_int(a->ngeom, m->ngeom, "number of geoms", 0);
  double length = largest(3 * m->ngeom, m->geom_pos), size = largest(3 * m->ngeom, m->geom_size);
  for (int i = 0; i < m->ngeom; i++) {
    const abGeom* g = &a->geom[i];
    same_name(g->name, m, mjOBJ_GEOM, i);
    same_int(type[g->shape.type], m->geom_type[i], "geom type", i);
    same_int(g->body, m->geom_bodyid[i], "body of geom", i);
    same_surface(g, m, i);
    if (g->shape.type == AB_SHAPE_MESH) {
      same_mesh(a, m, i);
      continue;
    }
    same_vec(g->pose.p, m->geom_pos + 3 * i, length, "geom position", i);
    same_quat(g->pose.q, m->geom_quat + 4 * i, "geom orientation", i);
    for (int k = 0; k < nsize[g->shape.type]; k++)
      same_number(v3_get(g->shape.size, k), m->geom_size[3 * i + k], size, "size", i);
  }
}

static void same_actuators(const abModel* a, const mjModel* m) {
  same_int(a->nactuator, m->nu, "number of actuators", 0);
  for (int i = 0; i < m->nu; i++) {
    const abActuator* u = &a->actuator[i];
    same_name(u->name, m, mjOBJ_ACTUATOR, i);
    static const int drive[] = {[AB_DRIVE_JOINT] = mjTRN_JOINT,
                                [AB_DRIVE_TENDON] = mjTRN_TENDON,
                                [AB_DRIVE_SITE] = mjTRN_SITE};
    const int driven[] = {u->joint, u->tendon, u->site};
    same_int(drive[u->drive], m->actuator_trntype[i], "drive of actuator", i);
    same_int(driven[u->drive], m->actuator_trnid[2 * i], "what an actuator drives", i);
    same_int(u->gain == AB_GAIN_AFFINE, m->actuator_gaintype[i] == mjGAIN_AFFINE, "gain type", i);
    same_int(u->bias == AB_BIAS_AFFINE, m->actuator_biastype[i] == mjBIAS_AFFINE, "bias type", i);
    same_int(u->ctrl_limited, m->actuator_ctrllimited[i], "ctrllimited", i);
    same_int(u->force_limited, m->actuator_forcelimited[i], "forcelimited", i);
    for (int k = 0; k < 6; k++) same_number(u->gear[k], m->actuator_gear[6 * i + k], 1, "gear", i);
    for (int k = 0; k < 3; k++) {
      same_number(u->gainprm[k], m->actuator_gainprm[mjNGAIN * i + k], fabs(u->gainprm[k]), "gain",
                  i);
      if (u->bias == AB_BIAS_AFFINE)
        same_number(u->biasprm[k], m->actuator_biasprm[mjNBIAS * i + k], fabs(u->biasprm[k]),
                    "bias", i);
    }
    for (int k = 0; k < 2; k++) {
      if (u->ctrl_limited)
        same_number(u->ctrl_range[k], m->actuator_ctrlrange[2 * i + k], 1, "ctrlrange", i);
      if (u->force_limited)
        same_number(u->force_range[k], m->actuator_forcerange[2 * i + k], fabs(u->force_range[k]),
                    "forcerange", i);
    }
  }
}

// --- sites, tendons, equalities, mocap bodies ----------------------------------------------------

static void same_sites(const abModel* a, const mjModel* m) {
  same_int(a->nsite, m->nsite, "number of sites", 0);
  for (int i = 0; i < m->nsite; i++) {
    same_name(a->site[i].name, m, mjOBJ_SITE, i);
    same_int(a->site[i].body, m->site_bodyid[i], "body of site", i);
    same_vec(a->site[i].pose.p, m->site_pos + 3 * i, largest(3 * m->nsite, m->site_pos),
             "site position", i);
    same_quat(a->site[i].pose.q, m->site_quat + 4 * i, "site orientation", i);
  }
}

static void same_tendons(const abModel* a, const mjModel* m) {
  same_int(a->ntendon, m->ntendon, "number of tendons", 0);
  for (int i = 0; i < m->ntendon; i++) {
    const abTendon* t = &a->tendon[i];
    same_name(t->name, m, mjOBJ_TENDON, i);
    same_int(t->njoint, m->tendon_num[i], "joints of tendon", i);
    for (int k = 0; k < t->njoint; k++) {
      same_int(a->tendon_joint[t->joint0 + k].joint, m->wrap_objid[m->tendon_adr[i] + k],
               "joint of tendon", i);
      same_number(a->tendon_joint[t->joint0 + k].coef, m->wrap_prm[m->tendon_adr[i] + k], 1,
                  "coefficient of tendon", i);
    }
    same_int(t->limited, m->tendon_limited[i], "tendon limited", i);
    for (int k = 0; k < 2; k++)
      same_number(t->range[k], m->tendon_range[2 * i + k], 1, "tendon range", i);
    same_number(t->margin, m->tendon_margin[i], 1, "tendon margin", i);
    same_number(t->stiffness, m->tendon_stiffness[i], t->stiffness, "tendon stiffness", i);
    same_number(t->damping, m->tendon_damping[i], t->damping, "tendon damping", i);
    same_number(t->frictionloss, m->tendon_frictionloss[i], 1, "tendon friction", i);
    // this version knows one spring length, newer ones two
    same_number(t->springlength[0], m->tendon_lengthspring[i], 1, "tendon spring length", i);
    same_number(t->length0, m->tendon_length0[i], 1, "tendon length", i);
  }
}

// MuJoCo keeps of a connect the two points, of a weld the anchor in body 2, the pose of it in body
// 1 and the scale of torques.
static void same_frames(const abEquality* e, const mjtNum* x, int i) {
  if (e->type == AB_EQUALITY_CONNECT) {
    same_vec(e->frame1.p, x, 10, "connected point", i);
    same_vec(e->frame2.p, x + 3, 10, "connected point", i);
    return;
  }
  same_vec(e->frame2.p, x, 10, "anchor", i);
  same_vec(e->frame1.p, x + 3, 10, "welded position", i);
  same_quat(quat_mul(e->frame1.q, quat_conj(e->frame2.q)), x + 6, "welded orientation", i);
  same_number(e->torquescale, x[10], 1, "torquescale", i);
}

static void same_equalities(const abModel* a, const mjModel* m) {
  static const int type[] = {[AB_EQUALITY_CONNECT] = mjEQ_CONNECT,
                             [AB_EQUALITY_WELD] = mjEQ_WELD,
                             [AB_EQUALITY_JOINT] = mjEQ_JOINT,
                             [AB_EQUALITY_TENDON] = mjEQ_TENDON};
  same_int(a->nequality, m->neq, "number of equalities", 0);
  for (int i = 0; i < m->neq; i++) {
    const abEquality* e = &a->equality[i];
    same_name(e->name, m, mjOBJ_EQUALITY, i);
    same_int(type[e->type], m->eq_type[i], "type of equality", i);
    same_int(e->active, m->eq_active[i], "equality active", i);
    const int one[] = {e->body1, e->body1, e->joint1, e->tendon1};
    const int two[] = {e->body2, e->body2, e->joint2, e->tendon2};
    same_int(one[e->type], m->eq_obj1id[i], "first of equality", i);
    same_int(two[e->type], m->eq_obj2id[i], "second of equality", i);
    const mjtNum* x = m->eq_data + mjNEQDATA * i;
    if (e->body1 >= 0)
      same_frames(e, x, i);
    else
      for (int k = 0; k < 5; k++) same_number(e->polycoef[k], x[k], 1, "polycoef", i);
  }
}

static void same_mocap(const abModel* a, const mjModel* m) {
  same_int(a->nmocap, m->nmocap, "number of mocap bodies", 0);
  for (int i = 0; i < m->nbody; i++) same_int(a->body[i].mocap, m->body_mocapid[i], "mocap", i);
  for (int k = 0; k < m->nkey; k++)
    for (int i = 0; i < m->nmocap; i++) {
      int at = m->nmocap * k + i;
      same_vec(a->key_mocap_pos[at], m->key_mpos + 3 * at, 1, "key mocap position", k);
      same_quat(a->key_mocap_quat[at], m->key_mquat + 4 * at, "key mocap orientation", k);
    }
}

// MJCF's velocity of a free joint is that of the frame's origin in world axes, and the angular
// velocity in body axes; abut's is that of the centre of mass and both in world axes.
static void same_key_velocity(const abModel* a, const mjModel* m, int key) {
  for (int i = 0; i < a->njoint; i++) {
    const abJoint* j = &a->joint[i];
    const double* ours = a->key_v + a->nv * key + j->v0;
    const mjtNum *v = m->key_qvel + m->nv * key + j->v0, *q = m->key_qpos + m->nq * key + j->q0;
    if (j->type != AB_JOINT_FREE) {
      for (int k = 0; k < (j->type == AB_JOINT_BALL ? 3 : 1); k++)
        same_number(ours[k], v[k], 1, "key velocity", key);
      continue;
    }
    abQuat R = {q[3], q[4], q[5], q[6]};
    abVec3 w = quat_rotate(R, v3(v[3], v[4], v[5]));
    abVec3 lin = v3_add(v3(v[0], v[1], v[2]), v3_cross(w, quat_rotate(R, a->body[j->body].com)));
    double expected[6] = {lin.x, lin.y, lin.z, w.x, w.y, w.z};
    for (int k = 0; k < 6; k++) same_number(ours[k], expected[k], 1, "key velocity", key);
  }
}

static void same_keys(const abModel* a, const mjModel* m) {
  same_int(a->nkey, m->nkey, "number of keys", 0);
  for (int i = 0; i < m->nkey; i++) {
    same_name(a->key[i].name, m, mjOBJ_KEY, i);
    same_number(a->key[i].time, m->key_time[i], 1, "key time", i);
    for (int k = 0; k < m->nq; k++)
      same_number(a->key_q[a->nq * i + k], m->key_qpos[m->nq * i + k], 1, "key coordinate", i);
    for (int k = 0; k < m->nu; k++)
      same_number(a->key_ctrl[a->nactuator * i + k], m->key_ctrl[m->nu * i + k], 1, "key control",
                  i);
    same_key_velocity(a, m, i);
  }
}

static bool excluded(const mjModel* m, int b1, int b2) {
  for (int i = 0; i < m->nexclude; i++) {
    int s = m->exclude_signature[i], low = s & 0xffff, high = s >> 16;
    // some versions count bodies from 1 in the signature
    for (int shift = 0; shift < 2; shift++)
      if ((low == b1 + shift && high == b2 + shift) || (low == b2 + shift && high == b1 + shift))
        return true;
  }
  return false;
}

static void same_rules(const abModel* a, const mjModel* m) {
  same_int(a->nexclude, m->nexclude, "number of exclusions", 0);
  for (int i = 0; i < a->nexclude; i++)
    same_int(excluded(m, a->exclude[i].body1, a->exclude[i].body2), 1, "exclusion", i);
  same_int(a->npair_rule, m->npair, "number of pairs", 0);
  for (int i = 0; i < a->npair_rule; i++) {
    const abPairRule* r = &a->pair_rule[i];
    int found = -1;
    for (int k = 0; k < m->npair; k++) {
      int g1 = m->pair_geom1[k], g2 = m->pair_geom2[k];
      if ((r->geom1 == g1 && r->geom2 == g2) || (r->geom1 == g2 && r->geom2 == g1)) found = k;
    }
    assert_true(found >= 0);
    same_int(r->condim, m->pair_dim[found], "pair condim", i);
    same_number(r->margin, m->pair_margin[found], 1, "pair margin", i);
    same_number(r->gap, m->pair_gap[found], 1, "pair gap", i);
    for (int k = 0; k < 5; k++)
      same_number(r->friction[k], m->pair_friction[5 * found + k], 1, "pair friction", i);
  }
}

static void same_model(const abModel* a, const mjModel* m) {
  same_vec(a->gravity, m->opt.gravity, largest(3, m->opt.gravity), "gravity", 0);
  same_number(a->timestep, m->opt.timestep, m->opt.timestep, "timestep", 0);
  same_int(a->integrator == AB_INTEGRATOR_RK4, m->opt.integrator == mjINT_RK4, "integrator", 0);
  same_bodies(a, m);
  same_joints(a, m);
  same_geoms(a, m);
  same_sites(a, m);
  same_tendons(a, m);
  same_equalities(a, m);
  same_actuators(a, m);
  same_mocap(a, m);
  same_keys(a, m);
  same_rules(a, m);
}

// --- the scenes ----------------------------------------------------------------------------------

static void compare_files(const char* ours, const char* theirs) {
  char text[1000] = "";
  abError error;
  scene_file = ours;
  abModel* a = ab_load(ours, NULL, &error);
  if (!a) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  mjModel* m = mj_loadXML(theirs, NULL, text, sizeof text);
  if (!m) fail_msg("MuJoCo: %s: %s", theirs, text);
  same_model(a, m);
  mj_deleteModel(m);
  ab_model_free(a);
}

static int for_each_scene(void (*check)(const char* path)) {
  const char* folder = ABUT_SOURCE_DIR "/scenes/check";
  DIR* d = opendir(folder);
  assert_non_null(d);
  int n = 0;
  for (struct dirent* e; (e = readdir(d));) {
    const char* dot = strrchr(e->d_name, '.');
    if (!dot || (strcmp(dot, ".xml") && strcmp(dot, ".urdf"))) continue;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    check(path);
    n++;
  }
  closedir(d);
  return n;
}

static void compare(const char* path) { compare_files(path, path); }

// Debian's MuJoCo does not know the attribute inertia of meshes, which newer ones do.
static bool has_newer_words(const char* path) {
  char line[1000];
  bool found = false;
  FILE* f = fopen(path, "r");
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) found |= strstr(line, " inertia=\"exact\"") != NULL;
  fclose(f);
  return found;
}

static void compare_saved(const char* path) {
  const char* saved = ABUT_BINARY_DIR "/test_mujoco_model_saved.xml";
  abError error;
  abScene* scene = ab_scene_load(path, NULL, &error);
  if (!scene) fail_msg("%s:%d: %s", error.file, error.line, error.message);
  if (ab_scene_save(scene, saved, &error)) fail_msg("%s", error.message);
  ab_scene_free(scene);
  if (!has_newer_words(saved)) compare_files(saved, saved);
  compare_files(saved, path);
}

static void scenes_compile_to_the_same_model_as_in_mujoco(void** state) {
  (void)state;
  assert_true(for_each_scene(compare) >= 30);
}

static void saved_scenes_are_the_same_model_in_both(void** state) {
  (void)state;
  for_each_scene(compare_saved);
}

int main(void) {
  mju_user_warning = say_nothing;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_compile_to_the_same_model_as_in_mujoco),
      cmocka_unit_test(saved_scenes_are_the_same_model_in_both),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) { return 0; }
#endif
