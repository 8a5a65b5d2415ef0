// From here on products are of halves, by matrix units, with sums of floats: the panels of mixed precision.
// What came before keeps the products of floats that common/tile_gpu.h has for it.
#ifndef FABRICMARK_HPL_INNER_HALVES_H
#define FABRICMARK_HPL_INNER_HALVES_H

#undef TILE_INPUT
#undef TILE_LOCAL
#undef TILE_LOCAL_VALUES
#undef TILE_MEMORY
#undef TILE_DEPTH
#undef SUM_ROWS
#undef SUM_COLUMNS
#undef SUM_ROW
#undef SUM_COLUMN
#define TILE_INPUT half
#define TILE_DEPTH BLOCK_SIZE
#define TILE_MOST_DEPTH BLOCK_SIZE
#define multiply_part multiply_part_of_halves
#define add_products add_products_of_halves
#define clear clear_sums_of_halves
#if MATRIX_UNITS > 90
#include "common/tile_warp_groups.h"
#else
#include "common/tile_matrix_units.h"
#endif

static inline void clear(TILE_VALUE sum[SUM_ROWS][SUM_COLUMNS]) {
  FM_PRAGMA(unroll)
  for (uint i = 0; i < SUM_ROWS; ++i) {
    FM_PRAGMA(unroll)
    for (uint j = 0; j < SUM_COLUMNS; ++j) sum[i][j] = 0;
  }
}

#endif
