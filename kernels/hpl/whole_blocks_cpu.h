// What the single work-item kernels do with whole blocks on a CPU: products of register blocks in vectors, in
// registers as long as it gets. The register blocks on the diagonals of L and U are inverted, so that left
// and top are products alone, and the inner kernel subtracts a product from its block at the end.
#ifndef FABRICMARK_HPL_WHOLE_BLOCKS_CPU_H
#define FABRICMARK_HPL_WHOLE_BLOCKS_CPU_H

// What is known of the diagonal of a factorised block beside it: the inverses of its register blocks, of L
// and of U.
#define DIAGONAL(name) TILE_VALUE name[2][BLOCKS][REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)))

// result = left right; the result may be one of them.
static inline void multiply(TILE_VALUE result[REGISTER_SIZE][REGISTER_SIZE],
                            TILE_VALUE left[REGISTER_SIZE][REGISTER_SIZE],
                            TILE_VALUE right[REGISTER_SIZE][REGISTER_SIZE]) {
  TILE_VALUE product[REGISTER_SIZE][REGISTER_SIZE] __attribute__((aligned(64)));
  multiply_add(product, left, right, true);
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
  multiply_add(product, left, right, true);
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

// Element x of register block j in row r of the factors that lu hands to top and to left: L and U with the
// inverses on their diagonals.
static inline TILE_VALUE lower_factor(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      TILE_VALUE diagonal[2][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      const uint r, const uint j, const uint x) {
  const uint i = r / REGISTER_SIZE;
  return i == j ? diagonal[0][i][r % REGISTER_SIZE][x] : block[i][j][r % REGISTER_SIZE][x];
}

static inline TILE_VALUE upper_factor(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      TILE_VALUE diagonal[2][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                      const uint r, const uint j, const uint x) {
  const uint i = r / REGISTER_SIZE;
  return i == j ? diagonal[1][i][r % REGISTER_SIZE][x] : block[i][j][r % REGISTER_SIZE][x];
}

// A block = L U in place, and the inverses.
static inline void factorize_block(TILE_VALUE block[BLOCKS][BLOCKS][REGISTER_SIZE][REGISTER_SIZE],
                                   TILE_VALUE diagonal[2][BLOCKS][REGISTER_SIZE][REGISTER_SIZE]) {
  for (uint k = 0; k < BLOCKS; ++k) {
    factorize(block[k][k]);
    invert(block[k][k], diagonal[0][k], diagonal[1][k]);
    for (uint i = k + 1; i < BLOCKS; ++i) multiply(block[i][k], block[i][k], diagonal[1][k]);
    for (uint j = k + 1; j < BLOCKS; ++j) multiply(block[k][j], diagonal[0][k], block[k][j]);
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
      for (uint c = 0; c < BLOCKS; ++c) {
        multiply_add(product[r][c], left_block[r][k], top_block[k][c], k == 0);
      }
    }
  }
  for (uint r = 0; r < BLOCK_SIZE; ++r) {
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
