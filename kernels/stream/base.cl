// STREAM, base kernel: a single work-item design for FPGAs (Meyer 2024, section 3.1.2, Listing 3.1).
//
// One kernel serves the four operations, so that they share their hardware:
//   copy  c = a          (scalar 1)         add    c = a + b       (scalar 1, second input)
//   scale b = s c                           triad  a = s c + b     (second input)
// A block of BUFFER_SIZE vectors is loaded, added to and stored in three separate loops: each makes one long
// burst in one direction, which is what a DDR or HBM bank likes. UNROLL vectors a cycle go through registers,
// so that a tool without vectors of a type makes one wide access of scalars (section 3.3.2). A buffer no
// longer than that leaves one pipeline, which reads and writes at the same time (section 3.2.2).
// `pieces` counts whole blocks: the host pads.
#include "common/dialect.h"

#if FM_REPLICA == 0
typedef FM_VECTOR(DATA_TYPE, VECTOR_WIDTH) stream_vector;
#if VECTOR_WIDTH > 1
#define AS_ONE_WORD(name) FM_HLS(aggregate variable = name)
#else
#define AS_ONE_WORD(name)
#endif

#if BUFFER_SIZE > UNROLL
#define EACH_BLOCK FM_SERIAL
#define EACH_CYCLE \
  FM_PIPELINE      \
  FM_NO_FUSION
#define IN_BLOCK
#define IN_CYCLE FM_HLS(pipeline II = 1)
#else
#define EACH_BLOCK FM_PIPELINE
#define EACH_CYCLE FM_UNROLL_FULLY
#define IN_BLOCK FM_HLS(pipeline II = 1)
#define IN_CYCLE FM_HLS(unroll)
#endif

#if BUFFER_SIZE == UNROLL
#define BUFFER_LAYOUT FM_REGISTERS
#define LAY_BUFFER FM_HLS(array_partition variable = buffer complete dim = 0)
#elif UNROLL > 1
#define BUFFER_LAYOUT FM_PARTITION_CYCLIC(UNROLL, 1)
#define LAY_BUFFER FM_HLS(array_partition variable = buffer cyclic factor = UNROLL dim = 1)
#else
#define BUFFER_LAYOUT
#define LAY_BUFFER
#endif
#endif

FM_SINGLE_WORK_ITEM
__kernel void FM_REPLICATED(stream)(FM_GLOBAL(stream, first) const stream_vector* restrict first,
                                    FM_GLOBAL(stream, second) const stream_vector* restrict second,
                                    FM_GLOBAL(stream, result) stream_vector* restrict result,
                                    const float scalar, const uint pieces, const uint use_second) {
  FM_PORT(first)
  FM_PORT(second)
  FM_PORT(result)
  AS_ONE_WORD(first)
  AS_ONE_WORD(second)
  AS_ONE_WORD(result)
  FM_SCALAR(scalar)
  FM_SCALAR(pieces)
  FM_SCALAR(use_second)
  FM_CONTROL
  const DATA_TYPE factor = (DATA_TYPE)scalar;
  EACH_BLOCK
  for (uint block = 0; block < pieces; ++block) {
    IN_BLOCK
    stream_vector buffer[BUFFER_SIZE] BUFFER_LAYOUT;
    LAY_BUFFER
    AS_ONE_WORD(buffer)
    const size_t start = (size_t)block * BUFFER_SIZE;
    EACH_CYCLE
    for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
      IN_CYCLE
      stream_vector read[UNROLL] FM_REGISTERS;
      FM_HLS(array_partition variable = read complete dim = 0)
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) {
        FM_HLS(unroll)
        read[u] = first[start + k + u];
      }
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) {
        FM_HLS(unroll)
        buffer[k + u] = factor * read[u];
      }
    }
    if (use_second) {
      EACH_CYCLE
      for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
        IN_CYCLE
        stream_vector read[UNROLL] FM_REGISTERS;
        FM_HLS(array_partition variable = read complete dim = 0)
        FM_UNROLL_FULLY
        for (uint u = 0; u < UNROLL; ++u) {
          FM_HLS(unroll)
          read[u] = second[start + k + u];
        }
        FM_UNROLL_FULLY
        for (uint u = 0; u < UNROLL; ++u) {
          FM_HLS(unroll)
          buffer[k + u] += read[u];
        }
      }
    }
    EACH_CYCLE
    for (uint k = 0; k < BUFFER_SIZE; k += UNROLL) {
      IN_CYCLE
      stream_vector written[UNROLL] FM_REGISTERS;
      FM_HLS(array_partition variable = written complete dim = 0)
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) {
        FM_HLS(unroll)
        written[u] = buffer[k + u];
      }
      FM_UNROLL_FULLY
      for (uint u = 0; u < UNROLL; ++u) {
        FM_HLS(unroll)
        FM_STORE_ONCE(result[start + k + u], written[u]);
      }
    }
  }
}

#if FM_REPLICA + 1 < FM_REPLICAS
#include __FILE__
#endif
