// FFT on a GPU: Stockham's form, one butterfly a work-item, one start of the kernel for each stage of radix
// 8, 4 or 2; neighbouring work-items touch neighbouring points.
#include "fft/types.h"

inline fft_complex product(fft_complex a, fft_complex b) {
  return (fft_complex)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// In place, on points that are `apart` in v; radix 2^log_radix, in natural order.
inline void butterfly(fft_complex* v, const uint log_radix, __global const fft_complex* twiddles) {
  const uint radix = 1u << log_radix;
  fft_complex sums[8];
  for (uint k = 0; k < radix; ++k) {
    sums[k] = v[0];
    for (uint i = 1; i < radix; ++i)
      sums[k] += product(v[i], twiddles[((i * k) & (radix - 1)) << (LOG_SIZE - log_radix)]);
  }
  for (uint k = 0; k < radix; ++k) v[k] = sums[k];
}

// One stage on `batch` transforms, of which blocks of 2^log_done points are transformed already. `twiddles`:
// exp(-2 pi i t / n). `swap_in` and `swap_out` exchange real and imaginary parts on the way in and out: both
// of them make the transform an inverse one.
__kernel void pass(__global const fft_complex* restrict in, __global fft_complex* restrict out,
                   __global const fft_complex* restrict twiddles, const uint log_radix, const uint log_done,
                   const uint swap_in, const uint swap_out) {
  const size_t id = get_global_id(0);
  const uint log_apart = LOG_SIZE - log_radix;
  const size_t start = id >> log_apart << LOG_SIZE;
  const uint j = (uint)id & ((1u << log_apart) - 1);
  const uint k = j & ((1u << log_done) - 1);
  const uint radix = 1u << log_radix;
  fft_complex v[8];
  for (uint i = 0; i < radix; ++i) {
    fft_complex point = in[start + j + (i << log_apart)];
    if (swap_in) point = point.yx;
    v[i] = product(point, twiddles[(i * k) << (LOG_SIZE - log_radix - log_done)]);
  }
  butterfly(v, log_radix, twiddles);
  const size_t place = start + (((size_t)(j - k)) << log_radix) + k;
  for (uint i = 0; i < radix; ++i) out[place + ((size_t)i << log_done)] = swap_out ? v[i].yx : v[i];
}
