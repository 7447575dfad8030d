// The numbers of a run from its index: no state, so that any thread, shard or rank can make any
// run.
//
// Random digits are a hash of (seed, run, variable). A Latin hypercube of n runs needs, in each
// variable, a random permutation of n strata: a Feistel network on the smallest even number of bits
// that holds n, walked until it lands below n, is one and needs no memory.
#include <math.h>

#include "engine.h"

#define HALF_ROOT 0.70710678118654752440  // 1 / sqrt(2)
#define DENSITY_0 0.39894228040143267794  // 1 / sqrt(2 pi)

// The finaliser of a 64-bit hash: every bit of the input changes every bit of the output with
// probability one half (multiply and shift, twice, by odd constants).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}

static uint64_t digits(uint64_t seed, uint64_t run, uint64_t variable, uint64_t purpose) {
  uint64_t x = mix(seed + 0x9e3779b97f4a7c15u);
  x = mix(x ^ (variable * 0xbf58476d1ce4e5b9u + purpose));
  return mix(x + run * 0x9e3779b97f4a7c15u);
}

static double unit(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; }

static uint64_t permute(uint64_t i, uint64_t n, uint64_t key) {
  int half = 1;
  while (half < 32 && (uint64_t)1 << (2 * half) < n) half++;
  uint64_t mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = i >> half, right = i & mask;
    for (uint64_t round = 0; round < 4; round++) {
      uint64_t next = left ^ (mix(key + round * 0x9e3779b97f4a7c15u + right) & mask);
      left = right;
      right = next;
    }
    i = left << half | right;
  } while (i >= n);
  return i;
}

// Phi^-1(u) by Newton's method on the tail below the median, where erfc has full relative accuracy:
// log Phi is concave, so from the left of the root the iterates rise to it.
double normal_quantile(double u) {
  if (u > 0.5) return -normal_quantile(1 - u);
  if (!(u > 0)) return -INFINITY;
  double x = -sqrt(-2 * log(u)), target = log(u);
  for (int i = 0; i < 60; i++) {
    double tail = 0.5 * erfc(-x * HALF_ROOT);
    double density = DENSITY_0 * exp(-0.5 * x * x);
    double step = (target - log(tail)) * tail / density;
    x += step;
    if (fabs(step) <= 1e-15 * fabs(x)) break;
  }
  return x;
}

static double normal_share(double x) { return 0.5 * erfc(-x * HALF_ROOT); }

static double at_index(const Vary* v, int64_t i) {
  if (v->spread == SPREAD_LIST) return v->file ? (double)i : v->value[i];
  if (v->n == 1) return v->a;
  // both ends exactly, and the same values whichever way the grid is cut
  return i == v->n - 1 ? v->b : v->a + (v->b - v->a) * ((double)i / (double)(v->n - 1));
}

// The value at the part u of the distribution, 0 <= u < 1.
static double at_part(const Vary* v, double u) {
  switch (v->spread) {
    case SPREAD_UNIFORM:
      return v->a + (v->b - v->a) * u;
    case SPREAD_LOG:
      return v->a * exp(u * log(v->b / v->a));
    case SPREAD_NORMAL: {
      double low = isfinite(v->low) ? normal_share((v->low - v->a) / v->b) : 0;
      double high = isfinite(v->high) ? normal_share((v->high - v->a) / v->b) : 1;
      // the middle of the smallest cell instead of its lower end, which may be infinitely far
      double x = v->a + v->b * normal_quantile(low + (u + 0x1p-54) * (high - low));
      return fmin(fmax(x, v->low), v->high);
    }
    default: {
      int64_t i = (int64_t)(u * (double)v->n);
      return at_index(v, i < v->n ? i : v->n - 1);
    }
  }
}

static bool counted(const Vary* v) { return v->spread == SPREAD_GRID || v->spread == SPREAD_LIST; }

abStatus generate_count(abSweep* s, abError* error) {
  s->ngrid = 1;
  bool random = false, fits = true;
  for (int i = 0; i < s->nvary && fits; i++) {
    random = random || !counted(&s->vary[i]);
    if (s->method != METHOD_GRID || !counted(&s->vary[i])) continue;
    fits = !__builtin_mul_overflow(s->ngrid, s->vary[i].n, &s->ngrid);
  }
  if (s->method == METHOD_SOBOL && s->nvary > sobol_most())
    return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0,
                      "method sobol varies at most %d numbers, not %d; use lhs", sobol_most(),
                      s->nvary);
  // a grid without random numbers would only repeat itself
  if (s->method == METHOD_GRID && !random) s->samples = 1;
  fits = fits && !__builtin_mul_overflow(s->ngrid, s->samples, &s->count);
  fits = fits && !__builtin_mul_overflow(s->count, s->repeat, &s->count);
  // beyond this the index of a run is no exact double, and nobody waits for it
  if (!fits || s->count > (int64_t)1 << 50)
    return sweep_fail(error, AB_ERROR_ARGUMENT, s->path, 0,
                      "this makes more runs than can be counted; make the grid coarser, or draw "
                      "samples from it by method random, lhs or sobol");
  return AB_OK;
}

void ab_sweep_values(const abSweep* s, int64_t run, double* value) {
  int64_t once = s->count / s->repeat, i = run % once;
  uint64_t seed = s->seed + (uint64_t)(run / once), n = (uint64_t)once;
  // the last variable runs fastest, repetitions of a point follow each other
  int64_t place = i / s->samples;
  for (int k = s->nvary - 1; k >= 0; k--) {
    const Vary* v = &s->vary[k];
    uint64_t variable = (uint64_t)k + 1, index = (uint64_t)i;
    if (s->method == METHOD_GRID && counted(v)) {
      value[k] = at_index(v, place % v->n);
      place /= v->n;
    } else if (s->method == METHOD_LHS) {
      double stratum = (double)permute(index, n, digits(seed, 0, variable, 2));
      value[k] = at_part(v, (stratum + unit(digits(seed, index, variable, 3))) / (double)n);
    } else if (s->method == METHOD_SOBOL) {
      uint64_t shift = seed ? digits(seed, 0, variable, 4) : 0;
      value[k] = at_part(v, sobol_unit(index, k, shift));
    } else {
      value[k] = at_part(v, unit(digits(seed, index, variable, 1)));
    }
  }
}
