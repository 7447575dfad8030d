// Sobol's sequence by index, so that any shard can start anywhere.
//
// Written here because GSL's is under the GPL and can only be asked for one point after the other,
// and NLopt's is not part of its interface; both would be a dependency for the forty lines below.
//
// The digits of point i in one dimension are the exclusive or of the direction numbers v_k of the
// bits that are set in i (plain order, not Gray's: the first 2^m points are the same set). For a
// primitive polynomial x^s + a_1 x^(s-1) + ... + 1 and v_k = m_k / 2^k,
//   m_k = 2 a_1 m_(k-1) ^ 4 a_2 m_(k-2) ^ ... ^ 2^s m_(k-s) ^ m_(k-s).
// An exclusive or with random digits (a shift) moves the points and keeps what makes them even, so
// seeds give independent estimates.
#include "engine.h"
#include "sobol_table.h"

enum { DIGITS = 53 };

int sobol_most(void) { return SOBOL_NDIM; }

// The direction numbers of a dimension, as digits of DIGITS bits.
static void directions(int dimension, uint64_t v[DIGITS]) {
  uint64_t m[DIGITS];
  for (int k = 0; k < DIGITS; k++) m[k] = 1;
  if (dimension > 0) {
    int s = sobol_table[dimension - 1].degree, p = sobol_table[dimension - 1].polynomial;
    for (int k = 0; k < s; k++) m[k] = (uint64_t)sobol_table[dimension - 1].m[k];
    for (int k = s; k < DIGITS; k++) {
      m[k] = m[k - s] ^ (m[k - s] << s);
      for (int i = 1; i < s; i++)
        if ((p >> (s - i)) & 1) m[k] ^= m[k - i] << i;
    }
  }
  for (int k = 0; k < DIGITS; k++) v[k] = m[k] << (DIGITS - 1 - k);
}

double sobol_unit(uint64_t index, int dimension, uint64_t shift) {
  uint64_t v[DIGITS], digits = shift >> (64 - DIGITS);
  directions(dimension, v);
  for (int k = 0; k < DIGITS && index >> k; k++)
    if ((index >> k) & 1) digits ^= v[k];
  return (double)digits * 0x1p-53;
}
