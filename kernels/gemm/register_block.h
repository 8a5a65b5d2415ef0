// The multiplication of two register blocks, fully unrolled.
#ifndef FABRICMARK_GEMM_REGISTER_BLOCK_H
#define FABRICMARK_GEMM_REGISTER_BLOCK_H

#include "common/dialect.h"
#include "gemm/types.h"

// A block in local memory, divided into register blocks, each of which is read and written in one piece.
#define GEMM_REGISTER_BLOCKS(name) \
  GEMM_VALUE name[BLOCKS][BLOCKS][GEMM_SIZE][GEMM_SIZE] __attribute__((aligned(64)))

#if defined(FM_CPU) && GEMM_SIZE > 1
// In rows of vectors, as many at a time as a CPU has registers for.
typedef FM_VECTOR(GEMM_VALUE, GEMM_SIZE) gemm_row;
#define GEMM_LOAD_ROW(pointer) FM_PASTE(vload, GEMM_SIZE)(0, pointer)
#define GEMM_STORE_ROW(pointer, value) FM_PASTE(vstore, GEMM_SIZE)(value, 0, pointer)
#if GEMM_TYPE == GEMM_TYPE_double && GEMM_SIZE == 16
#define GEMM_ROWS 8
#else
#define GEMM_ROWS GEMM_SIZE
#endif

inline void multiply_add(GEMM_VALUE sum[GEMM_SIZE][GEMM_SIZE], GEMM_VALUE left[GEMM_SIZE][GEMM_SIZE],
                         GEMM_VALUE right[GEMM_SIZE][GEMM_SIZE], const bool is_first) {
  for (uint start = 0; start < GEMM_SIZE; start += GEMM_ROWS) {
    gemm_row rows[GEMM_ROWS];
    FM_UNROLL_FULLY
    for (uint i = 0; i < GEMM_ROWS; ++i) rows[i] = is_first ? (gemm_row)0 : GEMM_LOAD_ROW(sum[start + i]);
    FM_UNROLL_FULLY
    for (uint k = 0; k < GEMM_SIZE; ++k) {
      const gemm_row factor = GEMM_LOAD_ROW(right[k]);
      FM_UNROLL_FULLY
      for (uint i = 0; i < GEMM_ROWS; ++i) rows[i] = GEMM_FMA((gemm_row)left[start + i][k], factor, rows[i]);
    }
    FM_UNROLL_FULLY
    for (uint i = 0; i < GEMM_ROWS; ++i) GEMM_STORE_ROW(sum[start + i], rows[i]);
  }
}
#else
inline void multiply_add(GEMM_VALUE sum[GEMM_SIZE][GEMM_SIZE], GEMM_VALUE left[GEMM_SIZE][GEMM_SIZE],
                         GEMM_VALUE right[GEMM_SIZE][GEMM_SIZE], const bool is_first) {
  FM_UNROLL_FULLY
  for (uint i = 0; i < GEMM_SIZE; ++i) {
    FM_UNROLL_FULLY
    for (uint j = 0; j < GEMM_SIZE; ++j) {
      GEMM_VALUE value = is_first ? (GEMM_VALUE)0 : sum[i][j];
      FM_UNROLL_FULLY
      for (uint k = 0; k < GEMM_SIZE; ++k) value += left[i][k] * right[k][j];
      sum[i][j] = value;
    }
  }
}
#endif

#endif
