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

// Elements of a work-item that lie side by side, so that local memory gives them at once.
#if TILE_ROWS % 4 == 0 && TILE_VECTORS % 4 == 0
#define TILE_RUN 4
#else
#define TILE_RUN 1
#endif

// The local memory of a group: to be defined in the kernel, and handed to add_products. Rows are four longer,
// so that a column lies in different banks.
#define TILE_LOCAL                                                                        \
  __local TILE_VALUE left_part[DEPTH_BLOCK][BLOCK_ROWS + 4] __attribute__((aligned(16))); \
  __local TILE_VALUE right_part[DEPTH_BLOCK][BLOCK_COLUMNS] __attribute__((aligned(16)))

// Row and column of a work-item in its group: 32 of them, which run in step on many GPUs, are 8 x 4, so that
// they read as few different elements of both matrices as go.
#if GROUP_SIDE % 8 == 0
#define ITEM_ROW(item) ((item) / 32 / (GROUP_SIDE / 4) * 8 + (item) % 32 / 4)
#define ITEM_COLUMN(item) ((item) / 32 % (GROUP_SIDE / 4) * 4 + (item) % 4)
#else
#define ITEM_ROW(item) ((item) / GROUP_SIDE)
#define ITEM_COLUMN(item) ((item) % GROUP_SIDE)
#endif

// Row and column, in the block, of element (i, j) of this work-item's tile.
#define TILE_PLACE(i, item) (((i) / TILE_RUN * GROUP_SIDE + (item)) * TILE_RUN + (i) % TILE_RUN)
#define TILE_ROW(i) TILE_PLACE(i, ITEM_ROW((uint)get_local_id(0)))
#define TILE_COLUMN(j) TILE_PLACE(j, ITEM_COLUMN((uint)get_local_id(0)))

static inline void clear(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS]) {
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = 0;
  }
}

// Steps that NVIDIA's compiler overlaps: with all of them it spills registers (float: 34.6 TFLOP/s on an H200
// for 40.1).
#if defined(__NV_CL_C_VERSION)
#define TILE_UNROLLED FM_PRAGMA(unroll 4)
#else
#define TILE_UNROLLED
#endif

// Elements of a part that a work-item brings to local memory.
#define LEFT_EACH ((BLOCK_ROWS * DEPTH_BLOCK + GROUP_ITEMS - 1) / GROUP_ITEMS)
#define RIGHT_EACH ((BLOCK_COLUMNS * DEPTH_BLOCK + GROUP_ITEMS - 1) / GROUP_ITEMS)

// sum += left right over `depth` steps, a multiple of DEPTH_BLOCK; rows of the matrices are `left_stride` and
// `right_stride` elements apart. Called by all work-items of the group. While a part is multiplied, the next
// one is on its way to registers.
FM_INLINE void add_products(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS],
                            __local TILE_VALUE left_part[DEPTH_BLOCK][BLOCK_ROWS + 4],
                            __local TILE_VALUE right_part[DEPTH_BLOCK][BLOCK_COLUMNS],
                            __global const TILE_INPUT* left, const size_t left_stride,
                            __global const TILE_INPUT* right, const size_t right_stride, const uint depth) {
  const uint item = (uint)get_local_id(0);
  TILE_VALUE next_left[LEFT_EACH], next_right[RIGHT_EACH];
  for (uint start = 0; start <= depth; start += DEPTH_BLOCK) {
    if (start > 0) {
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LEFT_EACH; ++n) {
        const uint i = item + n * GROUP_ITEMS;
        if (i < BLOCK_ROWS * DEPTH_BLOCK) left_part[i % DEPTH_BLOCK][i / DEPTH_BLOCK] = next_left[n];
      }
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < RIGHT_EACH; ++n) {
        const uint i = item + n * GROUP_ITEMS;
        if (i < BLOCK_COLUMNS * DEPTH_BLOCK) right_part[i / BLOCK_COLUMNS][i % BLOCK_COLUMNS] = next_right[n];
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (start < depth) {
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < LEFT_EACH; ++n) {
        const uint i = item + n * GROUP_ITEMS;
        if (i < BLOCK_ROWS * DEPTH_BLOCK)
          next_left[n] = TILE_LOAD(left, i / DEPTH_BLOCK * left_stride + start + i % DEPTH_BLOCK);
      }
      FM_UNROLL_ON_GPU
      for (uint n = 0; n < RIGHT_EACH; ++n) {
        const uint i = item + n * GROUP_ITEMS;
        if (i < BLOCK_COLUMNS * DEPTH_BLOCK)
          next_right[n] = TILE_LOAD(right, (start + i / BLOCK_COLUMNS) * right_stride + i % BLOCK_COLUMNS);
      }
    }
    if (start > 0) {
      TILE_UNROLLED
      for (uint k = 0; k < DEPTH_BLOCK; ++k) {
        TILE_VALUE factor[TILE_VECTORS];
        FM_UNROLL_ON_GPU
        for (uint j = 0; j < TILE_VECTORS; ++j) factor[j] = right_part[k][TILE_COLUMN(j)];
        FM_UNROLL_ON_GPU
        for (uint i = 0; i < TILE_ROWS; ++i) {
          const TILE_VALUE value = left_part[k][TILE_ROW(i)];
          FM_UNROLL_ON_GPU
          for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = TILE_FMA(value, factor[j], sum[i][j]);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}

#endif
