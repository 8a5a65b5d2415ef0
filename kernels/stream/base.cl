// STREAM, base kernel: a single work-item design for FPGAs (Meyer 2024, section 3.1.2, Listing 3.1).
//
// One kernel serves the four operations, so that they share their hardware:
//   copy  c = a          (scalar 1)         add    c = a + b       (scalar 1, second input)
//   scale b = s c                           triad  a = s c + b     (second input)
// A block of BUFFER_SIZE vectors is loaded, added to and stored in three separate loops: each makes one long
// burst in one direction, which is what a DDR or HBM bank likes. UNROLL vectors a cycle go through registers,
// so that a tool without vectors of a type makes one wide access of scalars (section 3.3.2). A buffer no
// longer than that leaves one pipeline, which reads and writes at the same time (section 3.2.2).
// `units` counts whole blocks: the host pads.
#include "common/dialect.h"

#if FM_REPLICA == 0
typedef FM_VECTOR(DATA_TYPE, VECTOR_WIDTH) stream_vector;

#if BUFFER_SIZE > UNROLL
#define EACH_BLOCK FM_SERIAL
#define EACH_CYCLE \
  FM_PIPELINE      \
  FM_NO_FUSION
#else
#define EACH_BLOCK FM_PIPELINE
#define EACH_CYCLE FM_UNROLL_FULLY
#endif

#if BUFFER_SIZE == UNROLL
#define BUFFER_LAYOUT FM_REGISTERS
#elif UNROLL > 1
#define BUFFER_LAYOUT FM_PARTITION_CYCLIC(UNROLL, 1)
#else
#define BUFFER_LAYOUT
#endif
#endif

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(stream)(FM_GLOBAL(stream, first) const stream_vector* restrict first,
                                    FM_GLOBAL(stream, second) const stream_vector* restrict second,
                                    FM_GLOBAL(stream, result) stream_vector* restrict result,
                                    const float scalar, const uint units, const uint use_second) {
  const DATA_TYPE factor = (DATA_TYPE)scalar;
  EACH_BLOCK
  for (uint block = 0; block < units; ++block) {
    stream_vector buffer[BUFFER_SIZE] BUFFER_LAYOUT;
    const size_t start = (size_t)block * BUFFER_SIZE;
    EACH_CYCLE
    for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
      stream_vector read[UNROLL] FM_REGISTERS;
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) read[u] = first[start + k + u];
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) buffer[k + u] = factor * read[u];
    }
    if (use_second) {
      EACH_CYCLE
      for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
        stream_vector read[UNROLL] FM_REGISTERS;
        FM_UNROLL_FULLY
        for (uint u = 0; u < UNROLL; ++u) read[u] = second[start + k + u];
        FM_UNROLL_FULLY
        for (uint u = 0; u < UNROLL; ++u) buffer[k + u] += read[u];
      }
    }
    EACH_CYCLE
    for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
      stream_vector written[UNROLL] FM_REGISTERS;
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) written[u] = buffer[k + u];
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) FM_STORE_ONCE(result[start + k + u], written[u]);
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
