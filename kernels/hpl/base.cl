// HPL, base kernels: single work-item designs for FPGAs, for the four steps of a blocked LU factorisation
// without pivoting (Meyer 2024, section 4.1.3 and Figure 4.4).
//
// a: this rank's part of the matrix, row by row, `columns` elements from one row to the next; `row` and
// `column` say where a kernel's first block stands in it. In iteration k:
//   lu     factorises block (k, k) into L_kk and U_kk,
//   left   A_ik = A_ik U_kk^-1 for the blocks below it, also into the left panel,
//   top    A_kj = L_kk^-1 A_kj for the blocks on its right, also into the top panel,
//   inner  A_ij -= A_ik A_kj for the others, from the panels.
//
// Two levels of blocks: those of BLOCK_SIZE are held in local memory, divided into register blocks. `inner`
// multiplies register blocks fully unrolled in three dimensions, the others update them in two.
#include "common/dialect.h"
#include "hpl/types.h"

#define BLOCKS (BLOCK_SIZE / REGISTER_BLOCK)
#define REGISTER_SIZE REGISTER_BLOCK
#include "common/register_block.h"
#include "hpl/whole_blocks.h"

#if FM_REPLICA == 0  // of these there is one each
FM_SINGLE_WORK_ITEM
__kernel void lu(FM_GLOBAL(lu, a) TILE_VALUE* restrict a, FM_GLOBAL(lu, lower) TILE_VALUE* restrict lower,
                 FM_GLOBAL(lu, upper) TILE_VALUE* restrict upper, const uint row, const uint column,
                 const uint columns) {
  FM_PORT(a)
  FM_PORT(lower)
  FM_PORT(upper)
  FM_SCALAR(row)
  FM_SCALAR(column)
  FM_SCALAR(columns)
  FM_CONTROL
  REGISTER_BLOCKS(block);
  DIAGONAL(diagonal);
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  load_block(block, start, columns);
  factorize_block(block, diagonal);
  store_block(block, start, columns);
  FM_COALESCE(2)
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        const uint place = r * BLOCK_SIZE + j * REGISTER_SIZE + x;
        lower[place] = lower_factor(block, diagonal, r, j, x);
        upper[place] = upper_factor(block, diagonal, r, j, x);
      }
    }
  }
}

// `blocks` blocks below each other. The panels hold their blocks one behind the other, `panel_start` blocks
// are before them.
FM_SINGLE_WORK_ITEM
__kernel void left(FM_GLOBAL(left, a) TILE_VALUE* restrict a,
                   FM_GLOBAL(left, upper) const TILE_VALUE* restrict upper,
                   FM_GLOBAL(left, panel) TILE_VALUE* restrict panel, const uint panel_start, const uint row,
                   const uint column, const uint columns, const uint blocks) {
  FM_PORT(a)
  FM_PORT(upper)
  FM_PORT(panel)
  FM_SCALAR(panel_start)
  FM_SCALAR(row)
  FM_SCALAR(column)
  FM_SCALAR(columns)
  FM_SCALAR(blocks)
  FM_CONTROL
  REGISTER_BLOCKS(factor);
  load_block(factor, upper, BLOCK_SIZE);
  FM_SERIAL
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (row + (size_t)step * BLOCK_SIZE) * columns + column;
    load_block(block, start, columns);
    solve_left(block, factor);
    store_block(block, start, columns);
    store_block(block, panel + (size_t)(panel_start + step) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
  }
}

// `blocks` blocks beside each other.
FM_SINGLE_WORK_ITEM
__kernel void top(FM_GLOBAL(top, a) TILE_VALUE* restrict a,
                  FM_GLOBAL(top, lower) const TILE_VALUE* restrict lower,
                  FM_GLOBAL(top, panel) TILE_VALUE* restrict panel, const uint panel_start, const uint row,
                  const uint column, const uint columns, const uint blocks) {
  FM_PORT(a)
  FM_PORT(lower)
  FM_PORT(panel)
  FM_SCALAR(panel_start)
  FM_SCALAR(row)
  FM_SCALAR(column)
  FM_SCALAR(columns)
  FM_SCALAR(blocks)
  FM_CONTROL
  REGISTER_BLOCKS(factor);
  load_block(factor, lower, BLOCK_SIZE);
  FM_SERIAL
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (size_t)row * columns + column + (size_t)step * BLOCK_SIZE;
    load_block(block, start, columns);
    solve_top(block, factor);
    store_block(block, start, columns);
    store_block(block, panel + (size_t)(panel_start + step) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
  }
}
#endif

// `count` blocks from number `first` on, counted row by row in the rectangle from block (row_begin,
// column_begin) with `width` blocks in a row; block (0, 0) is where the panels begin.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(inner)(FM_GLOBAL(inner, a) TILE_VALUE* restrict a,
                                   FM_GLOBAL(inner, left_panel) const TILE_VALUE* restrict left_panel,
                                   FM_GLOBAL(inner, top_panel) const TILE_VALUE* restrict top_panel,
                                   const uint left_start, const uint top_start, const uint row,
                                   const uint column, const uint columns, const uint row_begin,
                                   const uint column_begin, const uint width, const uint first,
                                   const uint count) {
  FM_PORT(a)
  FM_PORT(left_panel)
  FM_PORT(top_panel)
  FM_SCALAR(left_start)
  FM_SCALAR(top_start)
  FM_SCALAR(row)
  FM_SCALAR(column)
  FM_SCALAR(columns)
  FM_SCALAR(row_begin)
  FM_SCALAR(column_begin)
  FM_SCALAR(width)
  FM_SCALAR(first)
  FM_SCALAR(count)
  FM_CONTROL
  FM_SERIAL
  for (uint number = first; number < first + count; ++number) {
    const size_t i = row_begin + number / width;
    const size_t j = column_begin + number % width;
    update_block(a + (row + i * BLOCK_SIZE) * columns + column + j * BLOCK_SIZE, columns,
                 left_panel + (left_start + i) * BLOCK_SIZE * BLOCK_SIZE,
                 top_panel + (top_start + j) * BLOCK_SIZE * BLOCK_SIZE);
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
