// HPL, throughput kernels: the steps of a blocked LU factorisation without pivoting, by ND-range kernels
// for CPUs and GPUs (Meyer 2024, section 4.1.3).
//
// a: this rank's part of the matrix, row by row, `columns` elements from one row to the next; `row` and
// `column` say where a kernel's first element stands in it. In iteration k, with A_kk = L_kk U_kk:
//   lu     factorises block (k, k),
//   invert forms the inverses of L_kk (lower) and U_kk (upper),
//   left   A_ik = A_ik U_kk^-1 for the blocks below it, also into the left panel,
//   top    A_kj = L_kk^-1 A_kj for the blocks on its right, also into the top panel,
//   inner  A_ij -= A_ik A_kj for the others, from the panels.
// With the inverses the others are plain products. The matrix is diagonally dominant, so that its triangular
// blocks are well conditioned and this is as exact as substitution.
#include "common/dialect.h"
#include "hpl/types.h"

#if defined(FM_CPU)
#include "hpl/throughput_cpu.h"
#else
#include "hpl/throughput_gpu.h"
#endif
