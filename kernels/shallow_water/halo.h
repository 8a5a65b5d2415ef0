// What ranks exchange, packed for messages and unpacked; ND-range kernels of all variants.
#ifndef FABRICMARK_SHALLOW_WATER_HALO_H
#define FABRICMARK_SHALLOW_WATER_HALO_H

#include "common/marks.h"
#include "shallow_water/basis.h"

// What other ranks need: number n of own element places[i] goes to packed[targets[i] + n * spans[i]].
// marks[i] is of all that this element has sent; the host compares it with that of the rank that got it.
FM_INLINE void sw_pack(__global const scalar* state, __global const int* places, __global const int* targets,
                       __global const int* spans, __global scalar* packed, __global ulong* marks,
                       const uint stride, const uint i) {
  ulong mark = marks[i];
  for (int number = 0; number < SW_NUMBERS; ++number) {
    const scalar value = state[(size_t)number * stride + places[i]];
    packed[targets[i] + number * spans[i]] = value;
    mark = fm_marked(mark, value);
  }
  marks[i] = mark;
}

// The same the other way round, for what has come.
FM_INLINE void sw_unpack(__global scalar* state, __global const int* places, __global const int* targets,
                         __global const int* spans, __global const scalar* packed, __global ulong* marks,
                         const uint stride, const uint i) {
  ulong mark = marks[i];
  for (int number = 0; number < SW_NUMBERS; ++number) {
    const scalar value = packed[targets[i] + number * spans[i]];
    state[(size_t)number * stride + places[i]] = value;
    mark = fm_marked(mark, value);
  }
  marks[i] = mark;
}

__kernel void pack(__global const scalar* restrict state, __global const int* restrict places,
                   __global const int* restrict targets, __global const int* restrict spans,
                   __global scalar* restrict packed, __global ulong* restrict marks, const uint count,
                   const uint stride) {
  const uint i = (uint)get_global_id(0);
  if (i < count) sw_pack(state, places, targets, spans, packed, marks, stride, i);
}

__kernel void unpack(__global scalar* restrict state, __global const int* restrict places,
                     __global const int* restrict targets, __global const int* restrict spans,
                     __global const scalar* restrict packed, __global ulong* restrict marks, const uint count,
                     const uint stride) {
  const uint i = (uint)get_global_id(0);
  if (i < count) sw_unpack(state, places, targets, spans, packed, marks, stride, i);
}

#endif
