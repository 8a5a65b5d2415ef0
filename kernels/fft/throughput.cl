// FFT, throughput kernels: `fft` and the two steps of a distributed transform for CPUs, `pass` for GPUs (and
// any device). n = 2^LOG_SIZE points; forward transforms are sums over x[j] exp(-2 pi i j k / n); nothing is
// scaled.
#include "fft/throughput_cpu.h"
#include "fft/throughput_gpu.h"

// Runs of `points` points: out[inner][outer] = in[outer][inner].
__kernel void swap_axes(__global const fft_complex* restrict source, __global fft_complex* restrict target,
                        const uint outer, const uint inner, const uint points) {
  const size_t blocks = (size_t)outer * inner;
  for (size_t block = get_global_id(0); block < blocks; block += get_global_size(0)) {
    const size_t from = block / inner, to = block % inner;
    for (uint i = 0; i < points; ++i) target[(to * outer + from) * points + i] = source[block * points + i];
  }
}
