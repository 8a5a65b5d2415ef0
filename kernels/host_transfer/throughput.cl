// host_transfer, throughput kernels: as base.cl, with the work spread over work-items.
#include "common/dialect.h"
#include "host_transfer/pages.h"

__kernel void increment(__global uint* restrict words, const uint count) {
  const size_t i = get_global_id(0);
  if (i < count) words[i] += 1;
}
