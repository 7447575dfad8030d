// Mass properties.
//
// Solids and thin shells in closed form. With m the mass, r a radius, l a half length:
//   box         solid m (b^2 + c^2) / 3 about x; shell: its six plates
//   sphere      solid 2/5 m r^2, shell 2/3 m r^2
//   cylinder    solid m r^2 / 2 about z, m (r^2 / 4 + l^2 / 3) across; shell: tube and two discs
//   capsule     cylinder and two half balls; a half ball's centre of mass lies 3 r / 8 (shell: r /
//   2) from its flat side
//   ellipsoid   solid m (b^2 + c^2) / 5 about x
// An ellipsoid's surface has no elementary area. Where a shell is asked for, Thomsen's
// approximation of the area is taken (0.2 % at axes 1:2:3), and for the ratio of inertia to mass
// the skin between the ellipsoid and the one with radii larger by e, e -> 0: the ratio's x part is
// (b^2 + c^2 + 2 a b c (b + c) / (a b + b c + c a)) / 5. These are MuJoCo's choices, which a scene
// written for it relies on.
//
// Triangles. A tetrahedron with one corner at the origin and the others at a, b, c has the volume
// V = a . (b x c) / 6, the centre (a + b + c) / 4 and, with s = a + b + c, the second moments
// integral of x x^T = V / 20 (a a^T + b b^T + c c^T + s s^T); a triangle of area A has A / 12 in
// the place of V / 20 and the centre s / 3. MuJoCo's rules for a surface of triangles:
//   exact   signed volumes: right for closed surfaces facing outwards
//   legacy  absolute volumes: against the centroid of the surface for the centre of mass, then
//           against that centre for mass and inertia; never fails, too heavy where not star-shaped
//   shell   the triangles themselves
#include "geometry/mass.h"

#include "math/logarithm.h"
#include "math/rotation.h"

// An inertia from second moments P = integral of x x^T dm: tr(P) 1 - P.
static abMat3 inertia_of_moments(const abMat3* P) {
  double trace = P->m[0][0] + P->m[1][1] + P->m[2][2];
  abMat3 I;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) I.m[i][j] = (i == j ? trace : 0) - P->m[i][j];
  return I;
}

static abMassProps centred(double mass, abVec3 inertia) {
  return (abMassProps){mass, v3_zero(), m3_diag(inertia)};
}

// --- shapes ---

static abMassProps box_shell(abVec3 h, double density) {
  // Plates normal to x, y, z, both of each pair together.
  double mx = 8 * h.y * h.z * density, my = 8 * h.x * h.z * density, mz = 8 * h.x * h.y * density;
  double xx = h.x * h.x, yy = h.y * h.y, zz = h.z * h.z;
  // integral of x^2: a plate pair normal to x has it all at h.x, the others spread: 1/3
  double px = xx * (mx + (my + mz) / 3), py = yy * (my + (mx + mz) / 3),
         pz = zz * (mz + (mx + my) / 3);
  return centred(mx + my + mz, v3(py + pz, px + pz, px + py));
}

static abMassProps capsule(double r, double l, bool shell, double density) {
  double ball = shell ? 4 * AB_PI * r * r * density : 4 * AB_PI / 3 * r * r * r * density;
  double tube = shell ? 4 * AB_PI * r * l * density : 2 * AB_PI * r * r * l * density;
  double along_ball = (shell ? 2.0 / 3 : 0.4) * ball * r * r;
  double along = along_ball + (shell ? 1 : 0.5) * tube * r * r;
  // half balls moved out by l: 2 l times the distance of their centres adds to the parallel axes
  double across = along_ball + ball * (l * l + 2 * l * r * (shell ? 0.5 : 0.375)) +
                  tube * ((shell ? 0.5 : 0.25) * r * r + l * l / 3);
  return centred(ball + tube, v3(across, across, along));
}

static abMassProps cylinder(double r, double l, bool shell, double density) {
  double tube = shell ? 4 * AB_PI * r * l * density : 2 * AB_PI * r * r * l * density;
  double disc = shell ? AB_PI * r * r * density : 0;  // each
  double along = (shell ? 1 : 0.5) * tube * r * r + disc * r * r;
  double across =
      tube * ((shell ? 0.5 : 0.25) * r * r + l * l / 3) + 2 * disc * (r * r / 4 + l * l);
  return centred(tube + 2 * disc, v3(across, across, along));
}

// Of a number in (0, 1], to a power of about 1.
static double power(double x, double y) { return ab_exp(fmax(-690, y * ab_log(x))); }

static abMassProps ellipsoid(abVec3 r, bool shell, double density) {
  double xx = r.x * r.x, yy = r.y * r.y, zz = r.z * r.z;
  if (!shell) {
    double m = 4 * AB_PI / 3 * r.x * r.y * r.z * density;
    return centred(m, v3_scale(m / 5, v3(yy + zz, xx + zz, xx + yy)));
  }
  const double p = 1.6075;  // Thomsen's exponent
  double ab = r.x * r.y, bc = r.y * r.z, ca = r.z * r.x;
  double most = fmax(ab, fmax(bc, ca));
  double sum = power(ab / most, p) + power(bc / most, p) + power(ca / most, p);
  double m = 4 * AB_PI * density * most * power(sum / 3, 1 / p);
  double k = 2 * r.x * r.y * r.z / (ab + bc + ca);
  return centred(m, v3_scale(m / 5, v3(yy + zz + k * (r.y + r.z), xx + zz + k * (r.x + r.z),
                                       xx + yy + k * (r.x + r.y))));
}

abMassProps ab_mass_of_shape(abShapeType type, abVec3 size, bool shell, double density) {
  double r = size.x, m;
  switch (type) {
    case AB_SHAPE_BOX:
      if (shell) return box_shell(size, density);
      m = 8 * size.x * size.y * size.z * density;
      return centred(m, v3_scale(m / 3, v3(size.y * size.y + size.z * size.z,
                                           size.x * size.x + size.z * size.z,
                                           size.x * size.x + size.y * size.y)));
    case AB_SHAPE_SPHERE:
      return capsule(r, 0, shell, density);
    case AB_SHAPE_CAPSULE:
      return capsule(r, size.y, shell, density);
    case AB_SHAPE_CYLINDER:
      return cylinder(r, size.y, shell, density);
    case AB_SHAPE_ELLIPSOID:
      return ellipsoid(size, shell, density);
    case AB_SHAPE_PLANE:
    case AB_SHAPE_MESH:
      break;
  }
  return (abMassProps){0};
}

// --- triangles ---

// Running sums over triangles, all relative to a point `origin`.
typedef struct Sums {
  double measure;  // volume or area
  abVec3 first;    // integral of x
  abMat3 second;   // integral of x x^T
} Sums;

typedef enum Weight { SIGNED_VOLUME, ABSOLUTE_VOLUME, AREA } Weight;

static void add_triangle(Sums* s, const abVec3 p[3], Weight weight) {
  abVec3 sum = v3_add(p[0], v3_add(p[1], p[2]));
  double w, outer;
  if (weight == AREA) {
    w = 0.5 * v3_norm(v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0])));
    s->first = v3_axpy(w / 3, sum, s->first);
    outer = w / 12;
  } else {
    w = v3_dot(p[0], v3_cross(p[1], p[2])) / 6;
    if (weight == ABSOLUTE_VOLUME) w = fabs(w);
    s->first = v3_axpy(w / 4, sum, s->first);
    outer = w / 20;
  }
  s->measure += w;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double x = v3_get(sum, i) * v3_get(sum, j);
      for (int k = 0; k < 3; k++) x += v3_get(p[k], i) * v3_get(p[k], j);
      s->second.m[i][j] += outer * x;
    }
}

static Sums sum_triangles(const abVec3* vert, int n, const int (*t)[3], abVec3 origin,
                          Weight weight) {
  Sums s = {0};
  for (int i = 0; i < n; i++) {
    abVec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = v3_sub(vert[t[i][k]], origin);
    add_triangle(&s, p, weight);
  }
  return s;
}

// Mass properties of sums taken about `origin`, with the inertia moved to the centre of mass.
static abMassProps props_of_sums(const Sums* s, abVec3 origin, double density) {
  if (s->measure == 0) return (abMassProps){0};
  abVec3 c = v3_scale(1 / s->measure, s->first);
  abMat3 P = s->second;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) P.m[i][j] -= s->measure * v3_get(c, i) * v3_get(c, j);
  P = m3_scale(density, &P);
  return (abMassProps){density * s->measure, v3_add(origin, c), inertia_of_moments(&P)};
}

abMassProps ab_mass_of_triangles(const abVec3* vert, int n, const int (*triangle)[3],
                                 abMeshInertia rule, double density) {
  if (n < 1) return (abMassProps){0};
  abVec3 o = vert[triangle[0][0]];  // near the mesh, so that far-off meshes lose no digits
  Sums area = sum_triangles(vert, n, triangle, o, AREA);
  if (!(area.measure > 0)) return (abMassProps){0};
  abVec3 centre = v3_add(o, v3_scale(1 / area.measure, area.first));
  Weight weight = rule == AB_MESH_INERTIA_SHELL    ? AREA
                  : rule == AB_MESH_INERTIA_LEGACY ? ABSOLUTE_VOLUME
                                                   : SIGNED_VOLUME;
  Sums s = sum_triangles(vert, n, triangle, centre, weight);
  // Twice: the second time about the centre of mass, which the legacy rule is defined by and which
  // costs the others no cancellation.
  if (s.measure != 0) centre = v3_axpy(1 / s.measure, s.first, centre);
  s = sum_triangles(vert, n, triangle, centre, weight);
  if (rule == AB_MESH_INERTIA_LEGACY) s.first = v3_zero();  // the centre stays where it was found
  return props_of_sums(&s, centre, density);
}

abMassProps ab_mass_of_polyhedron(const abPolyhedron* poly, double density) {
  Sums s = {0};
  for (int f = 0; f < poly->nface; f++) {
    const int* loop = poly->loop + poly->face_start[f];
    abVec3 p[3] = {v3_sub(poly->vert[loop[0]], poly->centroid)};
    for (int i = 1; i + 1 < poly->face_start[f + 1] - poly->face_start[f]; i++) {
      p[1] = v3_sub(poly->vert[loop[i]], poly->centroid);
      p[2] = v3_sub(poly->vert[loop[i + 1]], poly->centroid);
      add_triangle(&s, p, SIGNED_VOLUME);
    }
  }
  return props_of_sums(&s, poly->centroid, density);
}

// --- together ---

abMassProps ab_mass_scaled(abMassProps a, double s) {
  return (abMassProps){s * a.mass, a.com, m3_scale(s, &a.inertia)};
}

abMassProps ab_mass_moved(abMassProps a, abPose pose) {
  abMat3 R = quat_matrix(pose.q), Rt = m3_transpose(&R);
  abMat3 RI = m3_mul(&R, &a.inertia);
  abMat3 I = m3_mul(&RI, &Rt);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < i; j++) I.m[i][j] = I.m[j][i] = 0.5 * (I.m[i][j] + I.m[j][i]);
  return (abMassProps){a.mass, pose_apply(pose, a.com), I};
}

// I + m (|r|^2 1 - r r^T): the parallel-axis rule.
static abMat3 about(abMassProps a, abVec3 point) {
  abVec3 r = v3_sub(a.com, point);
  abMat3 I = a.inertia;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      I.m[i][j] += a.mass * ((i == j ? v3_norm2(r) : 0) - v3_get(r, i) * v3_get(r, j));
  return I;
}

abMassProps ab_mass_added(abMassProps a, abMassProps b) {
  if (!(a.mass > 0)) return b;
  if (!(b.mass > 0)) return a;
  abMassProps sum = {.mass = a.mass + b.mass};
  sum.com = v3_lerp(a.com, b.com, b.mass / sum.mass);
  abMat3 Ia = about(a, sum.com), Ib = about(b, sum.com);
  sum.inertia = m3_add(&Ia, &Ib);
  return sum;
}
