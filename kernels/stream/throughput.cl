// STREAM, throughput kernel for CPUs and GPUs: each work-item handles VECTORS_PER_ITEM vectors.
//
// On a GPU neighbouring work-items touch neighbouring vectors, so that accesses coalesce; on a CPU a
// work-item's vectors lie side by side, so that a core streams. The operations and arguments are those of the
// base kernel, but `pieces` (vectors) bounds the work, so that blocks need not be whole.
#include "common/dialect.h"

typedef FM_VECTOR(DATA_TYPE, VECTOR_WIDTH) stream_vector;

__kernel void stream(__global const stream_vector* restrict first,
                     __global const stream_vector* restrict second, __global stream_vector* restrict result,
                     const float scalar, const uint pieces, const uint use_second) {
  const DATA_TYPE factor = (DATA_TYPE)scalar;
#if defined(FM_CPU)
  const size_t start = get_global_id(0) * VECTORS_PER_ITEM;
  const size_t end = min(start + VECTORS_PER_ITEM, (size_t)pieces);
  const size_t step = 1;
#else
  const size_t start = get_global_id(0);
  const size_t end = pieces;
  const size_t step = get_global_size(0);
#endif
  if (use_second) {
    for (size_t i = start; i < end; i += step) FM_STORE_ONCE(result[i], factor * first[i] + second[i]);
  } else {
    for (size_t i = start; i < end; i += step) FM_STORE_ONCE(result[i], factor * first[i]);
  }
}
