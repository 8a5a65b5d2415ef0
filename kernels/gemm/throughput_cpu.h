// On a CPU: a and b are packed into the order in which they are read; a tile of TILE_ROWS rows of
// TILE_VECTORS vectors stays in registers over DEPTH_BLOCK steps. A work-item goes over ROW_TILES x
// COLUMN_TILES tiles, so that its part of a stays in the second-level cache and its slice of b in the first.
#define TILE_VALUE GEMM_VALUE
#define TILE_VALUE_BYTES GEMM_VALUE_BYTES
#define TILE_FMA GEMM_FMA
#include "common/tile_cpu.h"
#include "gemm/pack_rows.h"

// packed: [tile of rows][depth / WIDTH][TILE_ROWS][WIDTH]. Each work-item packs one tile of rows.
__kernel ONE_ITEM void pack_a(__global const GEMM_INPUT* restrict a, __global tile_vector* restrict packed,
                              const uint depth) {
  const size_t tile = get_global_id(0);
  const uint chunks = depth / WIDTH;
  __global tile_vector* to = packed + tile * chunks * TILE_ROWS;
  for (uint row = 0; row < TILE_ROWS; ++row) {
    __global const GEMM_INPUT* from = a + (tile * TILE_ROWS + row) * depth;
    for (uint i = 0; i < chunks; ++i) to[i * TILE_ROWS + row] = GEMM_LOAD_VECTOR(WIDTH, from, i * WIDTH);
  }
}

// packed: [tile of columns][depth][TILE_VECTORS]. Each work-item packs PACK_ROWS rows of b.
__kernel ONE_ITEM void pack_b(__global const GEMM_INPUT* restrict b, __global tile_vector* restrict packed,
                              const uint columns, const uint depth) {
  const uint start = (uint)get_global_id(0) * PACK_ROWS;
  const uint end = min(start + PACK_ROWS, depth);
  for (uint tile = 0; tile < columns / TILE_COLUMNS; ++tile) {
    for (uint k = start; k < end; ++k) {
      __global tile_vector* to = packed + ((size_t)tile * depth + k) * TILE_VECTORS;
      __global const GEMM_INPUT* from = b + (size_t)k * columns + tile * TILE_COLUMNS;
      FM_UNROLL_FULLY
      for (uint v = 0; v < TILE_VECTORS; ++v) to[v] = GEMM_LOAD_VECTOR(WIDTH, from, v * WIDTH);
    }
  }
}

// One tile of the result over `chunks` * WIDTH steps of the depth. Between blocks of the depth, result holds
// the plain sums.
static inline void multiply_tile(__global const GEMM_VALUE* restrict a,
                                 __global const tile_vector* restrict b,
                                 __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result,
                                 const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const size_t columns,
                                 const uint chunks, const bool is_first, const bool is_last) {
  tile_vector sum[TILE_ROWS][TILE_VECTORS];
  FM_UNROLL_FULLY
  for (uint i = 0; i < TILE_ROWS; ++i) {
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) {
      sum[i][v] = (tile_vector)0;
      if (!is_first) sum[i][v] = *(__global tile_vector*)(result + i * columns + v * WIDTH);
    }
  }
  add_products(sum, a, b, chunks);
  FM_UNROLL_FULLY
  for (uint i = 0; i < TILE_ROWS; ++i) {
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) {
      const size_t place = i * columns + v * WIDTH;
      tile_vector value = sum[i][v];
      if (is_last) value = GEMM_RESULT(value, *(__global const tile_vector*)(c + place));
      *(__global tile_vector*)(result + place) = value;
    }
  }
}

__kernel ONE_ITEM void multiply(__global const GEMM_VALUE* restrict a, __global const tile_vector* restrict b,
                                __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result,
                                const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const uint rows,
                                const uint columns, const uint depth) {
  const uint row_tiles = rows / TILE_ROWS;
  const uint column_tiles = columns / TILE_COLUMNS;
  const uint blocks = (column_tiles + COLUMN_TILES - 1) / COLUMN_TILES;
  const uint row_start = (uint)get_global_id(0) / blocks * ROW_TILES;
  const uint column_start = (uint)get_global_id(0) % blocks * COLUMN_TILES;
  const uint row_end = min(row_start + ROW_TILES, row_tiles);
  const uint column_end = min(column_start + COLUMN_TILES, column_tiles);
  for (uint k = 0; k < depth; k += DEPTH_BLOCK) {
    const uint steps = min((uint)DEPTH_BLOCK, depth - k);
    for (uint column = column_start; column < column_end; ++column) {
      for (uint row = row_start; row < row_end; ++row) {
        const size_t place = (size_t)row * TILE_ROWS * columns + column * TILE_COLUMNS;
        multiply_tile(a + ((size_t)row * depth + k) * TILE_ROWS,
                      b + ((size_t)column * depth + k) * TILE_VECTORS, c + place, result + place, alpha, beta,
                      columns, steps / WIDTH, k == 0, k + steps == depth);
      }
    }
  }
}
