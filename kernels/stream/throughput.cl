// STREAM, throughput kernel: one work-item per UNROLL vectors, for CPUs and GPUs.
//
// Neighbouring work-items touch neighbouring vectors, so that a GPU coalesces and a CPU streams. The
// operations and arguments are those of the base kernel; `vectors` bounds the work, so that no padding is
// needed here.
#include "common/dialect.h"

typedef FM_VECTOR(DATA_TYPE, VECTOR_WIDTH) stream_vector;

__kernel void stream(__global const stream_vector* restrict first,
                     __global const stream_vector* restrict second, __global stream_vector* restrict result,
                     const float scalar, const uint vectors, const uint use_second) {
  const DATA_TYPE factor = (DATA_TYPE)scalar;
  const size_t items = get_global_size(0);
  for (uint k = 0; k < UNROLL; ++k) {
    const size_t i = get_global_id(0) + k * items;
    if (i < vectors) {
      const stream_vector scaled = factor * first[i];
      FM_STORE_ONCE(result[i], use_second ? scaled + second[i] : scaled);
    }
  }
}
