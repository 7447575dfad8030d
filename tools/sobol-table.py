#!/usr/bin/env python3
"""Chooses the direction numbers of sweep/sobol_table.h and prints the file.

A dimension of Sobol's sequence is given by a primitive polynomial over GF(2) of degree s and s odd
numbers m_k < 2^k. Any choice fills the axis evenly; how evenly two dimensions together fill the
square depends on it. Each dimension here is the best of a number of random choices: the one with
the smallest sum, over the dimensions before it and over the first 2^m points, of 4^t, where t is
the quality of the net the two make (Niederreiter: every box of area 2^(t-m) holds 2^t points).
"""
import random

NDIM, TRIES, SIZES = 40, 300, (3, 5, 7, 9, 11, 13)
BITS = max(SIZES)


def is_primitive(poly, degree):
    """x generates all 2^degree - 1 non-zero residues."""
    order = (1 << degree) - 1
    value = 1
    for i in range(1, order + 1):
        value <<= 1
        if value >> degree:
            value ^= poly
        if value == 1:
            return i == order
    return False


def polynomials():
    degree = 1
    while True:
        for middle in range(1 << (degree - 1)):
            poly = (1 << degree) | (middle << 1) | 1
            if is_primitive(poly, degree):
                yield degree, poly
        degree += 1


def directions(degree, poly, m):
    """v_k = m_k / 2^k as rows: bit k of row j says whether v_k has the digit 2^-(j+1)."""
    m = list(m)
    for k in range(degree, BITS):
        new = m[k - degree] ^ (m[k - degree] << degree)
        for i in range(1, degree):
            if (poly >> (degree - i)) & 1:
                new ^= m[k - i] << i
        m.append(new)
    rows = [0] * BITS
    for k in range(BITS):
        for j in range(k + 1):
            if (m[k] >> (k - j)) & 1:
                rows[j] |= 1 << k
    return rows


def independent(rows):
    basis = {}
    for row in rows:
        while row:
            top = row.bit_length()
            if top not in basis:
                basis[top] = row
                break
            row ^= basis[top]
        if not row:
            return False
    return True


def quality(a, b, m):
    """The t of the first 2^m points of two dimensions."""
    mask = (1 << m) - 1
    for t in range(m + 1):
        r = m - t
        if all(independent([x & mask for x in a[:k] + b[:r - k]]) for k in range(r + 1)):
            return t
    return m


def main():
    draw = random.Random(20)
    identity = [1 << k for k in range(BITS)]
    rows, table = [identity], []
    for degree, poly in polynomials():
        best = None
        for _ in range(TRIES):
            m = [draw.randrange(1 << k) * 2 + 1 for k in range(degree)]
            r = directions(degree, poly, m)
            cost = sum(4 ** quality(old, r, size) for old in rows for size in SIZES)
            if best is None or cost < best[0]:
                best = cost, m, r
        rows.append(best[2])
        table.append((degree, poly, best[1]))
        if len(rows) == NDIM:
            break
    print("// Made by tools/sobol-table.py: degree and primitive polynomial of a dimension (bit k is"
          " the\n// coefficient of x^k), and its first direction numbers.")
    print("#define SOBOL_NDIM %d" % NDIM)
    print("static const struct {\n  int degree, polynomial, m[8];\n} sobol_table[SOBOL_NDIM - 1] = {")
    for degree, poly, m in table:
        print("    {%d, %d, {%s}}," % (degree, poly, ", ".join(map(str, m))))
    print("};")


main()
