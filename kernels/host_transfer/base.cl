// host_transfer, base kernels: mark and check a buffer, and some work between a write and a read.
#include "common/dialect.h"
#include "host_transfer/pages.h"

FM_SINGLE_WORK_ITEM
__kernel void touch(__global uchar* restrict memory, const uint pages, const uint mark_bytes,
                    const uint value) {
  FM_PIPELINE
  for (uint page = 0; page < pages; ++page) put_mark(memory, page, mark_bytes, value);
}

/// `wrong`: the pages without their mark, added to what stands there.
FM_SINGLE_WORK_ITEM
__kernel void count_wrong(__global const uchar* restrict memory, const uint pages, const uint mark_bytes,
                          const uint value, __global uint* restrict wrong) {
  uint count = 0;
  FM_PIPELINE
  for (uint page = 0; page < pages; ++page) count += is_wrong(memory, page, mark_bytes, value);
  wrong[0] += count;
}

FM_SINGLE_WORK_ITEM
__kernel void increment(__global uint* restrict words, const uint count) {
  FM_PIPELINE
  for (uint i = 0; i < count; ++i) words[i] += 1;
}
