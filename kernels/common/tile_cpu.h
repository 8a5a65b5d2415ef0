// A tile of a matrix product in a CPU's registers: TILE_ROWS rows of TILE_VECTORS vectors, after Goto and van
// de Geijn, "Anatomy of high-performance matrix multiplication" (2008).
//
// The left matrix is packed as [tile of rows][depth / WIDTH][TILE_ROWS][WIDTH], the right one as [tile of
// columns][depth][TILE_VECTORS] vectors: the order in which they are read. Before this file is included,
// TILE_VALUE is the type of the elements, TILE_VALUE_BYTES its size, and TILE_FMA(a, b, c) = a b + c.
#ifndef FABRICMARK_TILE_CPU_H
#define FABRICMARK_TILE_CPU_H

#include "common/dialect.h"

#if TILE_VALUE_BYTES == 8
#define WIDTH_16 2
#define WIDTH_32 4
#define WIDTH_64 8
#elif TILE_VALUE_BYTES == 2
#define WIDTH_16 8
#define WIDTH_32 16
#define WIDTH_64 16  // OpenCL has no longer vectors
#else
#define WIDTH_16 4
#define WIDTH_32 8
#define WIDTH_64 16
#endif
#define WIDTH FM_PASTE(WIDTH_, VECTOR_BYTES)
#define TILE_COLUMNS (TILE_VECTORS * WIDTH)
#define ONE_ITEM FM_GROUP_OF(1)

typedef FM_VECTOR(TILE_VALUE, WIDTH) tile_vector;

// sum += left right, over `chunks` * WIDTH steps of the depth. Inlined, so that the sums stay in registers.
FM_INLINE void add_products(tile_vector sum[TILE_ROWS][TILE_VECTORS],
                            __global const TILE_VALUE* restrict left,
                            __global const tile_vector* restrict right, const uint chunks) {
  for (uint chunk = 0; chunk < chunks; ++chunk) {
    FM_ROLLED
    for (uint k = 0; k < WIDTH; ++k) {
      tile_vector factor[TILE_VECTORS];
      FM_UNROLL_FULLY
      for (uint v = 0; v < TILE_VECTORS; ++v) factor[v] = right[k * TILE_VECTORS + v];
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        const tile_vector value = (tile_vector)left[i * WIDTH + k];
        FM_UNROLL_FULLY
        for (uint v = 0; v < TILE_VECTORS; ++v) sum[i][v] = TILE_FMA(value, factor[v], sum[i][v]);
      }
    }
    left += TILE_ROWS * WIDTH;
    right += WIDTH * TILE_VECTORS;
  }
}

#endif
