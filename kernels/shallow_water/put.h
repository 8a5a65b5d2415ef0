// What ranks exchange where kernels reach other ranks' memory: packed there, and unpacked here, without a
// message of the host's.
#ifndef FABRICMARK_SHALLOW_WATER_PUT_H
#define FABRICMARK_SHALLOW_WATER_PUT_H

#include "common/flags.h"
#include "shallow_water/halo.h"

// As `pack`, for `count` elements from `first` on, which one rank gets: `shift` lies between the places in
// this rank's message and in that rank's memory. Exchange `number` is there then.
__kernel void put(__global const scalar* restrict state, __global const int* restrict places,
                  __global const int* restrict targets, __global const int* restrict spans,
                  __global scalar* restrict theirs, __global ulong* restrict marks, const uint first,
                  const uint count, const uint stride, const uint shift, __global uint* restrict flags,
                  const uint flag, __global uint* restrict left, const uint number) {
  const uint i = first + (uint)get_global_id(0);
  if (i < first + count) sw_pack(state, places, targets, spans, theirs + (int)shift, marks, stride, i);
  fm_raise(flags + flag, left, number);
}

// As `unpack`, once all that exchange `number` brings is here.
__kernel void take(__global scalar* restrict state, __global const int* restrict places,
                   __global const int* restrict targets, __global const int* restrict spans,
                   __global const scalar* packed, __global ulong* restrict marks, const uint count,
                   const uint stride, const uint shift, __global const uint* flags, const uint messages,
                   const uint number, __global uint* late, const ulong patience) {
  fm_await(flags, messages, number, late, patience);
  const uint i = (uint)get_global_id(0);
  if (i < count) sw_unpack(state, places, targets, spans, packed + (int)shift, marks, stride, i);
}

#endif
