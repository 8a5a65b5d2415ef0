// A block of a matrix product on a GPU: a work-group of GROUP_SIDE x GROUP_SIDE work-items computes
// BLOCK_ROWS x BLOCK_COLUMNS elements, each work-item SUM_ROWS x SUM_COLUMNS of them. What it works on is
// declared by TILE_LOCAL in the kernel and handed over as TILE_MEMORY; SUM_ROW(i) and SUM_COLUMN(j) say where
// element (i, j) of a work-item's sums is in the block.
//
// Before this file is included, TILE_VALUE is the type of the sums, TILE_INPUT that of the matrices,
// TILE_LOAD(width, pointer, index) `width` of their elements as values (TILE_IN_PLACE where they are values
// themselves), TILE_FMA(a, b, c) = a b + c, and TILE_MATRIX_UNITS what common/tile_matrix_units.h says. All
// strides and starts are multiples of four elements.
#ifndef FABRICMARK_TILE_GPU_H
#define FABRICMARK_TILE_GPU_H

#include "common/dialect.h"

#define BLOCK_ROWS (GROUP_SIDE * TILE_ROWS)
#define BLOCK_COLUMNS (GROUP_SIDE * TILE_VECTORS)
#define GROUP_ITEMS (GROUP_SIDE * GROUP_SIDE)
#define ONE_GROUP FM_GROUP_OF(GROUP_ITEMS)
#define TILE_DEPTH DEPTH_BLOCK  // depths are multiples of it
#define TILE_IN_PLACE(width, pointer, index) \
  (*(__global const FM_VECTOR(TILE_INPUT, width)*)((pointer) + (index)))

#if TILE_MATRIX_UNITS > 90 && TILE_VALUE_BYTES == 4
#include "common/tile_warp_groups.h"
#elif TILE_MATRIX_UNITS
#include "common/tile_matrix_units.h"
#else
#include "common/tile_in_registers.h"
#endif

static inline void clear(TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS]) {
  FM_UNROLL_ON_GPU
  for (uint i = 0; i < SUM_ROWS; ++i) {
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < SUM_COLUMNS; ++j) sum[i][j] = 0;
  }
}

#endif
