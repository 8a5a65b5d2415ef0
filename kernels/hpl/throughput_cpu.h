// On a CPU: the inverses and the panels are packed in the order in which the tile in registers reads them, so
// that left and top, which make them, do for all ranks what a multiplication would begin with.
//   lower, left panel:  [tile of rows][BLOCK_SIZE / WIDTH][TILE_ROWS][WIDTH]
//   upper, top panel:   [tile of columns][BLOCK_SIZE][TILE_VECTORS][WIDTH]
// BLOCK_SIZE need not be a multiple of TILE_ROWS: a panel's last tile goes on into the rows after the matrix,
// which the host adds.
#include "common/tile_cpu.h"
#include "hpl/panel_tiles.h"

#define CHUNKS (BLOCK_SIZE / WIDTH)  // vectors of a row of a block
#define COLUMN_TILES_OF_BLOCK (BLOCK_SIZE / TILE_COLUMNS)
#define ROW_TILES_OF_BLOCK ((BLOCK_SIZE + TILE_ROWS - 1) / TILE_ROWS)

#define LOWER_ROW(row) (lower + (row) / TILE_ROWS * CHUNKS * TILE_ROWS + (row) % TILE_ROWS)
#define LOWER(row, chunk) LOWER_ROW(row)[(chunk)*TILE_ROWS]
#define UPPER(row, chunk) \
  upper[((chunk) / TILE_VECTORS * BLOCK_SIZE + (row)) * TILE_VECTORS + (chunk) % TILE_VECTORS]

#if HPL_TYPE == HPL_TYPE_mixed
#define IN_PANEL(value) rounded_to_half(value)
static inline tile_vector rounded_to_half(const tile_vector value) {
  ushort bits[WIDTH];
  FM_PASTE(FM_PASTE(vstore_half, WIDTH), _rte)(value, 0, (half*)bits);
  return FM_PASTE(vload_half, WIDTH)(0, (const half*)bits);
}
#else
#define IN_PANEL(value) (value)
#endif

static inline void clear(tile_vector sum[TILE_ROWS][TILE_VECTORS]) {
  FM_UNROLL_FULLY
  for (uint i = 0; i < TILE_ROWS; ++i) {
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) sum[i][v] = (tile_vector)0;
  }
}

// block = L U in place, row by row without gaps.
static void factorize(__global tile_vector* block) {
  __global TILE_VALUE* values = (__global TILE_VALUE*)block;
  TILE_VALUE keep[2 * WIDTH];  // zeros, then ones: from a suitable place on, it blanks the first elements
  for (uint i = 0; i < 2 * WIDTH; ++i) keep[i] = i < WIDTH ? 0 : 1;
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    const uint first = k / WIDTH;
    const tile_vector right_of_pivot = FM_PASTE(vload, WIDTH)(0, keep + WIDTH - 1 - k % WIDTH);
    const tile_vector pivot_row = block[k * CHUNKS + first] * right_of_pivot;
    const TILE_VALUE pivot = values[k * BLOCK_SIZE + k];
    for (uint row = k + 1; row < BLOCK_SIZE; ++row) {
      const TILE_VALUE factor = values[row * BLOCK_SIZE + k] / pivot;
      const tile_vector minus = (tile_vector)-factor;
      block[row * CHUNKS + first] = TILE_FMA(minus, pivot_row, block[row * CHUNKS + first]);
      for (uint c = first + 1; c < CHUNKS; ++c) {
        block[row * CHUNKS + c] = TILE_FMA(minus, block[k * CHUNKS + c], block[row * CHUNKS + c]);
      }
      values[row * BLOCK_SIZE + k] = factor;
    }
  }
}

// lower = L^-1, packed, by forward substitution in the rows of the unit matrix.
static void invert_lower(__global const TILE_VALUE* block, __global tile_vector* lower) {
  for (uint row = 0; row < ROW_TILES_OF_BLOCK * TILE_ROWS; ++row) {
    for (uint c = 0; c < CHUNKS; ++c) LOWER(row, c) = (tile_vector)0;
    if (row >= BLOCK_SIZE) continue;
    ((__global TILE_VALUE*)&LOWER(row, row / WIDTH))[row % WIDTH] = 1;
    for (uint k = 0; k < row; ++k) {
      const tile_vector minus = (tile_vector)-block[row * BLOCK_SIZE + k];
      __global const tile_vector* from = LOWER_ROW(k);
      __global tile_vector* to = LOWER_ROW(row);
      for (uint c = 0; c <= k / WIDTH; ++c) {
        to[c * TILE_ROWS] = TILE_FMA(minus, from[c * TILE_ROWS], to[c * TILE_ROWS]);
      }
    }
  }
}

// upper = U^-1, packed, by backward substitution in the rows of the unit matrix.
static void invert_upper(__global const TILE_VALUE* block, __global tile_vector* upper) {
  for (uint row = BLOCK_SIZE; row-- > 0;) {
    for (uint c = 0; c < CHUNKS; ++c) UPPER(row, c) = (tile_vector)0;
    ((__global TILE_VALUE*)&UPPER(row, row / WIDTH))[row % WIDTH] = 1;
    for (uint k = row + 1; k < BLOCK_SIZE; ++k) {
      const tile_vector minus = (tile_vector)-block[row * BLOCK_SIZE + k];
      for (uint c = k / WIDTH; c < CHUNKS; ++c) UPPER(row, c) = TILE_FMA(minus, UPPER(k, c), UPPER(row, c));
    }
    const tile_vector reciprocal = (tile_vector)(1 / block[row * BLOCK_SIZE + row]);
    for (uint c = row / WIDTH; c < CHUNKS; ++c) UPPER(row, c) *= reciprocal;
  }
}

// One work-item. `block`: room for a block in one piece, where rows do not push each other out of the cache.
__kernel ONE_ITEM void lu(__global TILE_VALUE* restrict a, const uint row, const uint column,
                          const uint columns, __global tile_vector* restrict block) {
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    __global const tile_vector* from = (__global const tile_vector*)(start + (size_t)r * columns);
    for (uint c = 0; c < CHUNKS; ++c) block[r * CHUNKS + c] = from[c];
  }
  factorize(block);
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    __global tile_vector* to = (__global tile_vector*)(start + (size_t)r * columns);
    for (uint c = 0; c < CHUNKS; ++c) to[c] = block[r * CHUNKS + c];
  }
}

// The inverses of L and U, which lu left in `block`: two of the work-items make one each.
__kernel ONE_ITEM void invert(__global const TILE_VALUE* restrict block, __global tile_vector* restrict lower,
                              __global tile_vector* restrict upper) {
  if (get_global_id(0) == 0) invert_lower(block, lower);
  if (get_global_id(0) == 1 || get_global_size(0) == 1) invert_upper(block, upper);
}

// Each work-item updates PANEL_TILES tiles of rows. The product is formed in the panel, in place and from
// right to left: a column of it needs only those of A on its left and itself, because the inverse is
// triangular.
__kernel ONE_ITEM void left(__global TILE_VALUE* restrict a, __global const tile_vector* restrict upper,
                            __global tile_vector* panel, const uint panel_start, const uint row,
                            const uint column, const uint columns, const uint tiles) {
  const uint begin = (uint)get_global_id(0) * PANEL_TILES;
  const uint end = min(begin + PANEL_TILES, tiles);
  __global tile_vector* packed = panel + panel_start;
  __global TILE_VALUE* start = a + (size_t)row * columns + column;
  for (uint tile = begin; tile < end; ++tile) {
    __global tile_vector* to = packed + (size_t)tile * CHUNKS * TILE_ROWS;
    for (uint i = 0; i < TILE_ROWS; ++i) {
      __global const tile_vector* from =
          (__global const tile_vector*)(start + ((size_t)tile * TILE_ROWS + i) * columns);
      for (uint c = 0; c < CHUNKS; ++c) to[c * TILE_ROWS + i] = from[c];
    }
  }
  for (uint j = COLUMN_TILES_OF_BLOCK; j-- > 0;) {
    for (uint tile = begin; tile < end; ++tile) {
      __global tile_vector* own = packed + (size_t)tile * CHUNKS * TILE_ROWS;
      __global TILE_VALUE* result = start + (size_t)tile * TILE_ROWS * columns + j * TILE_COLUMNS;
      tile_vector sum[TILE_ROWS][TILE_VECTORS];
      clear(sum);
      add_products(sum, (__global const TILE_VALUE*)own, upper + j * BLOCK_SIZE * TILE_VECTORS,
                   (j + 1) * TILE_VECTORS);
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        FM_UNROLL_FULLY
        for (uint v = 0; v < TILE_VECTORS; ++v) {
          own[(j * TILE_VECTORS + v) * TILE_ROWS + i] = IN_PANEL(SCALE_LEFT(sum[i][v]));
          *(__global tile_vector*)(result + (size_t)i * columns + v * WIDTH) = sum[i][v];
        }
      }
    }
  }
}

// Each work-item updates one tile of columns: in the panel, in place and from the bottom up.
__kernel ONE_ITEM void top(__global TILE_VALUE* restrict a, __global const tile_vector* restrict lower,
                           __global tile_vector* panel, const uint panel_start, const uint row,
                           const uint column, const uint columns) {
  const size_t tile = get_global_id(0);
  __global tile_vector* own = panel + panel_start + tile * BLOCK_SIZE * TILE_VECTORS;
  __global TILE_VALUE* start = a + (size_t)row * columns + column + tile * TILE_COLUMNS;
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    __global const tile_vector* from = (__global const tile_vector*)(start + (size_t)k * columns);
    FM_UNROLL_FULLY
    for (uint v = 0; v < TILE_VECTORS; ++v) own[k * TILE_VECTORS + v] = from[v];
  }
  for (uint j = ROW_TILES_OF_BLOCK; j-- > 0;) {
    const uint depth = min((uint)CHUNKS, ((j + 1) * TILE_ROWS + WIDTH - 1) / WIDTH);
    tile_vector sum[TILE_ROWS][TILE_VECTORS];
    clear(sum);
    add_products(sum, (__global const TILE_VALUE*)(lower + j * CHUNKS * TILE_ROWS), own, depth);
    FM_UNROLL_FULLY
    for (uint i = 0; i < TILE_ROWS; ++i) {
      const uint r = j * TILE_ROWS + i;
      if (r >= BLOCK_SIZE) continue;
      FM_UNROLL_FULLY
      for (uint v = 0; v < TILE_VECTORS; ++v) {
        own[r * TILE_VECTORS + v] = IN_PANEL(sum[i][v]);
        *(__global tile_vector*)(start + (size_t)r * columns + v * WIDTH) = sum[i][v];
      }
    }
  }
}

// Work-items of ROW_TILES x COLUMN_TILES tiles, counted from `first` row by row in the rectangle of the tiles
// from `row_begin` and `column_begin` up to `row_end` and `column_end`; tile (0, 0) is where the panels
// begin.
__kernel ONE_ITEM void inner(__global TILE_VALUE* restrict a, __global const tile_vector* restrict left_panel,
                             __global const tile_vector* restrict top_panel, const uint left_start,
                             const uint top_start, const uint row, const uint column, const uint columns,
                             const uint row_begin, const uint row_end, const uint column_begin,
                             const uint column_end, const uint first) {
  const uint blocks = (column_end - column_begin + COLUMN_TILES - 1) / COLUMN_TILES;
  const uint item = first + (uint)get_global_id(0);
  const uint row_start = row_begin + item / blocks * ROW_TILES;
  const uint column_start = column_begin + item % blocks * COLUMN_TILES;
  const uint row_stop = min(row_start + ROW_TILES, row_end);
  const uint column_stop = min(column_start + COLUMN_TILES, column_end);
  for (uint c = column_start; c < column_stop; ++c) {
    __global const tile_vector* right = top_panel + top_start + (size_t)c * BLOCK_SIZE * TILE_VECTORS;
    for (uint r = row_start; r < row_stop; ++r) {
      __global const tile_vector* left = left_panel + left_start + (size_t)r * CHUNKS * TILE_ROWS;
      __global TILE_VALUE* result = a + (row + (size_t)r * TILE_ROWS) * columns + column + c * TILE_COLUMNS;
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        FM_UNROLL_FULLY
        for (uint v = 0; v < TILE_VECTORS; ++v) FM_PREFETCH(result[(size_t)i * columns + v * WIDTH]);
      }
      tile_vector sum[TILE_ROWS][TILE_VECTORS];
      clear(sum);
      add_products(sum, (__global const TILE_VALUE*)left, right, CHUNKS);
      FM_UNROLL_FULLY
      for (uint i = 0; i < TILE_ROWS; ++i) {
        FM_UNROLL_FULLY
        for (uint v = 0; v < TILE_VECTORS; ++v) {
          __global tile_vector* place = (__global tile_vector*)(result + (size_t)i * columns + v * WIDTH);
          *place -= UNSCALE_LEFT(sum[i][v]);
        }
      }
    }
  }
}
