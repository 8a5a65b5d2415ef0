// host_transfer, base kernels: touch and check a buffer, and some work between a write and a read.
#include "common/dialect.h"
#include "host_transfer/pages.h"

FM_SINGLE_WORK_ITEM
__kernel void increment(__global uint* restrict words, const uint count) {
  FM_PIPELINE
  for (uint i = 0; i < count; ++i) words[i] += 1;
}
