// On a GPU: a work-group of GROUP_SIDE x GROUP_SIDE work-items computes a block of the result, TILE_ROWS x
// TILE_VECTORS elements each, from DEPTH_BLOCK columns of a and rows of b at a time in local memory.
#define BLOCK_ROWS (GROUP_SIDE * TILE_ROWS)
#define BLOCK_COLUMNS (GROUP_SIDE * TILE_VECTORS)
#define GROUP_ITEMS (GROUP_SIDE * GROUP_SIDE)

__attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1))) __kernel void multiply(
    __global const GEMM_INPUT* restrict a, __global const GEMM_INPUT* restrict b,
    __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result, const GEMM_SCALAR alpha,
    const GEMM_SCALAR beta, const uint rows, const uint columns, const uint depth) {
  __local GEMM_VALUE left[DEPTH_BLOCK][BLOCK_ROWS + 1];  // one more, so that a column is in different banks
  __local GEMM_VALUE right[DEPTH_BLOCK][BLOCK_COLUMNS];
  const uint item = (uint)get_local_id(0);
  const uint x = item % GROUP_SIDE;
  const uint y = item / GROUP_SIDE;
  const uint blocks = columns / BLOCK_COLUMNS;
  const size_t row_start = get_group_id(0) / blocks * BLOCK_ROWS;
  const size_t column_start = get_group_id(0) % blocks * BLOCK_COLUMNS;
  GEMM_VALUE sum[TILE_ROWS][TILE_VECTORS];
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = 0;
  }
  for (uint start = 0; start < depth; start += DEPTH_BLOCK) {
    for (uint i = item; i < BLOCK_ROWS * DEPTH_BLOCK; i += GROUP_ITEMS) {
      const uint row = i / DEPTH_BLOCK;
      const uint k = i % DEPTH_BLOCK;
      left[k][row] = GEMM_LOAD(a, (row_start + row) * depth + start + k);
    }
    for (uint i = item; i < BLOCK_COLUMNS * DEPTH_BLOCK; i += GROUP_ITEMS) {
      const uint k = i / BLOCK_COLUMNS;
      const uint column = i % BLOCK_COLUMNS;
      right[k][column] = GEMM_LOAD(b, (size_t)(start + k) * columns + column_start + column);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < DEPTH_BLOCK; ++k) {
      GEMM_VALUE factor[TILE_VECTORS];
      FM_UNROLL_FULLY
      for (uint j = 0; j < TILE_VECTORS; ++j) factor[j] = right[k][j * GROUP_SIDE + x];
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        const GEMM_VALUE value = left[k][i * GROUP_SIDE + y];
        FM_UNROLL_FULLY
        for (uint j = 0; j < TILE_VECTORS; ++j) sum[i][j] = GEMM_FMA(value, factor[j], sum[i][j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = 0; i < TILE_ROWS; ++i) {
    for (uint j = 0; j < TILE_VECTORS; ++j) {
      const size_t place =
          (row_start + i * GROUP_SIDE + y) * columns + column_start + j * GROUP_SIDE + x;
      result[place] = GEMM_RESULT(sum[i][j], c[place]);
    }
  }
}
