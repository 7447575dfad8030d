// Angles are brought into [-pi/4, pi/4] by subtracting n pi/2, where pi/2 is the sum of four parts.
// The first three have 27 bits each, so that their products with n < 2^26 are exact; what rounding
// the differences loses is kept in a second number. There sin and cos are polynomials of z = x^2,
//
//     sin x = x + x z S(z),   cos x = 1 - z/2 + z^2 C(z),
//
// whose coefficients are those of the interpolation at Chebyshev's points: their error is far below
// rounding (7e-21 and 2e-22).
//
// atan(y / x) in the first octant is atan(c) + atan(t) with c = i / 8 nearest to y / x and
// t = (y - c x) / (x + c y), |t| <= 1/16, atan t = t + t^3 A(t^2), error 5e-19. The other octants
// follow by pi/2 - and pi -; all constants are sums of two numbers.
#include "math/elementary.h"

#include <math.h>

typedef struct Sum {
  double high, low;
} Sum;

static Sum add_exactly(double a, double b) {
  double s = a + b, t = s - a;
  return (Sum){s, (a - (s - t)) + (b - t)};
}

static double sin_small(Sum x) {
  double z = x.high * x.high;
  double p = 0x1.61217ec01749dp-33 + z * -0x1.ab17a79237a19p-41;
  p = -0x1.ae64541266378p-26 + z * p;
  p = 0x1.71de3a54605eep-19 + z * p;
  p = -0x1.a01a01a019936p-13 + z * p;
  p = 0x1.1111111111110p-7 + z * p;
  p = -0x1.5555555555555p-3 + z * p;
  return x.high + (x.low * (1 - 0.5 * z) + x.high * z * p);
}

static double cos_small(Sum x) {
  double z = x.high * x.high, half = 0.5 * z;
  double p = -0x1.9394b9c9c20a4p-37 + z * 0x1.ab783376962cfp-45;
  p = 0x1.1eed8deb6d561p-29 + z * p;
  p = -0x1.27e4fb7712bdfp-22 + z * p;
  p = 0x1.a01a01a019d0ap-16 + z * p;
  p = -0x1.6c16c16c16c16p-10 + z * p;
  p = 0x1.5555555555555p-5 + z * p;
  double one = 1 - half;
  return one + (((1 - one) - half) + (z * z * p - x.high * x.low));
}

// x - n pi/2 in [-pi/4, pi/4], and n modulo 4.
static Sum reduce(double x, int* quarter) {
  *quarter = 0;
  if (fabs(x) <= 0x1.921fb54442d18p-1) return (Sum){x, 0};
  // Beyond, n would not fit; nobody can tell such angles apart any more.
  if (fabs(x) > 1e8) x = fmod(x, 0x1.921fb54442d18p+2);
  double n = floor(x * 0x1.45f306dc9c883p-1 + 0.5);
  double first = x - n * 0x1.921fb54000000p+0;
  Sum a = add_exactly(first, -n * 0x1.10b4610000000p-30);
  Sum b = add_exactly(a.high, -n * 0x1.a626330000000p-58);
  Sum r = add_exactly(b.high, a.low + b.low - n * 0x1.45c06e0e68948p-86);
  *quarter = (int)((long)n & 3);
  return r;
}

// sin(x + quarter pi/2)
static double sin_from(Sum x, int quarter) {
  double s = quarter & 1 ? cos_small(x) : sin_small(x);
  return quarter & 2 ? -s : s;
}

double ab_sin(double x) {
  if (fabs(x) < 0x1p-27) return x;
  if (!isfinite(x)) return x - x;
  int quarter;
  Sum r = reduce(x, &quarter);
  return sin_from(r, quarter);
}

double ab_cos(double x) {
  if (!isfinite(x)) return x - x;
  int quarter;
  Sum r = reduce(x, &quarter);
  return sin_from(r, quarter + 1);
}

void ab_sincos(double x, double* sine, double* cosine) {
  int quarter;
  *sine = *cosine = x - x;
  if (!isfinite(x)) return;
  Sum r = reduce(x, &quarter);
  *sine = sin_from(r, quarter);
  *cosine = sin_from(r, quarter + 1);
}

double ab_tan(double x) {
  if (fabs(x) < 0x1p-27) return x;
  if (!isfinite(x)) return x - x;
  int quarter;
  Sum r = reduce(x, &quarter);
  double s = sin_small(r), c = cos_small(r);
  return quarter & 1 ? -c / s : s / c;
}

// atan(i / 8)
static const Sum ATAN[9] = {{0, 0},
                            {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                            {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                            {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                            {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                            {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                            {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                            {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                            {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};

// atan(y / x) for 0 <= y <= x, x > 0
static Sum atan_octant(double y, double x) {
  int i = (int)(8 * (y / x) + 0.5);
  double c = 0.125 * i, t = (y - c * x) / (x + c * y), z = t * t;
  double p = 0x1.c719c2ca42c70p-4 + z * -0x1.714c2729c00fbp-4;
  p = -0x1.249248a9bf0dep-3 + z * p;
  p = 0x1.999999998a38cp-3 + z * p;
  p = -0x1.5555555555553p-2 + z * p;
  return (Sum){ATAN[i].high, ATAN[i].low + (t + t * z * p)};
}

static Sum take_from(Sum whole, Sum a) { return (Sum){whole.high - a.high, whole.low - a.low}; }

double ab_atan2(double y, double x) {
  if (isnan(x) || isnan(y)) return x + y;
  const Sum half = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const Sum pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
  double u = fabs(x), v = fabs(y), most = u > v ? u : v;
  if (isinf(u) && isinf(v)) u = v = 1;
  if (isinf(most) && u != v) u = isinf(u) ? 1 : 0, v = isinf(v) ? 1 : 0;
  // Away from overflow and underflow.
  double scale = most > 0x1p1000 ? 0x1p-60 : most < 0x1p-900 ? 0x1p120 : 1;
  u *= scale, v *= scale;
  Sum a = {0, 0};
  if (v > u)
    a = take_from(half, atan_octant(u, v));
  else if (u > 0)
    a = atan_octant(v, u);
  if (signbit(x)) a = take_from(pi, a);
  return copysign(a.high + a.low, y);
}

double ab_hypot(double x, double y) {
  double u = fabs(x), v = fabs(y);
  if (isinf(u) || isinf(v)) return INFINITY;
  double most = u > v ? u : v;
  double scale = most > 0x1p500 ? 0x1p-600 : most < 0x1p-400 ? 0x1p600 : 1;
  u *= scale, v *= scale;
  return sqrt(u * u + v * v) / scale;
}
