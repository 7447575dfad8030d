// Questions about a simulation (abut/query.h). Tests: test/test_query.c.
#include <abut/query.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "collide/distance/gjk.h"
#include "collide/distance/parting.h"
#include "dynamics/trees.h"
#include "fits.h"
#include "geometry/ray.h"
#include "internal.h"
#include "math/spatial.h"

static bool is_body(const abModel* model, const abData* data, int body) {
  return ab_data_fits(model, data) && body >= 0 && body < model->nbody;
}

abVec3 ab_point_velocity(const abModel* model, const abData* data, int body, abVec3 point) {
  if (!is_body(model, data, body)) return v3_zero();
  return twist_at(data->twist[body], v3_sub(point, data->com[body]));
}

static void put_column(double* J, int nv, int k, abTwist t) {
  double column[6];
  twist_to_array(t, column);
  for (int i = 0; i < 6; i++) J[i * nv + k] = column[i];
}

abStatus ab_point_jacobian(const abModel* model, const abData* data, int body, abVec3 point,
                           double* J) {
  if (!is_body(model, data, body) || !J) return AB_ERROR_ARGUMENT;
  int nv = model->nv, m = model->body[body].mover;
  memset(J, 0, sizeof *J * 6 * (size_t)nv);
  if (m < 0) return AB_OK;
  abVec3 r = v3_sub(point, data->com[body]);  // from the centre of mass
  if (!model->mover[m].jointed) {
    for (int k = 0; k < 3; k++) {
      abVec3 e = v3(k == 0, k == 1, k == 2);
      put_column(J, nv, model->mover[m].dof0 + k, (abTwist){e, v3_zero()});
      put_column(J, nv, model->mover[m].dof0 + 3 + k, (abTwist){v3_cross(e, r), e});
    }
    return AB_OK;
  }
  const abTrees* t = data->internal->trees;
  abVec3 arm = v3_add(t->arm[body], r);  // from the tree's origin
  for (int j = t->link_of_body[body]; j >= 0; j = t->link[j].parent)
    for (int k = t->link[j].dof; k < t->link[j].dof + t->link[j].ndof; k++)
      put_column(J, nv, k, twist_move(six_twist(&t->S[k]), arm));
  return AB_OK;
}

abStatus ab_apply_force(const abModel* model, abData* data, int body, abVec3 point, abVec3 force) {
  if (!is_body(model, data, body)) return AB_ERROR_ARGUMENT;
  abWrench w = wrench_of_force(v3_sub(point, data->com[body]), force);
  data->applied[body] = wrench_add(data->applied[body], w);
  return AB_OK;
}

// --- rays, distances

abRay ab_ray(abVec3 origin, abVec3 direction) {
  return (abRay){.origin = origin, .direction = direction, .without = -1};
}

abStatus ab_ray_cast(const abModel* model, const abData* data, const abRay* ray, abRayHit* hit,
                     abError* error) {
  if (!ab_data_fits(model, data) || !ray || !hit)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a ray needs a model, its simulation and a place for the answer");
  *hit = (abRayHit){.geom = -1};
  double speed = v3_norm(ray->direction);
  if (!v3_finite(ray->origin) || !v3_finite(ray->direction) || !(speed > 0) || !isfinite(speed) ||
      !(ray->length >= 0))
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a ray needs a finite origin, a direction that is not zero and a length >= 0");
  abVec3 u = v3_scale(1 / speed, ray->direction);
  double nearest = ray->length > 0 ? ray->length : INFINITY;
  for (int i = 0; i < model->ngeom; i++) {
    const abGeom* g = &model->geom[i];
    if (g->body == ray->without || !(ray->all || g->collides)) continue;
    abPose pose = data->geom_pose[i];
    abVec3 normal;
    double t;
    if (!ab_ray_shape(&g->shape, pose_apply_inverse(pose, ray->origin),
                      quat_rotate(quat_conj(pose.q), u), &t, &normal) ||
        !(t < nearest || (t == nearest && hit->geom < 0)))
      continue;
    nearest = t;
    *hit = (abRayHit){i, t, v3_axpy(t, u, ray->origin), quat_rotate(pose.q, normal)};
  }
  return AB_OK;
}

abStatus ab_geom_distance(const abModel* model, const abData* data, int geom1, int geom2,
                          abGeomDistance* out, abError* error) {
  if (!ab_data_fits(model, data) || !out || geom1 < 0 || geom1 >= model->ngeom || geom2 < 0 ||
      geom2 >= model->ngeom)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "a distance needs a model, its simulation and two of its geoms");
  const abShape *s1 = &model->geom[geom1].shape, *s2 = &model->geom[geom2].shape;
  if (s1->type == AB_SHAPE_PLANE && s2->type == AB_SHAPE_PLANE)
    return ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                   "the distance of two planes is asked for; one of the geoms must be bounded");
  abDistance d;
  ab_distance(s1, data->geom_pose[geom1], s2, data->geom_pose[geom2], NULL, &d);
  *out = (abGeomDistance){d.separation, d.point1, d.point2, d.normal, false};
  if (!d.overlap) return AB_OK;
  abParting way = ab_parting(s1, data->geom_pose[geom1], s2, data->geom_pose[geom2]);
  *out = (abGeomDistance){-way.depth, way.point1, v3_axpy(way.depth, way.normal, way.point1),
                          way.normal, !way.shortest};
  return AB_OK;
}

// --- contacts

int ab_next_contact(const abData* data, int body, int other, int from) {
  for (int i = from < 0 ? 0 : from; data && i < data->ncontact; i++) {
    const abContact* c = &data->contacts[i];
    bool first = c->body1 == body && (other < 0 || c->body2 == other);
    bool second = c->body2 == body && (other < 0 || c->body1 == other);
    if (first || second) return i;
  }
  return -1;
}

abWrench ab_contact_wrench(const abData* data, int body, int other, abVec3 point) {
  abWrench sum = wrench_zero();
  for (int i = ab_next_contact(data, body, other, 0); i >= 0;
       i = ab_next_contact(data, body, other, i + 1)) {
    const abContact* c = &data->contacts[i];
    abWrench w = wrench_move(c->wrench, v3_sub(point, c->point));
    sum = wrench_add(sum, c->body1 == body ? w : wrench_neg(w));
  }
  return sum;
}
