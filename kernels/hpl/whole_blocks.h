// What the single work-item kernels do with whole blocks, alone and over channels.
//
// The kernels of the communication phase are sums of rank-1 updates: column k of a factor times its row k is
// subtracted from all register blocks that they reach, one a cycle. A register block comes again in the next
// update only, so that no sum waits for itself. A CPU, which would move the whole block through its caches
// for each k, takes as many k at a time as a register block has.
#ifndef FABRICMARK_HPL_WHOLE_BLOCKS_H
#define FABRICMARK_HPL_WHOLE_BLOCKS_H

#include "hpl/block_steps.h"

#if defined(FM_CPU)
#include "hpl/whole_blocks_cpu.h"
#else

// What is known of the diagonal of a factorised block beside it: the reciprocals of U's.
#define DIAGONAL(name) TILE_VALUE name[BLOCK_SIZE]

// A column or row of a block, all elements of a register block at a time.
#if defined(FM_HLS_CPP)
#define BLOCK_LINE(name)                  \
  TILE_VALUE name[BLOCKS][REGISTER_SIZE]; \
  FM_HLS(array_partition variable = name complete dim = 2)
#else
#define BLOCK_LINE(name) \
  TILE_VALUE name[BLOCKS][REGISTER_SIZE] FM_PARTITION(2) FM_BANKS(1, REGISTER_SIZE* TILE_VALUE_BYTES)
#endif

// Element x of register block j in row r of the factors that lu hands to top and to left: L, of which only
// what is below the diagonal is read, and U with the reciprocals of its diagonal.
static inline TILE_VALUE lower_factor(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      TILE_VALUE diagonal[BLOCK_SIZE], const uint r, const uint j,
                                      const uint x) {
  return block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x];
}

static inline TILE_VALUE upper_factor(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      TILE_VALUE diagonal[BLOCK_SIZE], const uint r, const uint j,
                                      const uint x) {
  const TILE_VALUE element = block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x];
  const TILE_VALUE reciprocal = diagonal[r];
  return j * REGISTER_SIZE + x == r ? reciprocal : element;
}

// An element of a register block where only one of its places is known when the tool asks which memory it is
// in: all that it may be are read, each from a memory of its own.
static inline TILE_VALUE in_row(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE], const uint within,
                                const uint y) {
  TILE_VALUE element = block[0][y];
  FM_UNROLL_FULLY
  for (uint x = 1; x < REGISTER_SIZE; ++x) {
    FM_HLS(unroll)
    element = x == within ? block[x][y] : element;
  }
  return element;
}

static inline TILE_VALUE in_column(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE], const uint x,
                                   const uint within) {
  TILE_VALUE element = block[x][0];
  FM_UNROLL_FULLY
  for (uint y = 1; y < REGISTER_SIZE; ++y) {
    FM_HLS(unroll)
    element = y == within ? block[x][y] : element;
  }
  return element;
}

static inline void set_in_column(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE], const uint x,
                                 const uint within, const TILE_VALUE element) {
  FM_UNROLL_FULLY
  for (uint y = 0; y < REGISTER_SIZE; ++y) {
    FM_HLS(unroll)
    const TILE_VALUE before = block[x][y];
    block[x][y] = y == within ? element : before;
  }
}

// A register block -= column row.
static inline void subtract_product(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE],
                                    TILE_VALUE column[REGISTER_SIZE], TILE_VALUE row[REGISTER_SIZE]) {
  FM_UNROLL_FULLY
  for (uint x = 0; x < REGISTER_SIZE; ++x) {
    FM_HLS(unroll)
    FM_UNROLL_FULLY
    for (uint y = 0; y < REGISTER_SIZE; ++y) {
      FM_HLS(unroll)
      block[x][y] -= column[x] * row[y];
    }
  }
}

// A block = L U in place, and the reciprocals of U's diagonal.
static inline void factorize_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                   TILE_VALUE diagonal[BLOCK_SIZE]) {
  BLOCK_LINE(column);
  BLOCK_LINE(row);
  FM_SERIAL
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    const uint first = k / REGISTER_SIZE;
    const uint within = k % REGISTER_SIZE;
    TILE_VALUE pivot = 1;
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint y = 0; y < REGISTER_SIZE; ++y) {
        FM_HLS(unroll)
        const TILE_VALUE element = in_row(block[first][j], within, y);
        if (j == first && y == within) pivot = element;
        row[j][y] = j > first || (j == first && y > within) ? element : 0;
      }
    }
    const TILE_VALUE reciprocal = 1 / pivot;
    diagonal[k] = reciprocal;
    FM_IGNORE_DEPENDENCE(block)
    FM_PIPELINE
    for (uint i = first; i < BLOCKS; ++i) {
      FM_HLS(pipeline II = 1)
      FM_HLS(dependence variable = block inter false)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        const bool is_below = i > first || x > within;
        const TILE_VALUE element = in_column(block[i][first], x, within);
        const TILE_VALUE factor = element * reciprocal;
        set_in_column(block[i][first], x, within, is_below ? factor : element);
        column[i][x] = is_below ? factor : 0;
      }
    }
    FM_COALESCE(2)
    FM_IGNORE_DEPENDENCE(block)
    for (uint i = first; i < BLOCKS; ++i) {
      FM_IGNORE_DEPENDENCE(block)
      FM_PIPELINE
      for (uint j = 0; j < BLOCKS; ++j) {
        FM_HLS(pipeline II = 1)
        FM_HLS(dependence variable = block inter false)
        subtract_product(block[i][j], column[i], row[j]);
      }
    }
  }
}

// block = block U^-1; `factor` is U with the reciprocals of its diagonal.
static inline void solve_left(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                              TILE_VALUE factor[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  BLOCK_LINE(column);
  BLOCK_LINE(row);
  FM_SERIAL
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    const uint first = k / REGISTER_SIZE;
    const uint within = k % REGISTER_SIZE;
    const TILE_VALUE reciprocal = factor[first][first][within][within];
    FM_IGNORE_DEPENDENCE(block)
    FM_PIPELINE
    for (uint i = 0; i < BLOCKS; ++i) {
      FM_HLS(pipeline II = 1)
      FM_HLS(dependence variable = block inter false)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        const TILE_VALUE solved = in_column(block[i][first], x, within) * reciprocal;
        set_in_column(block[i][first], x, within, solved);
        column[i][x] = solved;
        const TILE_VALUE element = in_row(factor[first][i], within, x);
        row[i][x] = i > first || (i == first && x > within) ? element : 0;
      }
    }
    FM_COALESCE(2)
    FM_IGNORE_DEPENDENCE(block)
    for (uint j = first; j < BLOCKS; ++j) {
      FM_IGNORE_DEPENDENCE(block)
      FM_PIPELINE
      for (uint i = 0; i < BLOCKS; ++i) {
        FM_HLS(pipeline II = 1)
        FM_HLS(dependence variable = block inter false)
        subtract_product(block[i][j], column[i], row[j]);
      }
    }
  }
}

// block = L^-1 block.
static inline void solve_top(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                             TILE_VALUE factor[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  BLOCK_LINE(column);
  BLOCK_LINE(row);
  FM_SERIAL
  for (uint k = 0; k < BLOCK_SIZE; ++k) {
    const uint first = k / REGISTER_SIZE;
    const uint within = k % REGISTER_SIZE;
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint y = 0; y < REGISTER_SIZE; ++y) {
        FM_HLS(unroll)
        const TILE_VALUE element = in_column(factor[j][first], y, within);
        column[j][y] = j > first || (j == first && y > within) ? element : 0;
        row[j][y] = in_row(block[first][j], within, y);
      }
    }
    FM_COALESCE(2)
    FM_IGNORE_DEPENDENCE(block)
    for (uint i = first; i < BLOCKS; ++i) {
      FM_IGNORE_DEPENDENCE(block)
      FM_PIPELINE
      for (uint j = 0; j < BLOCKS; ++j) {
        FM_HLS(pipeline II = 1)
        FM_HLS(dependence variable = block inter false)
        subtract_product(block[i][j], column[i], row[j]);
      }
    }
  }
}

// A register block -= left right: sums of products first, so that it waits for one addition only.
static inline void subtract_products(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE],
                                     TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                                     TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE]) {
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_SIZE; ++i) {
    FM_HLS(unroll)
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) {
      FM_HLS(unroll)
      TILE_VALUE sum = left[i][0] * right[0][j];
      FM_UNROLL_FULLY
      for (uint k = 1; k < REGISTER_SIZE; ++k) {
        FM_HLS(unroll)
        sum += left[i][k] * right[k][j];
      }
      block[i][j] -= sum;
    }
  }
}

// The block in global memory at `start` -= left right, both of them panels' blocks: all three are loaded at
// the same time, from different banks where they lie there.
static inline void update_block(__global TILE_VALUE* start, const uint columns,
                                __global const TILE_VALUE* left, __global const TILE_VALUE* right) {
  REGISTER_BLOCKS(block);
  REGISTER_BLOCKS(left_block);
  REGISTER_BLOCKS(right_block);
  FM_COALESCE(2)
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        const uint c = j * REGISTER_SIZE + x;
        block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x] = start[(size_t)r * columns + c];
        left_block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x] = left[r * BLOCK_SIZE + c];
        right_block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x] = right[r * BLOCK_SIZE + c];
      }
    }
  }
  FM_SERIAL
  for (uint k = 0; k < BLOCKS; ++k) {
    FM_COALESCE(2)
    FM_IGNORE_DEPENDENCE(block)
    for (uint i = 0; i < BLOCKS; ++i) {
      FM_IGNORE_DEPENDENCE(block)
      FM_PIPELINE
      for (uint j = 0; j < BLOCKS; ++j) {
        FM_HLS(pipeline II = 1)
        FM_HLS(dependence variable = block inter false)
        subtract_products(block[i][j], left_block[i][k], right_block[k][j]);
      }
    }
  }
  store_block(block, start, columns);
}

#endif
#endif
