// Complex arithmetic and butterflies on LANES transforms at once, for the throughput kernel on a CPU.
#ifndef FABRICMARK_FFT_LANES_H
#define FABRICMARK_FFT_LANES_H

#include "fft/types.h"

// A transform of ROWS x COLUMNS points (four-step form): first columns of ROWS points, then rows of COLUMNS.
#define LOG_ROWS ((LOG_SIZE + 1) / 2)
#define LOG_COLUMNS (LOG_SIZE / 2)
#define ROWS (1u << LOG_ROWS)
#define COLUMNS (1u << LOG_COLUMNS)

// Never more lanes than there are columns.
#define LANES_WANTED (VECTOR_BYTES / FFT_ELEMENT_BYTES)
#if LANES_WANTED >= 16 && LOG_COLUMNS >= 4
#define LANES 16
#elif LANES_WANTED >= 8 && LOG_COLUMNS >= 3
#define LANES 8
#elif LANES_WANTED >= 4 && LOG_COLUMNS >= 2
#define LANES 4
#else
#define LANES 2
#endif

typedef FM_VECTOR(DATA_TYPE, LANES) lanes;

typedef struct {
  lanes re;
  lanes im;
} value;

inline value plus(value a, value b) {
  const value sum = {a.re + b.re, a.im + b.im};
  return sum;
}

inline value minus(value a, value b) {
  const value difference = {a.re - b.re, a.im - b.im};
  return difference;
}

// a times -i: forward transforms turn clockwise.
inline value turned(value a) {
  const value product = {a.im, -a.re};
  return product;
}

inline value times(value a, DATA_TYPE re, DATA_TYPE im) {
  const value product = {fma(a.re, (lanes)(re), -a.im * (lanes)(im)),
                         fma(a.re, (lanes)(im), a.im * (lanes)(re))};
  return product;
}

inline value times_each(value a, lanes re, lanes im) {
  const value product = {fma(a.re, re, -a.im * im), fma(a.re, im, a.im * re)};
  return product;
}

// Transforms of 2, 4 and 8 points, results in natural order.
inline void butterfly2(value* v) {
  const value a = v[0];
  v[0] = plus(a, v[1]);
  v[1] = minus(a, v[1]);
}

inline void butterfly4(value* v) {
  const value even_sum = plus(v[0], v[2]), even_difference = minus(v[0], v[2]);
  const value odd_sum = plus(v[1], v[3]), odd_difference = turned(minus(v[1], v[3]));
  v[0] = plus(even_sum, odd_sum);
  v[1] = plus(even_difference, odd_difference);
  v[2] = minus(even_sum, odd_sum);
  v[3] = minus(even_difference, odd_difference);
}

inline void butterfly8(value* v) {
  const DATA_TYPE half_root = (DATA_TYPE)0.70710678118654752440;
  value even[4] = {v[0], v[2], v[4], v[6]};
  value odd[4] = {v[1], v[3], v[5], v[7]};
  butterfly4(even);
  butterfly4(odd);
  // odd[1] times exp(-i pi / 4), odd[3] times exp(-3 i pi / 4).
  const value first = {(odd[1].re + odd[1].im) * half_root, (odd[1].im - odd[1].re) * half_root};
  const value third = {(odd[3].im - odd[3].re) * half_root, -(odd[3].re + odd[3].im) * half_root};
  const value second = turned(odd[2]);
  v[0] = plus(even[0], odd[0]);
  v[1] = plus(even[1], first);
  v[2] = plus(even[2], second);
  v[3] = plus(even[3], third);
  v[4] = minus(even[0], odd[0]);
  v[5] = minus(even[1], first);
  v[6] = minus(even[2], second);
  v[7] = minus(even[3], third);
}

// LANES complex numbers side by side in memory; `swapped` exchanges real and imaginary parts, which makes a
// forward transform an inverse one.
#if LANES == 16
typedef lanes pair;  // half of them
inline value load_pairs(__global const lanes* source, const uint index, const uint swapped) {
  const lanes low = source[2 * index], high = source[2 * index + 1];
  const value straight = {FM_MAKE(lanes)(low.even, high.even), FM_MAKE(lanes)(low.odd, high.odd)};
  const value crossed = {straight.im, straight.re};
  return swapped ? crossed : straight;
}
inline void store_pairs(__global lanes* destination, const uint index, const value v, const uint swapped) {
  const lanes even = swapped ? v.im : v.re, odd = swapped ? v.re : v.im;
  lanes low, high;
  low.even = even.lo;
  low.odd = odd.lo;
  high.even = even.hi;
  high.odd = odd.hi;
  FM_STORE_ONCE(destination[2 * index], low);
  FM_STORE_ONCE(destination[2 * index + 1], high);
}
#else
#if LANES == 8
typedef FM_VECTOR(DATA_TYPE, 16) pair;
#elif LANES == 4
typedef FM_VECTOR(DATA_TYPE, 8) pair;
#else
typedef FM_VECTOR(DATA_TYPE, 4) pair;
#endif
inline value load_pairs(__global const pair* source, const uint index, const uint swapped) {
  const pair all = source[index];
  const value straight = {all.even, all.odd};
  const value crossed = {all.odd, all.even};
  return swapped ? crossed : straight;
}
inline void store_pairs(__global pair* destination, const uint index, const value v, const uint swapped) {
  pair all;
  all.even = swapped ? v.im : v.re;
  all.odd = swapped ? v.re : v.im;
  FM_STORE_ONCE(destination[index], all);
}
#endif

// Turns LANES vectors of LANES numbers into their columns: log2(LANES) perfect shuffles.
inline void transpose(lanes* v) {
  FM_UNROLL_FULLY
  for (uint round = 1; round < LANES; round *= 2) {
    lanes shuffled[LANES];
    FM_UNROLL_FULLY
    for (uint i = 0; i < LANES / 2; ++i) {
      shuffled[2 * i].even = v[i].lo;
      shuffled[2 * i].odd = v[i + LANES / 2].lo;
      shuffled[2 * i + 1].even = v[i].hi;
      shuffled[2 * i + 1].odd = v[i + LANES / 2].hi;
    }
    FM_UNROLL_FULLY
    for (uint i = 0; i < LANES; ++i) v[i] = shuffled[i];
  }
}

#endif
