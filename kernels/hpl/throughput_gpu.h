// On a GPU: the inverses and the panels are row by row without gaps. BLOCK_SIZE is a multiple of BLOCK_ROWS,
// BLOCK_COLUMNS and DEPTH_BLOCK.
#define TILE_INPUT TILE_VALUE
#define TILE_LOAD(pointer, index) (pointer)[index]
#include "common/tile_gpu.h"

// One work-group. Its work-items take the elements of a column or of the rest of the block in turns; of the
// inverses each takes whole columns, which do not depend on each other.
ONE_GROUP __kernel void lu(__global TILE_VALUE* a, __global TILE_VALUE* lower, __global TILE_VALUE* upper,
                           const uint row, const uint column, const uint columns,
                           __global TILE_VALUE* block) {
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  const uint item = (uint)get_local_id(0);
  for (uint i = item; i < BLOCK_SIZE * BLOCK_SIZE; i += GROUP_ITEMS) {
    block[i] = start[(size_t)(i / BLOCK_SIZE) * columns + i % BLOCK_SIZE];
  }
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    const TILE_VALUE pivot = block[k * BLOCK_SIZE + k];
    for (uint r = k + 1 + item; r < BLOCK_SIZE; r += GROUP_ITEMS) block[r * BLOCK_SIZE + k] /= pivot;
    barrier(CLK_GLOBAL_MEM_FENCE);
    const uint rest = BLOCK_SIZE - 1 - k;
    for (uint i = item; i < rest * rest; i += GROUP_ITEMS) {
      const uint r = k + 1 + i / rest;
      const uint c = k + 1 + i % rest;
      block[r * BLOCK_SIZE + c] -= block[r * BLOCK_SIZE + k] * block[k * BLOCK_SIZE + c];
    }
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint i = item; i < BLOCK_SIZE * BLOCK_SIZE; i += GROUP_ITEMS) {
    start[(size_t)(i / BLOCK_SIZE) * columns + i % BLOCK_SIZE] = block[i];
  }
  for (uint c = item; c < BLOCK_SIZE; c += GROUP_ITEMS) {
    for (uint r = 0; r < BLOCK_SIZE; ++r) {
      TILE_VALUE value = r == c ? 1 : 0;
      for (uint k = c; k < r; ++k) value -= block[r * BLOCK_SIZE + k] * lower[k * BLOCK_SIZE + c];
      lower[r * BLOCK_SIZE + c] = value;
    }
    for (uint r = BLOCK_SIZE; r-- > 0;) {
      TILE_VALUE value = r == c ? 1 : 0;
      for (uint k = r + 1; k <= c; ++k) value -= block[r * BLOCK_SIZE + k] * upper[k * BLOCK_SIZE + c];
      upper[r * BLOCK_SIZE + c] = value / block[r * BLOCK_SIZE + r];
    }
  }
}

static inline void store(TILE_VALUE sum[TILE_ROWS][TILE_VECTORS], __global TILE_VALUE* result,
                         const size_t stride) {
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) result[TILE_ROW(i) * stride + TILE_COLUMN(j)] = sum[i][j];
  }
}

// Each work-group updates BLOCK_ROWS rows: first into the panel, because all of A's are read until then.
ONE_GROUP __kernel void left(__global TILE_VALUE* a, __global const TILE_VALUE* restrict upper,
                             __global TILE_VALUE* panel, const uint panel_start, const uint row,
                             const uint column, const uint columns, const uint tiles) {
  TILE_LOCAL;
  const size_t first = get_group_id(0) * BLOCK_ROWS;
  __global TILE_VALUE* start = a + (row + first) * columns + column;
  __global TILE_VALUE* own = panel + panel_start + first * BLOCK_SIZE;
  for (uint c = 0; c < BLOCK_SIZE; c += BLOCK_COLUMNS) {
    TILE_VALUE sum[TILE_ROWS][TILE_VECTORS];
    clear(sum);
    add_products(sum, left_part, right_part, start, columns, upper + c, BLOCK_SIZE, BLOCK_SIZE);
    store(sum, own + c, BLOCK_SIZE);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint i = (uint)get_local_id(0); i < BLOCK_ROWS * BLOCK_SIZE; i += GROUP_ITEMS) {
    start[(size_t)(i / BLOCK_SIZE) * columns + i % BLOCK_SIZE] = own[i];
  }
}

// Each work-group updates BLOCK_COLUMNS columns, which in the panel lie in one piece: [group][BLOCK_SIZE]
// [BLOCK_COLUMNS].
ONE_GROUP __kernel void top(__global TILE_VALUE* a, __global const TILE_VALUE* restrict lower,
                            __global TILE_VALUE* panel, const uint panel_start, const uint row,
                            const uint column, const uint columns) {
  TILE_LOCAL;
  const size_t group = get_group_id(0);
  __global TILE_VALUE* start = a + (size_t)row * columns + column + group * BLOCK_COLUMNS;
  __global TILE_VALUE* own = panel + panel_start + group * BLOCK_SIZE * BLOCK_COLUMNS;
  for (uint r = 0; r < BLOCK_SIZE; r += BLOCK_ROWS) {
    TILE_VALUE sum[TILE_ROWS][TILE_VECTORS];
    clear(sum);
    add_products(sum, left_part, right_part, lower + r * BLOCK_SIZE, BLOCK_SIZE, start, columns, BLOCK_SIZE);
    store(sum, own + r * BLOCK_COLUMNS, BLOCK_COLUMNS);
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint i = (uint)get_local_id(0); i < BLOCK_SIZE * BLOCK_COLUMNS; i += GROUP_ITEMS) {
    start[(size_t)(i / BLOCK_COLUMNS) * columns + i % BLOCK_COLUMNS] = own[i];
  }
}

// Each work-group updates a block of BLOCK_ROWS x BLOCK_COLUMNS, counted from `first` row by row in the
// rectangle from block (row_begin, column_begin) up to (row_end, column_end).
ONE_GROUP __kernel void inner(__global TILE_VALUE* restrict a, __global const TILE_VALUE* restrict left_panel,
                              __global const TILE_VALUE* restrict top_panel, const uint left_start,
                              const uint top_start, const uint row, const uint column, const uint columns,
                              const uint row_begin, const uint row_end, const uint column_begin,
                              const uint column_end, const uint first) {
  TILE_LOCAL;
  const uint group = first + (uint)get_group_id(0);
  const size_t r = row_begin + group / (column_end - column_begin);
  const size_t c = column_begin + group % (column_end - column_begin);
  TILE_VALUE sum[TILE_ROWS][TILE_VECTORS];
  clear(sum);
  add_products(sum, left_part, right_part, left_panel + left_start + r * BLOCK_ROWS * BLOCK_SIZE, BLOCK_SIZE,
               top_panel + top_start + c * BLOCK_SIZE * BLOCK_COLUMNS, BLOCK_COLUMNS, BLOCK_SIZE);
  __global TILE_VALUE* start = a + (row + r * BLOCK_ROWS) * columns + column + c * BLOCK_COLUMNS;
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j)
      start[TILE_ROW(i) * (size_t)columns + TILE_COLUMN(j)] -= sum[i][j];
  }
}
