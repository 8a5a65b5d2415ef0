// What the dataflow kernels of HPL do with register blocks and with blocks in local memory: the steps of
// block_steps.h in HLS C++.
//
// A block in local memory has block x block elements, divided into register blocks of G x G that lie one
// behind the other, row by row of them. So do blocks on their way between kernels.
#ifndef FABRICMARK_HPL_DATAFLOW_STEPS_HPP
#define FABRICMARK_HPL_DATAFLOW_STEPS_HPP

#include "common/dataflow.hpp"

namespace hpl {

const int most_block = 512;                         // rows of a block that local memory has room for
const int most_elements = most_block * most_block;  // of a block

/// Copies a block from memory, whose rows are `stride` elements apart.
template <typename T, int G>
void load_block(T* block, const T* from, long stride, int size) {
  const int tiles = size / G;
  for (int r = 0; r < size; ++r) {
    for (int j = 0; j < tiles; ++j) {
#pragma HLS pipeline II = 1
      for (int x = 0; x < G; ++x) {
#pragma HLS unroll
        block[((r / G) * tiles + j) * G * G + (r % G) * G + x] = from[r * stride + j * G + x];
      }
    }
  }
}

template <typename T, int G>
void store_block(const T* block, T* to, long stride, int size) {
  const int tiles = size / G;
  for (int r = 0; r < size; ++r) {
    for (int j = 0; j < tiles; ++j) {
#pragma HLS pipeline II = 1
      for (int x = 0; x < G; ++x) {
#pragma HLS unroll
        to[r * stride + j * G + x] = block[((r / G) * tiles + j) * G * G + (r % G) * G + x];
      }
    }
  }
}

/// to -= block
template <typename T, int G>
FM_WIDEST void subtract_block(const T* block, T* to, long stride, int size) {
  const int tiles = size / G;
  for (int r = 0; r < size; ++r) {
    for (int j = 0; j < tiles; ++j) {
#pragma HLS pipeline II = 1
      for (int x = 0; x < G; ++x) {
#pragma HLS unroll
        to[r * stride + j * G + x] -= block[((r / G) * tiles + j) * G * G + (r % G) * G + x];
      }
    }
  }
}

/// sums[c] += left rights[c] for `count` register blocks beside each other.
template <typename T, int G>
FM_WIDEST void multiply_add(T* sums, const T* left, const T* rights, int count) {
  const int rows = G < 8 ? G : 8;  // at a time, as many as a CPU has registers for
  for (int c = 0; c < count; ++c) {
#pragma HLS pipeline II = 1
    T* sum = sums + c * G * G;
    const T* right = rights + c * G * G;
    for (int start = 0; start < G; start += rows) {
#pragma HLS unroll
      T kept[rows][G];
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < G; ++j) kept[i][j] = sum[(start + i) * G + j];
      }
      for (int k = 0; k < G; ++k) {
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < G; ++j) kept[i][j] += left[(start + i) * G + k] * right[k * G + j];
        }
      }
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < G; ++j) sum[(start + i) * G + j] = kept[i][j];
      }
    }
  }
}

/// result = left right; the result may be one of them.
template <typename T, int G>
void multiply(T* result, const T* left, const T* right) {
  T product[G * G];
  for (int i = 0; i < G * G; ++i) product[i] = 0;
  multiply_add<T, G>(product, left, right, 1);
  for (int i = 0; i < G * G; ++i) result[i] = product[i];
}

/// results[c] -= left rights[c].
template <typename T, int G>
void multiply_subtract(T* results, const T* left, const T* rights, int count) {
  T negative[G * G];
  for (int i = 0; i < G * G; ++i) negative[i] = -left[i];
  multiply_add<T, G>(results, negative, rights, count);
}

/// A register block = L U in place, one column and row after the other.
template <typename T, int G>
void factorize(T* block) {
  for (int k = 0; k < G; ++k) {
    const T reciprocal = 1 / block[k * G + k];
    for (int i = k + 1; i < G; ++i) {
      block[i * G + k] *= reciprocal;
      for (int j = k + 1; j < G; ++j) block[i * G + j] -= block[i * G + k] * block[k * G + j];
    }
  }
}

/// lower = L^-1 and upper = U^-1 of a factorised register block, by substitution in the rows of the unit
/// matrix.
template <typename T, int G>
void invert(const T* block, T* lower, T* upper) {
  for (int i = 0; i < G; ++i) {
    for (int j = 0; j < G; ++j) lower[i * G + j] = i == j ? 1 : 0;
    for (int k = 0; k < i; ++k) {
      for (int j = 0; j < G; ++j) lower[i * G + j] -= block[i * G + k] * lower[k * G + j];
    }
  }
  for (int step = 0; step < G; ++step) {
    const int i = G - 1 - step;
    const T reciprocal = 1 / block[i * G + i];
    for (int j = 0; j < G; ++j) upper[i * G + j] = i == j ? 1 : 0;
    for (int k = i + 1; k < G; ++k) {
      for (int j = 0; j < G; ++j) upper[i * G + j] -= block[i * G + k] * upper[k * G + j];
    }
    for (int j = 0; j < G; ++j) upper[i * G + j] *= reciprocal;
  }
}

/// Step `k` of block = L U, to its column of L and its row of U, which are done then. `inverses`: those of L
/// and U of each register block on the diagonal, two by two.
template <typename T, int G>
void factorize_step(T* block, T* inverses, int size, int k) {
  const int tiles = size / G;
  const int tile = G * G;
  T* row = block + (k * tiles + k) * tile;  // from the diagonal on
  T* lower = inverses + 2 * k * tile;
  T* upper = lower + tile;
  factorize<T, G>(row);
  invert<T, G>(row, lower, upper);
  for (int j = 1; j < tiles - k; ++j) multiply<T, G>(row + j * tile, lower, row + j * tile);
  for (int i = k + 1; i < tiles; ++i) {
    T* left = block + (i * tiles + k) * tile;
    multiply<T, G>(left, left, upper);
  }
}

/// The rest of that step: what lies behind this column and this row.
template <typename T, int G>
void update_behind(T* block, int size, int k) {
  const int tiles = size / G;
  const int tile = G * G;
  const T* row = block + (k * tiles + k) * tile;
  for (int i = k + 1; i < tiles; ++i) {
    T* left = block + (i * tiles + k) * tile;
    multiply_subtract<T, G>(left + tile, left, row + tile, tiles - k - 1);
  }
}

/// Step `k` of block = block U^-1, where `factor` is U with the register blocks on its diagonal inverted: all
/// that needs row k of it.
template <typename T, int G>
void solve_left_step(T* block, const T* factor, int size, int k) {
  const int tiles = size / G;
  const int tile = G * G;
  const T* row = factor + (k * tiles + k) * tile;
  for (int i = 0; i < tiles; ++i) {
    T* own = block + (i * tiles + k) * tile;
    multiply<T, G>(own, own, row);
    multiply_subtract<T, G>(own + tile, own, row + tile, tiles - k - 1);
  }
}

/// Step `k` of block = L^-1 block, likewise: all that needs column k of L.
template <typename T, int G>
void solve_top_step(T* block, const T* factor, int size, int k) {
  const int tiles = size / G;
  const int tile = G * G;
  T* row = block + k * tiles * tile;
  const T* inverse = factor + (k * tiles + k) * tile;
  for (int j = 0; j < tiles; ++j) multiply<T, G>(row + j * tile, inverse, row + j * tile);
  for (int i = k + 1; i < tiles; ++i) {
    multiply_subtract<T, G>(block + i * tiles * tile, factor + (i * tiles + k) * tile, row, tiles);
  }
}

/// product = left right, of whole blocks.
template <typename T, int G>
void multiply_blocks(T* product, const T* left, const T* right, int size) {
  const int tiles = size / G;
  const int tile = G * G;
  for (int i = 0; i < size * size; ++i) product[i] = 0;
  for (int k = 0; k < tiles; ++k) {
    for (int r = 0; r < tiles; ++r) {
      multiply_add<T, G>(product + r * tiles * tile, left + (r * tiles + k) * tile, right + k * tiles * tile,
                         tiles);
    }
  }
}

}  // namespace hpl

#endif
