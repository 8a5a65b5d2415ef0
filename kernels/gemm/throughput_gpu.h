// On a GPU: a work-group computes a block of the result from parts of a and b in local memory.
#define TILE_VALUE GEMM_VALUE
#define TILE_INPUT GEMM_INPUT
#define TILE_LOAD GEMM_LOAD
#define TILE_FMA GEMM_FMA
#include "common/tile_gpu.h"

ONE_GROUP __kernel void multiply(__global const GEMM_INPUT* restrict a, __global const GEMM_INPUT* restrict b,
                                 __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result,
                                 const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const uint rows,
                                 const uint columns, const uint depth) {
  TILE_LOCAL;
  const uint blocks = columns / BLOCK_COLUMNS;
  const size_t row_start = get_group_id(0) / blocks * BLOCK_ROWS;
  const size_t column_start = get_group_id(0) % blocks * BLOCK_COLUMNS;
  GEMM_VALUE sum[TILE_ROWS][TILE_VECTORS];
  clear(sum);
  add_products(sum, left_part, right_part, a + row_start * depth, depth, b + column_start, columns, depth);
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) {
      const size_t place = (row_start + TILE_ROW(i)) * columns + column_start + TILE_COLUMN(j);
      result[place] = GEMM_RESULT(sum[i][j], c[place]);
    }
  }
}
