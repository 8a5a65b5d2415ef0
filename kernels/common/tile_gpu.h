// A block of a matrix product on a GPU: a work-group of GROUP_SIDE x GROUP_SIDE work-items computes
// BLOCK_ROWS x BLOCK_COLUMNS elements, each work-item TILE_ROWS x TILE_VECTORS of them, from DEPTH_BLOCK
// columns of the left and rows of the right matrix at a time in local memory.
//
// Before this file is included, TILE_VALUE is the type of the sums, TILE_INPUT that of the matrices,
// TILE_LOAD(pointer, index) one of their elements, and TILE_FMA(a, b, c) = a b + c.
#ifndef FABRICMARK_TILE_GPU_H
#define FABRICMARK_TILE_GPU_H

#include "common/dialect.h"

#define BLOCK_ROWS (GROUP_SIDE * TILE_ROWS)
#define BLOCK_COLUMNS (GROUP_SIDE * TILE_VECTORS)
#define GROUP_ITEMS (GROUP_SIDE * GROUP_SIDE)
#define ONE_GROUP __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))

// The local memory of a group: to be defined in the kernel, and handed to add_products.
#define TILE_LOCAL                                                                             \
  __local TILE_VALUE                                                                           \
      left_part[DEPTH_BLOCK][BLOCK_ROWS + 1]; /* one more: a column lies in different banks */ \
  __local TILE_VALUE right_part[DEPTH_BLOCK][BLOCK_COLUMNS]

// Row and column, in the block, of element (i, j) of this work-item's tile.
#define TILE_ROW(i) ((i)*GROUP_SIDE + (uint)get_local_id(0) / GROUP_SIDE)
#define TILE_COLUMN(j) ((j)*GROUP_SIDE + (uint)get_local_id(0) % GROUP_SIDE)

static inline void clear(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS]) {
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = 0;
  }
}

// sum += left right over `depth` steps, a multiple of DEPTH_BLOCK; rows of the matrices are `left_stride` and
// `right_stride` elements apart. Called by all work-items of the group.
static inline void add_products(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS],
                                __local TILE_VALUE left_part[DEPTH_BLOCK][BLOCK_ROWS + 1],
                                __local TILE_VALUE right_part[DEPTH_BLOCK][BLOCK_COLUMNS],
                                __global const TILE_INPUT* left, const size_t left_stride,
                                __global const TILE_INPUT* right, const size_t right_stride,
                                const uint depth) {
  const uint item = (uint)get_local_id(0);
  for (uint start = 0; start < depth; start += DEPTH_BLOCK) {
    for (uint i = item; i < BLOCK_ROWS * DEPTH_BLOCK; i += GROUP_ITEMS) {
      const uint row = i / DEPTH_BLOCK;
      const uint k = i % DEPTH_BLOCK;
      left_part[k][row] = TILE_LOAD(left, row * left_stride + start + k);
    }
    for (uint i = item; i < BLOCK_COLUMNS * DEPTH_BLOCK; i += GROUP_ITEMS) {
      const uint k = i / BLOCK_COLUMNS;
      const uint column = i % BLOCK_COLUMNS;
      right_part[k][column] = TILE_LOAD(right, (start + k) * right_stride + column);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < DEPTH_BLOCK; ++k) {
      TILE_VALUE factor[TILE_VECTORS];
      FM_UNROLL_FULLY
      for (uint j = 0; j < TILE_VECTORS; ++j) factor[j] = right_part[k][TILE_COLUMN(j)];
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        const TILE_VALUE value = left_part[k][TILE_ROW(i)];
        FM_UNROLL_FULLY
        for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = TILE_FMA(value, factor[j], sum[i][j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

#endif
