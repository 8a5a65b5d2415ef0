// The multiplication of two register blocks, fully unrolled.
//
// Before this file is included: REGISTER_SIZE, rows and columns of a register block; BLOCKS, register blocks
// along the edge of a block in local memory; TILE_VALUE, the type of the elements, TILE_VALUE_BYTES its size,
// and TILE_FMA(a, b, c) = a b + c. Where whole blocks are read or written by more elements of a row a cycle
// than a register block has: ROW_ELEMENTS, how many.
#ifndef FABRICMARK_REGISTER_BLOCK_H
#define FABRICMARK_REGISTER_BLOCK_H

#include "common/dialect.h"

// Register blocks beside each other in which a cycle finds its part of a row, as a power of two.
#if !defined(ROW_ELEMENTS) || ROW_ELEMENTS <= REGISTER_SIZE
#define ROW_BLOCKS 1
#elif ROW_ELEMENTS <= 2 * REGISTER_SIZE
#define ROW_BLOCKS 2
#elif ROW_ELEMENTS <= 4 * REGISTER_SIZE
#define ROW_BLOCKS 4
#elif ROW_ELEMENTS <= 8 * REGISTER_SIZE
#define ROW_BLOCKS 8
#elif ROW_ELEMENTS <= 16 * REGISTER_SIZE
#define ROW_BLOCKS 16
#elif ROW_ELEMENTS <= 32 * REGISTER_SIZE
#define ROW_BLOCKS 32
#else
#define ROW_BLOCKS 64
#endif

// A block in local memory, divided into register blocks, each of which is read and written in one piece: each
// of its elements has a memory of its own. So have the elements of ROW_BLOCKS register blocks in a row.
#if ROW_BLOCKS > 1
#define ROW_BLOCKS_PARTITION FM_PARTITION_CYCLIC(ROW_BLOCKS, 2)
#else
#define ROW_BLOCKS_PARTITION
#endif
#define ROW_MEMORIES (ROW_BLOCKS * REGISTER_SIZE * REGISTER_SIZE)
#if defined(FM_HLS_CPP)
#if ROW_BLOCKS > 1
#define LAY_ROW_BLOCKS(name) FM_HLS(array_partition variable = name cyclic factor = ROW_BLOCKS dim = 2)
#else
#define LAY_ROW_BLOCKS(name)
#endif
#define REGISTER_BLOCKS(name)                                    \
  TILE_VALUE name[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]; \
  LAY_ROW_BLOCKS(name)                                           \
  FM_HLS(array_partition variable = name complete dim = 3)       \
  FM_HLS(array_partition variable = name complete dim = 4)
#else
#define REGISTER_BLOCKS(name)                                                                            \
  TILE_VALUE name[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE] FM_BANKS(ROW_MEMORIES, TILE_VALUE_BYTES) \
      ROW_BLOCKS_PARTITION FM_PARTITION(3) FM_PARTITION(4) __attribute__((aligned(64)))
#endif

#if defined(FM_CPU) && REGISTER_SIZE > 1
// In rows of vectors, as many at a time as a CPU has registers for.
typedef FM_VECTOR(TILE_VALUE, REGISTER_SIZE) register_row;
#define LOAD_ROW(pointer) FM_PASTE(vload, REGISTER_SIZE)(0, pointer)
#define STORE_ROW(pointer, value) FM_PASTE(vstore, REGISTER_SIZE)(value, 0, pointer)
#if TILE_VALUE_BYTES == 8 && REGISTER_SIZE == 16
#define ROWS_AT_A_TIME 8
#else
#define ROWS_AT_A_TIME REGISTER_SIZE
#endif

// Not inlined: on its own it keeps its sums in registers best.
static __attribute__((noinline)) void multiply_add(TILE_VALUE sum[REGISTER_SIZE][REGISTER_SIZE],
                                                   TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                                                   TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE],
                                                   const bool is_first) {
  for (uint start = 0; start < REGISTER_SIZE; start += ROWS_AT_A_TIME) {
    register_row rows[ROWS_AT_A_TIME];
    FM_UNROLL_FULLY
    for (uint i = 0; i < ROWS_AT_A_TIME; ++i) rows[i] = is_first ? (register_row)0 : LOAD_ROW(sum[start + i]);
    FM_UNROLL_FULLY
    for (uint k = 0; k < REGISTER_SIZE; ++k) {
      const register_row factor = LOAD_ROW(right[k]);
      FM_UNROLL_FULLY
      for (uint i = 0; i < ROWS_AT_A_TIME; ++i) {
        rows[i] = TILE_FMA((register_row)left[start + i][k], factor, rows[i]);
      }
    }
    FM_UNROLL_FULLY
    for (uint i = 0; i < ROWS_AT_A_TIME; ++i) STORE_ROW(sum[start + i], rows[i]);
  }
}
#else
static inline void multiply_add(TILE_VALUE sum[REGISTER_SIZE][REGISTER_SIZE],
                                TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                                TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE], const bool is_first) {
  FM_HLS(inline)
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_SIZE; ++i) {
    FM_HLS(unroll)
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) {
      FM_HLS(unroll)
      TILE_VALUE value = is_first ? (TILE_VALUE)0 : sum[i][j];
      FM_UNROLL_FULLY
      for (uint k = 0; k < REGISTER_SIZE; ++k) {
        FM_HLS(unroll)
        value += left[i][k] * right[k][j];
      }
      sum[i][j] = value;
    }
  }
}
#endif

#endif
