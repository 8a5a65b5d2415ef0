// What the single work-item kernels do with whole blocks, alone and over channels.
#ifndef FABRICMARK_HPL_WHOLE_BLOCKS_H
#define FABRICMARK_HPL_WHOLE_BLOCKS_H

#include "hpl/block_steps.h"

// A block = L U in place; of its register blocks on the diagonal also the inverses of L and U.
static inline void factorize_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                   TILE_VALUE lower_inverse[BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                   TILE_VALUE upper_inverse[BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint k = 0; k < BLOCKS; ++k) {
    factorize(block[k][k]);
    invert(block[k][k], lower_inverse[k], upper_inverse[k]);
    for (uint i = k + 1; i < BLOCKS; ++i) multiply(block[i][k], block[i][k], upper_inverse[k]);
    for (uint j = k + 1; j < BLOCKS; ++j) multiply(block[k][j], lower_inverse[k], block[k][j]);
    for (uint i = k + 1; i < BLOCKS; ++i) {
      for (uint j = k + 1; j < BLOCKS; ++j) multiply_subtract(block[i][j], block[i][k], block[k][j]);
    }
  }
}

// block = block U^-1; `factor` is U with its register blocks on the diagonal inverted.
static inline void solve_left(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                              TILE_VALUE factor[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint k = 0; k < BLOCKS; ++k) {
    for (uint i = 0; i < BLOCKS; ++i) multiply(block[i][k], block[i][k], factor[k][k]);
    for (uint j = k + 1; j < BLOCKS; ++j) {
      for (uint i = 0; i < BLOCKS; ++i) multiply_subtract(block[i][j], block[i][k], factor[k][j]);
    }
  }
}

// block = L^-1 block; `factor` is L with its register blocks on the diagonal inverted.
static inline void solve_top(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                             TILE_VALUE factor[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint k = 0; k < BLOCKS; ++k) {
    for (uint j = 0; j < BLOCKS; ++j) multiply(block[k][j], factor[k][k], block[k][j]);
    for (uint i = k + 1; i < BLOCKS; ++i) {
      for (uint j = 0; j < BLOCKS; ++j) multiply_subtract(block[i][j], factor[i][k], block[k][j]);
    }
  }
}

// The block in global memory at `start` -= left right, both of them panels' blocks.
static inline void update_block(__global TILE_VALUE* start, const uint columns,
                                __global const TILE_VALUE* left, __global const TILE_VALUE* right) {
  REGISTER_BLOCKS(left_block);
  REGISTER_BLOCKS(top_block);
  REGISTER_BLOCKS(product);
  load_block(left_block, left, BLOCK_SIZE);
  load_block(top_block, right, BLOCK_SIZE);
  for (uint k = 0; k < BLOCKS; ++k) {
    for (uint r = 0; r < BLOCKS; ++r) {
      FM_PIPELINE
      for (uint c = 0; c < BLOCKS; ++c) {
        multiply_add(product[r][c], left_block[r][k], top_block[k][c], k == 0);
      }
    }
  }
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

#endif
