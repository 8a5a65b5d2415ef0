// What surrounds the FFT's pipeline: eight points with stride n/8 go into it every cycle, and eight come out
// of it with stride n/8 at bit-reversed positions.
#ifndef FABRICMARK_FFT_REORDER_H
#define FABRICMARK_FFT_REORDER_H

#include "fft/window.h"

static inline void fft_load_row(__global const fft_complex* in, fft_complex* v) {
  FM_UNROLL(8)
  for (uint k = 0; k < 8; ++k) {
    FM_HLS(unroll)
    v[k] = in[k];
  }
}

static inline void fft_store_row(const fft_complex* v, __global fft_complex* out) {
  FM_UNROLL(8)
  for (uint k = 0; k < 8; ++k) {
    FM_HLS(unroll)
    out[k] = v[k];
  }
}

#if defined(FM_CPU)
static inline void fft_load_column(__global const fft_complex* in, const uint column, fft_complex* v) {
  for (uint k = 0; k < 8; ++k) v[k] = in[k * FFT_STEPS + column];
}

static inline void fft_store_column(const fft_complex* v, __global fft_complex* out, const uint column) {
  for (uint k = 0; k < 8; ++k) out[k * FFT_STEPS + column] = v[k];
}
#endif

// The position among n/8 whose bits are those of `t` in reverse.
static inline uint fft_reverse(const uint t) {
  FM_NO_IDIOM uint r = t;
  r = (r >> 1 & 0x55555555u) | (r & 0x55555555u) << 1;
  r = (r >> 2 & 0x33333333u) | (r & 0x33333333u) << 2;
  r = (r >> 4 & 0x0f0f0f0fu) | (r & 0x0f0f0f0fu) << 4;
  r = (r >> 8 & 0x00ff00ffu) | (r & 0x00ff00ffu) << 8;
  r = r >> 16 | r << 16;
  return r >> (34 - LOG_SIZE) >> 1;
}

// The inverse transform is the forward one with real and imaginary parts exchanged before and after it.
static inline fft_lanes fft_split(const fft_complex* v, const uint inverse) {
  const fft_eight x = fft_halves(FM_MAKE(fft_two)(v[0].x, v[1].x), FM_MAKE(fft_two)(v[2].x, v[3].x),
                                 FM_MAKE(fft_two)(v[4].x, v[5].x), FM_MAKE(fft_two)(v[6].x, v[7].x));
  const fft_eight y = fft_halves(FM_MAKE(fft_two)(v[0].y, v[1].y), FM_MAKE(fft_two)(v[2].y, v[3].y),
                                 FM_MAKE(fft_two)(v[4].y, v[5].y), FM_MAKE(fft_two)(v[6].y, v[7].y));
  fft_lanes lanes;
  lanes.re = inverse ? y : x;
  lanes.im = inverse ? x : y;
  return lanes;
}

static inline void fft_join(const fft_lanes lanes, fft_complex* v, const uint inverse) {
  const fft_eight x = inverse ? lanes.im : lanes.re;
  const fft_eight y = inverse ? lanes.re : lanes.im;
  v[0] = FM_MAKE(fft_complex)(x.lo.lo.x, y.lo.lo.x);
  v[1] = FM_MAKE(fft_complex)(x.lo.lo.y, y.lo.lo.y);
  v[2] = FM_MAKE(fft_complex)(x.lo.hi.x, y.lo.hi.x);
  v[3] = FM_MAKE(fft_complex)(x.lo.hi.y, y.lo.hi.y);
  v[4] = FM_MAKE(fft_complex)(x.hi.lo.x, y.hi.lo.x);
  v[5] = FM_MAKE(fft_complex)(x.hi.lo.y, y.hi.lo.y);
  v[6] = FM_MAKE(fft_complex)(x.hi.hi.x, y.hi.hi.x);
  v[7] = FM_MAKE(fft_complex)(x.hi.hi.y, y.hi.hi.y);
}

// A buffer of FFT_SIDES transforms in eight banks, which gives and takes eight points a cycle, neighbours (a
// row) or with stride n/8 (a column), without two of them meeting in one bank: the bank of a point is the
// exclusive or of its index's octal digits, in which any three neighbouring bits tell all banks apart. It
// gives a transform half of them behind the one that it takes; a point's bank was written FFT_DISTANCE cycles
// before or more. Small transforms, which would leave too few, have four sides.
typedef fft_complex fft_row[8];
#if LOG_SIZE < 10
#define FFT_SIDES 4
#define FFT_DISTANCE (FFT_STEPS + 1)
#else
#define FFT_SIDES 2
#define FFT_DISTANCE 7
#endif
#if defined(FM_HLS_CPP)
#define FFT_ROWS(name)                                 \
  FM_LOCAL fft_complex name[FFT_SIDES * FFT_STEPS][8]; \
  FM_HLS(array_partition variable = name complete dim = 2)
#else
#define FFT_ROWS(name) \
  FM_LOCAL fft_complex name[FFT_SIDES * FFT_STEPS][8] FM_BANKS(8, 2 * FFT_ELEMENT_BYTES) FM_PARTITION(2)
#endif

static inline uint fft_fold(const uint index) {
  return (index ^ index >> 3 ^ index >> 6 ^ index >> 9 ^ index >> 12 ^ index >> 15) & 7;
}

// The bank of point k * n/8, and the k whose point is in a bank.
static inline uint fft_bank(const uint k) { return fft_fold(k * FFT_STEPS); }
static inline uint fft_lane(const uint bank) {
  const uint turn = (LOG_SIZE - 3) % 3;
  return (bank >> turn | bank << (3 - turn)) & 7;
}

static inline void fft_put_row(__local fft_row* rows, const uint row, const fft_complex* v) {
  const uint fold = fft_fold(8 * (row % FFT_STEPS));
  FM_UNROLL(8)
  for (uint bank = 0; bank < 8; ++bank) {
    FM_HLS(unroll)
    rows[row][bank] = v[bank ^ fold];
  }
}

static inline void fft_get_row(__local const fft_row* rows, const uint row, fft_complex* v) {
  const uint fold = fft_fold(8 * (row % FFT_STEPS));
  fft_complex word[8] FM_REGISTERS;
  FM_HLS(array_partition variable = word complete dim = 0)
  FM_UNROLL(8)
  for (uint bank = 0; bank < 8; ++bank) {
    FM_HLS(unroll)
    word[bank] = rows[row][bank];
  }
  FM_UNROLL(8)
  for (uint k = 0; k < 8; ++k) {
    FM_HLS(unroll)
    v[k] = word[k ^ fold];
  }
}

static inline void fft_put_column(__local fft_row* rows, const uint side, const uint column,
                                  const fft_complex* v) {
  const uint fold = fft_fold(column);
  FM_UNROLL(8)
  for (uint bank = 0; bank < 8; ++bank) {
    FM_HLS(unroll)
    const uint k = fft_lane(bank ^ fold);
    rows[side * FFT_STEPS + (k * FFT_STEPS + column) / 8][bank] = v[k];
  }
}

static inline void fft_get_column(__local const fft_row* rows, const uint side, const uint column,
                                  fft_complex* v) {
  const uint fold = fft_fold(column);
  fft_complex word[8] FM_REGISTERS;
  FM_HLS(array_partition variable = word complete dim = 0)
  FM_UNROLL(8)
  for (uint bank = 0; bank < 8; ++bank) {
    FM_HLS(unroll)
    const uint k = fft_lane(bank ^ fold);
    word[bank] = rows[side * FFT_STEPS + (k * FFT_STEPS + column) / 8][bank];
  }
  FM_UNROLL(8)
  for (uint k = 0; k < 8; ++k) {
    FM_HLS(unroll)
    v[k] = word[fft_bank(k) ^ fold];
  }
}

#endif
