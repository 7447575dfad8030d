// Smooth shapes as polyhedra.
//
// The vertices lie ON the surface: the polyhedron is inscribed. It could also be blown up until its
// volume is the shape's; but then corners would stand out of the shape, and whatever bounds the
// shape (its box in the broad phase, its exact distance) would no longer bound the polyhedron: two
// bodies could overlap as polyhedra where the shapes are known to be apart. Inscribed, overlap of
// the polyhedra implies overlap of the shapes. The price is a volume that is always too small, by
// the fraction given in abShape.poly_error.
//
// A cylinder is the prism over a regular n-gon, n a multiple of 4, corners on the x and y axes: its
// bounding box is the cylinder's. Sphere, ellipsoid and capsule are made of n meridians and rings
// at equal steps of latitude (poles and an equator included), likewise with the shape's bounding
// box; their faces are trapezia, flat because two of their sides are parallel, and triangles at the
// poles. The ellipsoid is the sphere stretched, which changes no ratio of volumes.
//
// With a = 2 pi / n the n-gon's area is (sin a / a) pi r^2. Rings of radius r_i at heights z_i are
// joined by frusta of pyramids, of volume (sin a / a) pi (z_i+1 - z_i)(r_i^2 + r_i r_i+1 +
// r_i+1^2)/3. Of all (n, number of rings) that keep the bound the one with fewest vertices is
// taken: for the default bound of 2 %, 40 vertices for a cylinder and 410 for a sphere; for 1 %, 56
// and 830.
// Tests: test_polyhedron, test_mass.
#include <float.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "geometry/polyhedron.h"
#include "math/vec.h"

// More meridians than this are refused: a bound on the volume error below about 1e-5 makes
// polyhedra too large to intersect.
enum { MAX_SIDES = 800 };

// A solid between rings: pole, rings of n corners, pole; or, for prisms, without the poles.
typedef struct Rings {
  int n;                    // corners of a ring, 4 k
  int nring;                // rings, from the lowest up
  bool poles;               // closed by one vertex at each end, else by the end rings' faces
  double z[MAX_SIDES + 4];  // heights of the rings
  double r[MAX_SIDES + 4];  // radii of the rings
  double z_low, z_high;     // poles
  double scale_x, scale_y;  // the ellipsoid's
} Rings;

static double polygon_ratio(int n) {
  double a = 2 * AB_PI / n;
  return sin(a) / a;
}

// Volume of the inscribed sphere of radius 1, of m bands between the poles, over the sphere's: the
// part that does not depend on n.
static double band_ratio(int m) {
  double sum = 0;
  for (int i = 0; i < m; i++) {
    double a = AB_PI * i / m, b = AB_PI * (i + 1) / m;
    double r = sin(a), s = sin(b);
    sum += (cos(a) - cos(b)) * (r * r + r * s + s * s) / 3;
  }
  return sum / (4.0 / 3.0);
}

// Volume of rings over that of the shape: capsule of radius 1 and half length l; a sphere for l =
// 0.
static double capsule_ratio(int n, int m, double l) {
  return polygon_ratio(n) * (band_ratio(m) * 4 / 3 + 2 * l) / (4.0 / 3.0 + 2 * l);
}

// The smallest (n, m) whose volume is at least (1 - bound) of the whole. Meridians are multiples of
// 4 and bands even, so that the extreme points on the axes are vertices.
static bool choose_rings(double bound, double l, int* best_n, int* best_m) {
  *best_n = 0;
  for (int n = 8; n <= MAX_SIDES; n += 4) {
    if (polygon_ratio(n) < 1 - bound) continue;
    // The ratio grows with m: halve the interval of even m.
    int low = 2, high = MAX_SIDES;
    if (capsule_ratio(n, high, l) < 1 - bound) continue;
    while (high - low > 2) {
      int mid = (low + high) / 4 * 2;
      if (capsule_ratio(n, mid, l) >= 1 - bound)
        high = mid;
      else
        low = mid;
    }
    if (!*best_n || n * high < *best_n * *best_m) *best_n = n, *best_m = high;
    if (n > 4 * *best_n) break;
  }
  return *best_n > 0;
}

// Exactly symmetric corners: an eighth of the circle is computed, the rest mirrored.
static void corner(int n, int i, double* c, double* s) {
  int quarter = n / 4, k = i % quarter, turn = i / quarter;
  double a = 2 * AB_PI * k / n, b = 2 * AB_PI * (quarter - k) / n;
  double x = 2 * k <= quarter ? cos(a) : sin(b), y = 2 * k <= quarter ? sin(a) : cos(b);
  if (2 * k == quarter) x = y = sqrt(0.5);
  *c = turn == 0 ? x : turn == 1 ? -y : turn == 2 ? -x : y;
  *s = turn == 0 ? y : turn == 1 ? x : turn == 2 ? -y : -x;
}

static int emit(int* loop, int at, const int* corners, int n) {
  memcpy(loop + at, corners, (size_t)n * sizeof(int));
  return at + n;
}

static int emit_bands(const Rings* g, int first, int* start, int* loop, int* at) {
  int nface = 0, n = g->n;
  for (int k = 0; k + 1 < g->nring; k++)
    for (int i = 0; i < n; i++) {
      int a = first + k * n + i, b = first + k * n + (i + 1) % n;
      start[nface++] = *at;
      *at = emit(loop, *at, (int[]){a, b, b + n, a + n}, 4);
    }
  return nface;
}

static int emit_ends(const Rings* g, int first, int* start, int* loop, int* at) {
  int nface = 0, n = g->n, top = first + (g->nring - 1) * n, last = top + n;
  if (g->poles) {
    for (int i = 0; i < n; i++) {
      int next = (i + 1) % n;
      start[nface++] = *at;
      *at = emit(loop, *at, (int[]){0, first + next, first + i}, 3);
      start[nface++] = *at;
      *at = emit(loop, *at, (int[]){last, top + i, top + next}, 3);
    }
    return nface;
  }
  start[nface++] = *at;
  for (int i = 0; i < n; i++) loop[(*at)++] = first + n - 1 - i;
  start[nface++] = *at;
  for (int i = 0; i < n; i++) loop[(*at)++] = top + i;
  return nface;
}

static abPolyhedron* build_rings(const Rings* g, abError* error) {
  int n = g->n, nvert = n * g->nring + (g->poles ? 2 : 0);
  int nface = n * (g->nring - 1) + (g->poles ? 2 * n : 2);
  int nloop = 4 * n * (g->nring - 1) + (g->poles ? 6 * n : 2 * n);
  abVec3* vert = ab_alloc((size_t)nvert * sizeof *vert);
  int* start = ab_alloc((size_t)(nface + 1) * sizeof(int));
  int* loop = ab_alloc((size_t)nloop * sizeof(int));
  abPolyhedron* poly = NULL;
  if (vert && start && loop) {
    int first = g->poles ? 1 : 0, at = 0;
    if (g->poles) vert[0] = v3(0, 0, g->z_low), vert[nvert - 1] = v3(0, 0, g->z_high);
    for (int k = 0; k < g->nring; k++)
      for (int i = 0; i < n; i++) {
        double c, s;
        corner(n, i, &c, &s);
        vert[first + k * n + i] = v3(g->scale_x * g->r[k] * c, g->scale_y * g->r[k] * s, g->z[k]);
      }
    int bands = emit_bands(g, first, start, loop, &at);
    bands += emit_ends(g, first, start + bands, loop, &at);
    start[bands] = at;
    poly = ab_polyhedron_build(nvert, vert, nface, start, loop, error);
    if (poly) ab_polyhedron_set_centroid(poly, v3_zero());  // by symmetry
  } else {
    ab_fail(error, AB_ERROR_MEMORY, NULL, 0, "no memory for a tessellation");
  }
  ab_free(vert);
  ab_free(start);
  ab_free(loop);
  return poly;
}

// Sphere (l = 0), ellipsoid (radii x, y times r), capsule: m bands, the middle ring doubled by a
// capsule's straight part.
static void fill_capsule(Rings* g, int n, int m, double r, double l) {
  g->n = n;
  g->poles = true;
  g->nring = 0;
  for (int k = 1; k < m; k++) {
    // cos and sin of the same angle from the nearer axis, so that the halves mirror exactly
    int near = k < m - k ? k : m - k;
    double a = AB_PI * near / m;
    bool middle = 2 * k == m;
    double z = middle ? 0 : r * cos(a), rho = middle ? r : r * sin(a);
    if (middle && l > 0) {
      g->z[g->nring] = -l, g->r[g->nring++] = rho;
      g->z[g->nring] = l, g->r[g->nring++] = rho;
    } else {
      g->z[g->nring] = middle ? 0 : 2 * k < m ? -z - l : z + l;
      g->r[g->nring++] = rho;
    }
  }
  g->z_low = -r - l;
  g->z_high = r + l;
}

static int choose_sides(double bound) {
  for (int n = 8; n <= MAX_SIDES; n += 4)
    if (polygon_ratio(n) >= 1 - bound) return n;
  return 0;
}

static bool choose(const abShape* s, double bound, Rings* g, double* achieved) {
  abVec3 z = s->size;
  int n = 0, m = 0;
  g->scale_x = g->scale_y = 1;
  if (s->type == AB_SHAPE_CYLINDER) {
    n = choose_sides(bound);
    if (!n) return false;
    *g = (Rings){.n = n, .nring = 2, .scale_x = 1, .scale_y = 1};
    g->r[0] = g->r[1] = z.x;
    g->z[0] = -z.y, g->z[1] = z.y;
    *achieved = 1 - polygon_ratio(n);
    return true;
  }
  double l = s->type == AB_SHAPE_CAPSULE ? z.y : 0, r = s->type == AB_SHAPE_ELLIPSOID ? z.z : z.x;
  if (!choose_rings(bound, l / r, &n, &m)) return false;
  *achieved = 1 - capsule_ratio(n, m, l / r);
  fill_capsule(g, n, m, r, l);
  if (s->type == AB_SHAPE_ELLIPSOID) g->scale_x = z.x / z.z, g->scale_y = z.y / z.z;
  return true;
}

abPolyhedron* ab_polyhedron_of_shape(const abShape* shape, double volume_error, double* achieved,
                                     abError* error) {
  double error_here = 0;
  abPolyhedron* poly = NULL;
  abStatus status = AB_ERROR_MEMORY;  // where nothing else is said
  if (shape->type == AB_SHAPE_PLANE) {
    status = ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0, "a plane has no polyhedron");
  } else if (shape->type == AB_SHAPE_BOX) {
    poly = ab_polyhedron_box(shape->size);
  } else if (shape->type == AB_SHAPE_MESH) {
    void* memory = ab_alloc(ab_polyhedron_bytes(shape->poly));
    if (memory) poly = ab_polyhedron_copy(shape->poly, memory);
  } else {
    Rings* g = ab_alloc_zero(sizeof *g);
    if (g && choose(shape, volume_error, g, &error_here))
      poly = build_rings(g, error);
    else if (g)
      status = ab_fail(error, AB_ERROR_ARGUMENT, NULL, 0,
                       "a tessellation with a relative volume error below %g has too many faces; "
                       "ask for 1e-4 or more",
                       volume_error);
    ab_free(g);
  }
  if (!poly && status == AB_ERROR_MEMORY)
    ab_fail(error, status, NULL, 0, "no memory for the polyhedron of a shape");
  if (achieved) *achieved = error_here;
  return poly;
}
