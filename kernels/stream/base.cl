// STREAM, base kernel: a single work-item design for FPGAs (Meyer 2024, section 3.1.2, Listing 3.1).
//
// One kernel serves the four operations, so that they share their hardware:
//   copy  c = a          (scalar 1)         add    c = a + b       (scalar 1, second input)
//   scale b = s c                           triad  a = s c + b     (second input)
// A block of BUFFER_SIZE elements is loaded, added to and stored in three separate loops: each makes one long
// burst in one direction, which is what a DDR or HBM bank likes. `units` counts whole blocks: the host pads.
#include "common/dialect.h"

#if FM_REPLICA == 0
typedef FM_VECTOR(DATA_TYPE, VECTOR_WIDTH) stream_vector;
#endif

#define VECTORS_PER_BLOCK (BUFFER_SIZE / VECTOR_WIDTH)

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(stream)(__global const stream_vector* restrict first,
                                    __global const stream_vector* restrict second,
                                    __global stream_vector* restrict result, const float scalar,
                                    const uint units, const uint use_second) {
  const DATA_TYPE factor = (DATA_TYPE)scalar;
  for (uint block = 0; block < units; ++block) {
    stream_vector buffer[VECTORS_PER_BLOCK];
    const size_t start = (size_t)block * VECTORS_PER_BLOCK;
    FM_PIPELINE
    FM_UNROLL(UNROLL)
    for (uint k = 0; k < VECTORS_PER_BLOCK; ++k) buffer[k] = factor * first[start + k];
    if (use_second) {
      FM_PIPELINE
      FM_UNROLL(UNROLL)
      for (uint k = 0; k < VECTORS_PER_BLOCK; ++k) buffer[k] += second[start + k];
    }
    FM_PIPELINE
    FM_UNROLL(UNROLL)
    for (uint k = 0; k < VECTORS_PER_BLOCK; ++k) FM_STORE_ONCE(result[start + k], buffer[k]);
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
