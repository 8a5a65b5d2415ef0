// On a CPU, as in Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): a and b are
// packed into the order in which they are read; a tile of TILE_ROWS rows of TILE_VECTORS vectors stays in
// registers over DEPTH_BLOCK steps. A work-item goes over ROW_TILES x COLUMN_TILES tiles, so that its part of a
// stays in the second-level cache and its slice of b in the first.
#if GEMM_TYPE == GEMM_TYPE_double
#define WIDTH_16 2
#define WIDTH_32 4
#define WIDTH_64 8
#elif GEMM_TYPE == GEMM_TYPE_half
#define WIDTH_16 8
#define WIDTH_32 16
#define WIDTH_64 16  // OpenCL has no longer vectors
#else
#define WIDTH_16 4
#define WIDTH_32 8
#define WIDTH_64 16
#endif
#define WIDTH FM_PASTE(WIDTH_, VECTOR_BYTES)
#define TILE_COLUMNS (TILE_VECTORS * WIDTH)
#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))

typedef FM_VECTOR(GEMM_VALUE, WIDTH) gemm_vector;

// packed: [tile of rows][depth / WIDTH][TILE_ROWS][WIDTH]. Each work-item packs one tile of rows.
ONE_ITEM __kernel void pack_a(__global const GEMM_INPUT* restrict a, __global gemm_vector* restrict packed,
                              const uint depth) {
  const size_t tile = get_global_id(0);
  const uint chunks = depth / WIDTH;
  __global gemm_vector* to = packed + tile * chunks * TILE_ROWS;
  for (uint row = 0; row < TILE_ROWS; ++row) {
    __global const GEMM_INPUT* from = a + (tile * TILE_ROWS + row) * depth;
    for (uint i = 0; i < chunks; ++i) to[i * TILE_ROWS + row] = GEMM_LOAD_VECTOR(WIDTH, from, i * WIDTH);
  }
}

// packed: [tile of columns][depth][TILE_VECTORS]. Each work-item packs PACK_ROWS rows of b: so few that all their
// pages are known to the processor.
#define PACK_ROWS 64
ONE_ITEM __kernel void pack_b(__global const GEMM_INPUT* restrict b, __global gemm_vector* restrict packed,
                              const uint columns, const uint depth) {
  const uint start = (uint)get_global_id(0) * PACK_ROWS;
  const uint end = min(start + PACK_ROWS, depth);
  for (uint tile = 0; tile < columns / TILE_COLUMNS; ++tile) {
    for (uint k = start; k < end; ++k) {
      __global gemm_vector* to = packed + ((size_t)tile * depth + k) * TILE_VECTORS;
      __global const GEMM_INPUT* from = b + (size_t)k * columns + tile * TILE_COLUMNS;
      FM_UNROLL_FULLY
      for (uint v = 0; v < TILE_VECTORS; ++v) to[v] = GEMM_LOAD_VECTOR(WIDTH, from, v * WIDTH);
    }
  }
}

// One tile of the result over `chunks` * WIDTH steps of the depth. Between blocks of the depth, result holds the
// plain sums.
inline void multiply_tile(__global const GEMM_VALUE* restrict a, __global const gemm_vector* restrict b,
                          __global const GEMM_VALUE* restrict c, __global GEMM_VALUE* restrict result,
                          const GEMM_SCALAR alpha, const GEMM_SCALAR beta, const size_t columns,
                          const uint chunks, const bool is_first, const bool is_last) {
  gemm_vector sum[TILE_ROWS][TILE_VECTORS];
  FM_UNROLL_FULLY
  for (uint i = 0; i < TILE_ROWS; ++i) {
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) {
      sum[i][v] = (gemm_vector)0;
      if (!is_first) sum[i][v] = *(__global gemm_vector*)(result + i * columns + v * WIDTH);
    }
  }
  for (uint chunk = 0; chunk < chunks; ++chunk) {
    FM_UNROLL_FULLY
    for (uint k = 0; k < WIDTH; ++k) {
      gemm_vector right[TILE_VECTORS];
      FM_UNROLL_FULLY
      for (uint v = 0; v < TILE_VECTORS; ++v) right[v] = b[k * TILE_VECTORS + v];
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        const gemm_vector left = (gemm_vector)a[i * WIDTH + k];
        FM_UNROLL_FULLY
        for (uint v = 0; v < TILE_VECTORS; ++v) sum[i][v] = GEMM_FMA(left, right[v], sum[i][v]);
      }
    }
    a += TILE_ROWS * WIDTH;
    b += WIDTH * TILE_VECTORS;
  }
  FM_UNROLL_FULLY
  for (uint i = 0; i < TILE_ROWS; ++i) {
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) {
      const size_t place = i * columns + v * WIDTH;
      gemm_vector value = sum[i][v];
      if (is_last) value = GEMM_RESULT(value, *(__global const gemm_vector*)(c + place));
      *(__global gemm_vector*)(result + place) = value;
    }
  }
}

ONE_ITEM __kernel void multiply(__global const GEMM_VALUE* restrict a, __global const gemm_vector* restrict b,
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
        multiply_tile(a + ((size_t)row * depth + k) * TILE_ROWS, b + ((size_t)column * depth + k) * TILE_VECTORS,
                      c + place, result + place, alpha, beta, columns, steps / WIDTH, k == 0,
                      k + steps == depth);
      }
    }
  }
}
