// Facets of a hull to polygonal faces:
//   1. from the largest facet down, each not yet taken facet seeds a face and takes in, over shared
//      edges, all facets whose vertices lie within the tolerance of the SEED's plane (not of the
//      last neighbour's: a finely divided round surface does not flow together);
//   2. a face's boundary are the edges with another face behind them;
//   3. a vertex on fewer than three faces is no corner and is left out, likewise a face that has
//      fewer than three corners then (a sliver along an edge), until nothing changes.
// A face's boundary may then fail to be one loop: points scattered at just the tolerance's size can
// do that. The caller tries another tolerance.
// Tests: test_polyhedron.
#include "geometry/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "math/vec.h"

abVec3 ab_scaled_point(const abCloud* c, int i) {
  const double* s = c->scaled + 3 * (ptrdiff_t)i;
  return v3(s[0], s[1], s[2]);
}

abVec3 ab_loop_normal(const abCloud* c, const int* loop, int n, abVec3* mean) {
  abVec3 m = v3_zero(), normal = v3_zero();
  for (int i = 0; i < n; i++) m = v3_axpy(1.0 / n, ab_scaled_point(c, loop[i]), m);
  for (int i = 0; i < n; i++)
    normal = v3_add(normal, v3_cross(v3_sub(ab_scaled_point(c, loop[i]), m),
                                     v3_sub(ab_scaled_point(c, loop[(i + 1) % n]), m)));
  if (mean) *mean = m;
  return normal;
}

// Scratch of merge, all in one allocation.
typedef struct Merge {
  int* neighbour;  // per loop entry: the facet behind the edge to the next entry
  int* group;      // per facet: its face
  int* order;      // facets from the largest down
  int* stack;
  int* slot;     // per vertex: loop entry at which a boundary edge leaves it
  int* owner;    // per vertex: the face for which slot is meant
  int* nface;    // per vertex: how many faces it is a corner of
  double* area;  // per facet
} Merge;

typedef struct Side {
  int low, high, entry, facet;
} Side;

static int compare_sides(const void* a, const void* b) {
  const Side *x = a, *y = b;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  if (x->high != y->high) return x->high < y->high ? -1 : 1;
  return (x->entry > y->entry) - (x->entry < y->entry);
}

static int next_entry(const abFaces* f, int facet, int entry) {
  return entry + 1 < f->start[facet + 1] ? entry + 1 : f->start[facet];
}

static abStatus find_neighbours(const abFaces* f, int* neighbour) {
  Side* side = ab_alloc((size_t)f->nloop * sizeof *side);
  if (!side) return AB_ERROR_MEMORY;
  for (int k = 0; k < f->n; k++)
    for (int i = f->start[k]; i < f->start[k + 1]; i++) {
      int a = f->loop[i], b = f->loop[next_entry(f, k, i)];
      side[i] = (Side){a < b ? a : b, a < b ? b : a, i, k};
    }
  qsort(side, (size_t)f->nloop, sizeof *side, compare_sides);
  bool closed = f->nloop % 2 == 0;
  for (int i = 0; closed && i < f->nloop; i += 2) {
    closed = side[i].low == side[i + 1].low && side[i].high == side[i + 1].high;
    neighbour[side[i].entry] = side[i + 1].facet;
    neighbour[side[i + 1].entry] = side[i].facet;
  }
  ab_free(side);
  return closed ? AB_OK : AB_ERROR_NUMERIC;
}

// Facets by falling area; a heap sort, for it needs the areas beside the indices.
static void sort_by_area(int n, const double* area, int* order) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int end = n, root = n / 2; end > 1;) {
    int item;
    if (root > 0) {
      item = order[--root];
    } else {
      item = order[--end];
      order[end] = order[0];
    }
    int at = root;
    for (int child; (child = 2 * at + 1) < end; at = child) {
      int r = child + 1;
      if (r < end && (area[order[r]] < area[order[child]] ||
                      (area[order[r]] == area[order[child]] && order[r] > order[child])))
        child = r;
      int k = order[child];
      if (area[item] < area[k] || (area[item] == area[k] && item > k)) break;
      order[at] = k;
    }
    order[at] = item;
  }
}

static bool lies_in(const abCloud* c, const abFaces* f, int facet, abPlane plane, double flat) {
  for (int i = f->start[facet]; i < f->start[facet + 1]; i++)
    if (!(fabs(v3_dot(plane.n, ab_scaled_point(c, f->loop[i])) - plane.d) <= flat)) return false;
  return true;
}

static int group_facets(const abCloud* c, const abFaces* f, Merge* m, double flat) {
  int ngroup = 0;
  for (int i = 0; i < f->n; i++) m->group[i] = -1;
  for (int i = 0; i < f->n; i++) {
    int seed = m->order[i];
    if (m->group[seed] >= 0) continue;
    abVec3 mean;
    abVec3 normal = v3_unit(
        ab_loop_normal(c, f->loop + f->start[seed], f->start[seed + 1] - f->start[seed], &mean));
    abPlane plane = {normal, v3_dot(normal, mean)};
    int top = 0;
    m->stack[top++] = seed;
    m->group[seed] = ngroup;
    while (top > 0) {
      int k = m->stack[--top];
      for (int e = f->start[k]; e < f->start[k + 1]; e++) {
        int other = m->neighbour[e];
        if (m->group[other] >= 0 || !lies_in(c, f, other, plane, flat)) continue;
        m->group[other] = ngroup;
        m->stack[top++] = other;
      }
    }
    ngroup++;
  }
  return ngroup;
}

// The boundary of one group of facets as a loop appended to out. `member` lists its facets.
static bool trace_boundary(const abFaces* f, Merge* m, const int* member, int nmember,
                           abFaces* out) {
  int g = m->group[member[0]], nside = 0, first = -1;
  for (int i = 0; i < nmember; i++)
    for (int e = f->start[member[i]]; e < f->start[member[i] + 1]; e++) {
      if (m->group[m->neighbour[e]] == g) continue;
      int v = f->loop[e];
      if (m->owner[v] == g) return false;  // the boundary touches itself
      m->owner[v] = g;
      m->slot[v] = f->loop[next_entry(f, member[i], e)];
      nside++;
      if (first < 0 || v < first) first = v;
    }
  if (nside < 3) return false;
  out->start[out->n++] = out->nloop;
  int v = first;
  do {
    out->loop[out->nloop++] = v;
    if (m->owner[v] != g || out->nloop - out->start[out->n - 1] > nside) return false;
    v = m->slot[v];
  } while (v != first);
  return out->nloop - out->start[out->n - 1] == nside;
}

static bool trace_boundaries(const abCloud* c, const abFaces* f, Merge* m, int ngroup,
                             abFaces* out) {
  // Facets sorted by group: counting sort into stack, with order reused for the group starts.
  int* begin = m->order;
  memset(begin, 0, (size_t)(f->n + 1) * sizeof(int));
  for (int i = 0; i < f->n; i++) begin[m->group[i]]++;
  for (int g = 0, at = 0; g <= ngroup && g <= f->n; g++) {
    int count = begin[g];
    begin[g] = at;
    at += count;
  }
  for (int i = 0; i < f->n; i++) m->stack[begin[m->group[i]]++] = i;
  for (int i = 0; i < c->n; i++) m->owner[i] = -1;
  for (int g = 0; g < ngroup; g++) {
    int low = g ? begin[g - 1] : 0;
    if (!trace_boundary(f, m, m->stack + low, begin[g] - low, out)) return false;
  }
  out->start[out->n] = out->nloop;
  return true;
}

// One round of leaving out the vertices with fewer than three faces, and the faces that are left
// with fewer than three vertices: slivers along an edge, whose two sides then meet. True if
// anything went.
static bool drop_once(const abCloud* c, Merge* m, abFaces* out) {
  memset(m->nface, 0, (size_t)c->n * sizeof(int));
  for (int i = 0; i < out->nloop; i++) m->nface[out->loop[i]]++;
  int at = 0, from = 0, kept = 0, before = out->nloop;
  for (int k = 0; k < out->n; k++) {
    int end = out->start[k + 1], begin = at;
    for (; from < end; from++)
      if (m->nface[out->loop[from]] >= 3) out->loop[at++] = out->loop[from];
    if (at - begin < 3)
      at = begin;
    else
      out->start[kept++] = begin;
  }
  out->n = kept;
  out->start[kept] = out->nloop = at;
  return at < before;
}

abStatus ab_merge_facets(const abCloud* c, const abFaces* f, double flat, abFaces* out) {
  size_t nint = (size_t)f->nloop + 3 * (size_t)(f->n + 1) + 3 * (size_t)c->n;
  int* block = ab_alloc(nint * sizeof(int) + (size_t)f->n * sizeof(double) + sizeof(double));
  out->start = ab_alloc((size_t)(f->n + 1) * sizeof(int));
  out->loop = ab_alloc((size_t)(f->nloop + 1) * sizeof(int));
  if (!block || !out->start || !out->loop) {
    ab_free(block);
    return AB_ERROR_MEMORY;
  }
  Merge m = {.area = (double*)(void*)block};
  m.neighbour = (int*)(void*)(m.area + f->n);
  m.group = m.neighbour + f->nloop;
  m.order = m.group + f->n + 1;
  m.stack = m.order + f->n + 1;
  m.slot = m.stack + f->n + 1;
  m.owner = m.slot + c->n;
  m.nface = m.owner + c->n;
  abStatus status = find_neighbours(f, m.neighbour);
  if (!status) {
    for (int i = 0; i < f->n; i++)
      m.area[i] =
          v3_norm(ab_loop_normal(c, f->loop + f->start[i], f->start[i + 1] - f->start[i], NULL));
    sort_by_area(f->n, m.area, m.order);
    int ngroup = group_facets(c, f, &m, flat);
    bool good = trace_boundaries(c, f, &m, ngroup, out);
    while (good && drop_once(c, &m, out)) continue;
    if (!good || out->n < 4) status = AB_ERROR_NUMERIC;
  }
  ab_free(block);
  return status;
}
