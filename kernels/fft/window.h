// The delays between the stages of the FFT's pipeline: one window of the last values, shared by all stages.
//
// An FPGA holds it in a shift register that moves by one entry a cycle. Moving thousands of entries a cycle
// is hopeless on a CPU, which keeps every line of the window as a ring instead.
#ifndef FABRICMARK_FFT_WINDOW_H
#define FABRICMARK_FFT_WINDOW_H

#include "fft/pipeline.h"

#define FFT_STEPS (1u << (LOG_SIZE - 3))

// Four lanes in an entry; one entry more than the lines need, for the last value that leaves.
#define FFT_WINDOW (2 * FFT_STEPS - 1)

// Nothing of what the window holds at first comes out. Yet it has to be something: what nobody wrote a
// compiler may take for anything, anew each time, and NVIDIA's does.
static inline void fft_clear_window(fft_eight* window) {
  FM_UNROLL(FFT_WINDOW)
  for (uint k = 0; k < FFT_WINDOW; ++k) {
    FM_HLS(unroll)
    window[k] = FM_MAKE(fft_eight)(0);
  }
}

static inline void fft_move_window(fft_eight* window) {
#if !defined(FM_CPU)
  FM_UNROLL(FFT_WINDOW)
  for (uint k = FFT_WINDOW - 1; k > 0; --k) {
    FM_HLS(unroll)
    window[k] = window[k - 1];
  }
#endif
}

// Puts a value into the line of `depth` entries (a power of two) at `start` and returns that of `depth`
// cycles ago. Lines are used in their order: in the shift register the value that leaves one stands, until it
// is overwritten, in the first entry of the next.
static inline fft_eight fft_delay(fft_eight* window, const uint start, const uint depth, const uint clock,
                                  const fft_eight value) {
#if defined(FM_CPU)
  const uint in = start + (clock & (depth - 1));
  const uint out = in;
#else
  const uint in = start;
  const uint out = start + depth;
#endif
  const fft_eight delayed = window[out];
  window[in] = value;
  return delayed;
}

// Exchanges two halves of the lanes so that the bit of the lane that tells them apart and the bit `depth` of
// the clock change places. This takes `depth` cycles and two lines.
static inline void fft_exchange(fft_eight* window, const uint start, const uint depth, const uint clock,
                                fft_eight* low, fft_eight* high) {
  const bool crossed = (clock & depth) != 0;
  const fft_eight delayed = fft_delay(window, start, depth, clock, *high);
  const fft_eight held = crossed ? delayed : *low;
  *high = crossed ? *low : delayed;
  *low = fft_delay(window, start + depth, depth, clock, held);
}

// Eight numbers of four pairs.
static inline fft_eight fft_halves(const fft_two a, const fft_two b, const fft_two c, const fft_two d) {
  return FM_MAKE(fft_eight)(FM_MAKE(fft_four)(a, b), FM_MAKE(fft_four)(c, d));
}

// Brings the next two bits of the index (one at the last exchange of an even LOG_SIZE), which the clock
// counts, into the lanes. `rest` bits, the two of this stage among them, were not transformed before it. The
// delays up to a stage add up to a multiple of the clock's bits that count there, so that all stages use one
// clock.
static inline fft_lanes fft_commute(const fft_lanes x, fft_eight* window, const uint rest, const uint clock) {
  const uint depth = 1u << (rest - 4);
  const uint start = 2 * (FFT_STEPS - 2 * depth);
  fft_eight low = FM_MAKE(fft_eight)(x.re.lo, x.im.lo);
  fft_eight high = FM_MAKE(fft_eight)(x.re.hi, x.im.hi);
  fft_exchange(window, start, depth, clock, &low, &high);
  if (rest > 4) {
    fft_eight upper = fft_halves(low.lo.lo, low.hi.lo, high.lo.lo, high.hi.lo);
    fft_eight lower = fft_halves(low.lo.hi, low.hi.hi, high.lo.hi, high.hi.hi);
    fft_exchange(window, start + 2 * depth, depth / 2, clock, &upper, &lower);
    low = fft_halves(upper.lo.lo, lower.lo.lo, upper.lo.hi, lower.lo.hi);
    high = fft_halves(upper.hi.lo, lower.hi.lo, upper.hi.hi, lower.hi.hi);
  }
  fft_lanes y;
  y.re = fft_halves(fft_firsts(low.lo), fft_firsts(high.lo), fft_seconds(low.lo), fft_seconds(high.lo));
  y.im = fft_halves(fft_firsts(low.hi), fft_firsts(high.hi), fft_seconds(low.hi), fft_seconds(high.hi));
  return y;
}

#endif
