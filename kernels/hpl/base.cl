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
// multiplies register blocks fully unrolled in three dimensions, the others in two. What lu hands to left and
// top are U_kk and L_kk with their register blocks on the diagonal inverted, so that these only multiply.
#include "common/dialect.h"
#include "hpl/types.h"

#define BLOCKS (BLOCK_SIZE / REGISTER_BLOCK)
#define REGISTER_SIZE REGISTER_BLOCK
#include "common/register_block.h"
#include "hpl/block_steps.h"

#if FM_REPLICA == 0  // of these there is one each
FM_SINGLE_WORK_ITEM
__kernel void lu(__global TILE_VALUE* restrict a, __global TILE_VALUE* restrict lower,
                 __global TILE_VALUE* restrict upper, const uint row, const uint column, const uint columns) {
  REGISTER_BLOCKS(block);
  TILE_VALUE lower_inverse[BLOCKS][REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)));
  TILE_VALUE upper_inverse[BLOCKS][REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)));
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  load_block(block, start, columns);
  for (uint k = 0; k < BLOCKS; ++k) {
    factorize(block[k][k]);
    invert(block[k][k], lower_inverse[k], upper_inverse[k]);
    for (uint i = k + 1; i < BLOCKS; ++i) multiply(block[i][k], block[i][k], upper_inverse[k]);
    for (uint j = k + 1; j < BLOCKS; ++j) multiply(block[k][j], lower_inverse[k], block[k][j]);
    for (uint i = k + 1; i < BLOCKS; ++i) {
      for (uint j = k + 1; j < BLOCKS; ++j) multiply_subtract(block[i][j], block[i][k], block[k][j]);
    }
  }
  store_block(block, start, columns);
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint c = 0; c < BLOCK_SIZE; ++c) {
      const uint i = r / REGISTER_SIZE;
      const uint j = c / REGISTER_SIZE;
      const TILE_VALUE value = block[i][j][r % REGISTER_SIZE][c % REGISTER_SIZE];
      lower[r * BLOCK_SIZE + c] = i == j ? lower_inverse[i][r % REGISTER_SIZE][c % REGISTER_SIZE] : value;
      upper[r * BLOCK_SIZE + c] = i == j ? upper_inverse[i][r % REGISTER_SIZE][c % REGISTER_SIZE] : value;
    }
  }
}

// `blocks` blocks below each other. The panels hold their blocks one behind the other, `panel_start` blocks
// are before them.
FM_SINGLE_WORK_ITEM
__kernel void left(__global TILE_VALUE* restrict a, __global const TILE_VALUE* restrict upper,
                   __global TILE_VALUE* restrict panel, const uint panel_start, const uint row,
                   const uint column, const uint columns, const uint blocks) {
  REGISTER_BLOCKS(factor);
  load_block(factor, upper, BLOCK_SIZE);
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (row + (size_t)step * BLOCK_SIZE) * columns + column;
    load_block(block, start, columns);
    for (uint k = 0; k < BLOCKS; ++k) {
      for (uint i = 0; i < BLOCKS; ++i) multiply(block[i][k], block[i][k], factor[k][k]);
      for (uint j = k + 1; j < BLOCKS; ++j) {
        for (uint i = 0; i < BLOCKS; ++i) multiply_subtract(block[i][j], block[i][k], factor[k][j]);
      }
    }
    store_block(block, start, columns);
    store_block(block, panel + (size_t)(panel_start + step) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
  }
}

// `blocks` blocks beside each other.
FM_SINGLE_WORK_ITEM
__kernel void top(__global TILE_VALUE* restrict a, __global const TILE_VALUE* restrict lower,
                  __global TILE_VALUE* restrict panel, const uint panel_start, const uint row,
                  const uint column, const uint columns, const uint blocks) {
  REGISTER_BLOCKS(factor);
  load_block(factor, lower, BLOCK_SIZE);
  for (uint step = 0; step < blocks; ++step) {
    REGISTER_BLOCKS(block);
    __global TILE_VALUE* start = a + (size_t)row * columns + column + (size_t)step * BLOCK_SIZE;
    load_block(block, start, columns);
    for (uint k = 0; k < BLOCKS; ++k) {
      for (uint j = 0; j < BLOCKS; ++j) multiply(block[k][j], factor[k][k], block[k][j]);
      for (uint i = k + 1; i < BLOCKS; ++i) {
        for (uint j = 0; j < BLOCKS; ++j) multiply_subtract(block[i][j], factor[i][k], block[k][j]);
      }
    }
    store_block(block, start, columns);
    store_block(block, panel + (size_t)(panel_start + step) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
  }
}
#endif

// `count` blocks from number `first` on, counted row by row in the rectangle from block (row_begin,
// column_begin) with `width` blocks in a row; block (0, 0) is where the panels begin.
FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(inner)(__global TILE_VALUE* restrict a,
                                   __global const TILE_VALUE* restrict left_panel,
                                   __global const TILE_VALUE* restrict top_panel, const uint left_start,
                                   const uint top_start, const uint row, const uint column,
                                   const uint columns, const uint row_begin, const uint column_begin,
                                   const uint width, const uint first, const uint count) {
  for (uint number = first; number < first + count; ++number) {
    REGISTER_BLOCKS(left_block);
    REGISTER_BLOCKS(top_block);
    REGISTER_BLOCKS(product);
    const size_t i = row_begin + number / width;
    const size_t j = column_begin + number % width;
    load_block(left_block, left_panel + (left_start + i) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
    load_block(top_block, top_panel + (top_start + j) * BLOCK_SIZE * BLOCK_SIZE, BLOCK_SIZE);
    for (uint k = 0; k < BLOCKS; ++k) {
      for (uint r = 0; r < BLOCKS; ++r) {
        FM_PIPELINE
        for (uint c = 0; c < BLOCKS; ++c) {
          multiply_add(product[r][c], left_block[r][k], top_block[k][c], k == 0);
        }
      }
    }
    __global TILE_VALUE* start = a + (row + i * BLOCK_SIZE) * columns + column + j * BLOCK_SIZE;
    for (uint r = 0; r < BLOCK_SIZE; ++r) {
      FM_PIPELINE
      for (uint c = 0; c < BLOCK_SIZE; c += REGISTER_SIZE) {
        FM_UNROLL_FULLY
        for (uint x = 0; x < REGISTER_SIZE; ++x) {
          start[(size_t)r * columns + c + x] -=
              product[r / REGISTER_SIZE][c / REGISTER_SIZE][r % REGISTER_SIZE][x];
        }
      }
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
