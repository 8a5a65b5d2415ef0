// Copies of blocks between global and local memory: each cycle a row of a register block. Rows in global
// memory are `stride` elements apart.
#ifndef FABRICMARK_HPL_BLOCK_STEPS_H
#define FABRICMARK_HPL_BLOCK_STEPS_H

#include "common/register_block.h"

static inline void load_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                              __global const TILE_VALUE* from, const uint stride) {
  FM_COALESCE(2)
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x] = from[(size_t)r * stride + j * REGISTER_SIZE + x];
      }
    }
  }
}

static inline void store_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                               __global TILE_VALUE* to, const uint stride) {
  FM_NO_FUSION
  FM_COALESCE(2)
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
    FM_PIPELINE
    for (uint j = 0; j < BLOCKS; ++j) {
      FM_HLS(pipeline II = 1)
      FM_UNROLL_FULLY
      for (uint x = 0; x < REGISTER_SIZE; ++x) {
        FM_HLS(unroll)
        to[(size_t)r * stride + j * REGISTER_SIZE + x] = block[r / REGISTER_SIZE][j][r % REGISTER_SIZE][x];
      }
    }
  }
}

#endif
