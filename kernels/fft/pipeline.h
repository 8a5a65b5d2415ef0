// The arithmetic of the FFT's pipeline: eight points at once, one in each lane.
//
// Before a stage the lanes stand for the three highest bits of the index that are not transformed yet, the
// highest one as bit 2 of the lane. A stage transforms bits 2 and 1, so that bit 2 becomes the lower and
// bit 1 the upper bit of the frequency's digit.
#ifndef FABRICMARK_FFT_PIPELINE_H
#define FABRICMARK_FFT_PIPELINE_H

#include "fft/types.h"

typedef FM_VECTOR(DATA_TYPE, 2) fft_two;
typedef FM_VECTOR(DATA_TYPE, 4) fft_four;
typedef FM_VECTOR(DATA_TYPE, 8) fft_eight;

typedef struct {
  fft_eight re, im;
} fft_lanes;

// The factors of lanes 2 and 3 (digit 2) and 4 to 7 (digits 1, 1, 3, 3); those of lanes 0 and 1 are 1.
typedef struct {
  fft_four odd_re, odd_im;
  fft_two even_re, even_im;
} fft_twiddle;

// Of each half of four numbers the first, and the second.
static inline fft_two fft_firsts(const fft_four v) { return FM_MAKE(fft_two)(v.lo.x, v.hi.x); }
static inline fft_two fft_seconds(const fft_four v) { return FM_MAKE(fft_two)(v.lo.y, v.hi.y); }

// Those of one position of a transform's first stage, as the host computes them (tables.hpp).
static inline fft_twiddle fft_load_twiddle(__global const fft_four* factors) {
  fft_twiddle twiddle;
  twiddle.odd_re = factors[0];
  twiddle.odd_im = factors[1];
  twiddle.even_re = factors[2].lo;
  twiddle.even_im = factors[2].hi;
  return twiddle;
}

static inline fft_lanes fft_radix_4(const fft_lanes x) {
  const fft_four sum_re = x.re.lo + x.re.hi;
  const fft_four sum_im = x.im.lo + x.im.hi;
  const fft_four rest_re = x.re.lo - x.re.hi;
  const fft_four rest_im = x.im.lo - x.im.hi;
  fft_lanes y;
  y.re.lo = FM_MAKE(fft_four)(sum_re.lo + sum_re.hi, sum_re.lo - sum_re.hi);
  y.im.lo = FM_MAKE(fft_four)(sum_im.lo + sum_im.hi, sum_im.lo - sum_im.hi);
  y.re.hi = FM_MAKE(fft_four)(rest_re.lo + rest_im.hi, rest_re.lo - rest_im.hi);
  y.im.hi = FM_MAKE(fft_four)(rest_im.lo - rest_re.hi, rest_im.lo + rest_re.hi);
  return y;
}

static inline fft_lanes fft_rotate(const fft_lanes x, const fft_twiddle w) {
  const fft_two even_re = x.re.lo.hi;
  const fft_two even_im = x.im.lo.hi;
  fft_lanes y;
  y.re.lo = FM_MAKE(fft_four)(x.re.lo.lo, even_re * w.even_re - even_im * w.even_im);
  y.im.lo = FM_MAKE(fft_four)(x.im.lo.lo, even_re * w.even_im + even_im * w.even_re);
  y.re.hi = x.re.hi * w.odd_re - x.im.hi * w.odd_im;
  y.im.hi = x.re.hi * w.odd_im + x.im.hi * w.odd_re;
  return y;
}

// Neighbours change places with halves: 0, 2, 1, 3.
static inline fft_four fft_turned(const fft_four v) {
  return FM_MAKE(fft_four)(fft_firsts(v), fft_seconds(v));
}

// What is left after the last stage with factors. The lanes come out in the order of the frequencies' three
// highest bits.
static inline fft_lanes fft_finish(const fft_lanes x) {
  fft_lanes y;
#if LOG_SIZE % 2
  const fft_four even_re = FM_MAKE(fft_four)(fft_firsts(x.re.lo), fft_firsts(x.re.hi));
  const fft_four even_im = FM_MAKE(fft_four)(fft_firsts(x.im.lo), fft_firsts(x.im.hi));
  const fft_four odd_re = FM_MAKE(fft_four)(fft_seconds(x.re.lo), fft_seconds(x.re.hi));
  const fft_four odd_im = FM_MAKE(fft_four)(fft_seconds(x.im.lo), fft_seconds(x.im.hi));
  y.re = FM_MAKE(fft_eight)(fft_turned(even_re + odd_re), fft_turned(even_re - odd_re));
  y.im = FM_MAKE(fft_eight)(fft_turned(even_im + odd_im), fft_turned(even_im - odd_im));
#else
  const fft_lanes last = fft_radix_4(x);
  y.re.lo = FM_MAKE(fft_four)(last.re.lo.lo, last.re.hi.lo);
  y.re.hi = FM_MAKE(fft_four)(last.re.lo.hi, last.re.hi.hi);
  y.im.lo = FM_MAKE(fft_four)(last.im.lo.lo, last.im.hi.lo);
  y.im.hi = FM_MAKE(fft_four)(last.im.lo.hi, last.im.hi.hi);
#endif
  return y;
}

#endif
