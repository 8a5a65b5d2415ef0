// host_transfer, throughput kernels: as base.cl, with the work spread over work-items.
#include "common/dialect.h"
#include "host_transfer/pages.h"

__kernel void touch(__global uchar* restrict memory, const uint pages, const uint mark_bytes,
                    const uint value) {
  const uint page = (uint)get_global_id(0);
  if (page >= pages) return;
  for (uint byte = 0; byte < mark_bytes; ++byte) memory[place_of(page, byte)] = mark_of(page, byte, value);
}

__kernel void count_wrong(__global const uchar* restrict memory, const uint pages, const uint mark_bytes,
                          const uint value, __global uint* restrict wrong) {
  const uint page = (uint)get_global_id(0);
  if (page >= pages) return;
  bool is_right = true;
  for (uint byte = 0; byte < mark_bytes; ++byte) {
    is_right = is_right && memory[place_of(page, byte)] == mark_of(page, byte, value);
  }
  if (!is_right) atomic_inc(wrong);
}

__kernel void increment(__global uint* restrict words, const uint count) {
  const size_t i = get_global_id(0);
  if (i < count) words[i] += 1;
}
