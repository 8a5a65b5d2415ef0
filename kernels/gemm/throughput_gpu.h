// On a GPU: a work-group computes a block of the result from parts of a and b in local memory.
#define TILE_VALUE GEMM_VALUE
#define TILE_VALUE_BYTES GEMM_VALUE_BYTES
#define TILE_INPUT GEMM_INPUT
#define TILE_FMA GEMM_FMA
#if GEMM_TYPE == GEMM_TYPE_mixed
#define TILE_LOAD GEMM_LOAD_VECTOR
#else
#define TILE_LOAD TILE_IN_PLACE
#endif
#if GEMM_TYPE == GEMM_TYPE_mixed || GEMM_TYPE == GEMM_TYPE_double
#define TILE_MATRIX_UNITS MATRIX_UNITS
#else
#define TILE_MATRIX_UNITS 0
#endif
#include "common/tile_gpu.h"

__kernel ONE_GROUP void multiply(__global const GEMM_INPUT* restrict a, __global const GEMM_INPUT* restrict b,
                                 __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result,
                                 const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const uint rows,
                                 const uint columns, const uint depth) {
  TILE_LOCAL;
  const uint blocks = columns / BLOCK_COLUMNS;
  const size_t row_start = get_group_id(0) / blocks * BLOCK_ROWS;
  const size_t column_start = get_group_id(0) % blocks * BLOCK_COLUMNS;
  GEMM_VALUE sum[SUM_ROWS][SUM_COLUMNS];
  clear(sum);
  add_products(sum, TILE_MEMORY, a + row_start * depth, depth, b + column_start, columns, depth);
  FM_UNROLL_ON_GPU
  for (uint i = 0; i < SUM_ROWS; ++i) {
    FM_UNROLL_ON_GPU
    for (uint j = 0; j < SUM_COLUMNS; ++j) {
      const size_t place = (row_start + SUM_ROW(i)) * columns + column_start + SUM_COLUMN(j);
      result[place] = GEMM_RESULT(sum[i][j], c[place]);
    }
  }
}
