// Kernels that look at one word of each page of a buffer: enough to make a runtime see that the buffer has
// changed, and to tell whether a copy has arrived, without the cost of touching all of it.
#ifndef FABRICMARK_HOST_TRANSFER_PAGES_H
#define FABRICMARK_HOST_TRANSFER_PAGES_H

#define WORDS_PER_PAGE 1024

FM_SINGLE_WORK_ITEM
__kernel void touch(__global uint* restrict words, const uint pages, const uint value) {
  FM_PIPELINE
  for (uint page = 0; page < pages; ++page) words[(size_t)page * WORDS_PER_PAGE] = value + page;
}

FM_SINGLE_WORK_ITEM
__kernel void count_wrong(__global const uint* restrict words, const uint pages, const uint value,
                          __global uint* restrict wrong) {
  uint count = 0;
  FM_PIPELINE
  for (uint page = 0; page < pages; ++page) count += words[(size_t)page * WORDS_PER_PAGE] != value + page;
  wrong[0] = count;
}

#endif
