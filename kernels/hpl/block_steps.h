// What lu, left and top do with register blocks and with blocks in local memory.
#ifndef FABRICMARK_HPL_BLOCK_STEPS_H
#define FABRICMARK_HPL_BLOCK_STEPS_H

#include "common/register_block.h"

// Copies a block between global and local memory, a row of a register block at a time; rows in global memory
// are `stride` elements apart.
static inline void load_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                              __global const TILE_VALUE* from, const uint stride) {
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x] = from[(size_t)r * stride + j * REGISTER_SIZE + x];
      }
    }
  }
}

static inline void store_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                               __global TILE_VALUE* to, const uint stride) {
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        to[(size_t)r * stride + j * REGISTER_SIZE + x] = block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x];
      }
    }
  }
}

// product = left right. Unrolled in two dimensions, so that these kernels leave the multipliers of an FPGA to
// the inner ones; on a CPU in vectors.
static inline void form_product(TILE_VALUE product[REGISTER_SIZE][REGISTER_SIZE],
                                TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                                TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE]) {
#if defined(FM_CPU)
  multiply_add(product, left, right, true);
#else
  FM_PIPELINE
  for (uint k = 0; k < REGISTER_SIZE; ++k) {
    FM_UNROLL_FULLY
    for (uint i = 0; i < REGISTER_SIZE; ++i) {
      FM_UNROLL_FULLY
      for (uint j = 0; j < REGISTER_SIZE; ++j) {
        product[i][j] = (k == 0 ? 0 : product[i][j]) + left[i][k] * right[k][j];
      }
    }
  }
#endif
}

// result = left right; the result may be one of them.
static inline void multiply(TILE_VALUE result[REGISTER_SIZE][REGISTER_SIZE],
                            TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                            TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE]) {
  TILE_VALUE product[REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)));
  form_product(product, left, right);
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_SIZE; ++i) {
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) result[i][j] = product[i][j];
  }
}

// result -= left right
static inline void multiply_subtract(TILE_VALUE result[REGISTER_SIZE][REGISTER_SIZE],
                                     TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                                     TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE]) {
  TILE_VALUE product[REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)));
  form_product(product, left, right);
  FM_UNROLL_FULLY
  for (uint i = 0; i < REGISTER_SIZE; ++i) {
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) result[i][j] -= product[i][j];
  }
}

// A register block = L U in place, one column and row after the other.
static inline void factorize(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint k = 0; k < REGISTER_SIZE; ++k) {
    const TILE_VALUE reciprocal = 1 / block[k][k];
    FM_UNROLL_FULLY
    for (uint i = 0; i < REGISTER_SIZE; ++i) {
      if (i > k) block[i][k] *= reciprocal;
    }
    FM_UNROLL_FULLY
    for (uint i = 0; i < REGISTER_SIZE; ++i) {
      FM_UNROLL_FULLY
      for (uint j = 0; j < REGISTER_SIZE; ++j) {
        if (i > k && j > k) block[i][j] -= block[i][k] * block[k][j];
      }
    }
  }
}

// lower = L^-1 and upper = U^-1 of a factorised register block, by substitution in the rows of the unit
// matrix.
static inline void invert(TILE_VALUE block[REGISTER_SIZE][REGISTER_SIZE],
                          TILE_VALUE lower[REGISTER_SIZE][REGISTER_SIZE],
                          TILE_VALUE upper[REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint i = 0; i < REGISTER_SIZE; ++i) {
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) lower[i][j] = i == j ? 1 : 0;
    for (uint k = 0; k < i; ++k) {
      FM_UNROLL_FULLY
      for (uint j = 0; j < REGISTER_SIZE; ++j) lower[i][j] -= block[i][k] * lower[k][j];
    }
  }
  for (uint step = 0; step < REGISTER_SIZE; ++step) {
    const uint i = REGISTER_SIZE - 1 - step;
    const TILE_VALUE reciprocal = 1 / block[i][i];
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) upper[i][j] = i == j ? 1 : 0;
    for (uint k = i + 1; k < REGISTER_SIZE; ++k) {
      FM_UNROLL_FULLY
      for (uint j = 0; j < REGISTER_SIZE; ++j) upper[i][j] -= block[i][k] * upper[k][j];
    }
    FM_UNROLL_FULLY
    for (uint j = 0; j < REGISTER_SIZE; ++j) upper[i][j] *= reciprocal;
  }
}

#endif
