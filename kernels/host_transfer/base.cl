// host_transfer, base kernels: mark and check a buffer, and some work between a write and a read.
#include "common/dialect.h"
#include "host_transfer/pages.h"

// One loop over the bytes of all marks: of 1, 2 or 4 bytes, a half is also the power of two.
FM_SINGLE_WORK_ITEM
__kernel void touch(__global uchar* restrict memory, const uint pages, const uint mark_bytes,
                    const uint value) {
  FM_PIPELINE
  for (uint i = 0; i < pages * mark_bytes; ++i) {
    const uint page = i >> (mark_bytes / 2);
    const uint byte = i & (mark_bytes - 1);
    memory[place_of(page, byte)] = mark_of(page, byte, value);
  }
}

/// `wrong`: the pages without their mark, added to what stands there.
FM_SINGLE_WORK_ITEM
__kernel void count_wrong(__global const uchar* restrict memory, const uint pages, const uint mark_bytes,
                          const uint value, __global uint* restrict wrong) {
  uint count = 0;
  bool is_right = true;  // so far, of the page
  FM_PIPELINE
  for (uint i = 0; i < pages * mark_bytes; ++i) {
    const uint page = i >> (mark_bytes / 2);
    const uint byte = i & (mark_bytes - 1);
    const bool is_same = memory[place_of(page, byte)] == mark_of(page, byte, value);
    is_right = (byte == 0 || is_right) && is_same;
    if (byte + 1 == mark_bytes && !is_right) ++count;
  }
  wrong[0] += count;
}

FM_SINGLE_WORK_ITEM
__kernel void increment(__global uint* restrict words, const uint count) {
  FM_PIPELINE
  for (uint i = 0; i < count; ++i) words[i] += 1;
}
