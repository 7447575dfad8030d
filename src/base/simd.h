// AB_SIMD marks a function that gains by wider vector registers, or by the instructions with three
// operands that come with them: it is compiled twice, for every x86-64 and for those with AVX2, and
// the loader takes the one that fits. Both do the same operations on the same lanes (there is no
// contraction to fused operations, see CMakeLists.txt), so the results are the same to the last
// bit. Sanitizers run before the loader's choice can.
//
// AB_FLATTEN: with all it calls of its own file inside. What is not part of such a function is not
// compiled for wide registers, and hands vectors over in memory.
#ifndef ABUT_BASE_SIMD_H
#define ABUT_BASE_SIMD_H

#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define AB_SIMD __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define AB_SIMD
#endif

#define AB_FLATTEN __attribute__((flatten))

// Sums are kept in this many lanes, so that their order does not depend on the registers' width.
enum { AB_LANES = 4 };

#endif
