// Kernels that look at the first bytes of each page of a buffer, its mark: enough to make a runtime see that the
// buffer has changed, and to tell whether a copy has arrived, without the cost of touching all of it. A mark has
// four bytes, or as many as the buffer: page `page` has the lowest bytes of value + page, the lowest one first.
#ifndef FABRICMARK_HOST_TRANSFER_PAGES_H
#define FABRICMARK_HOST_TRANSFER_PAGES_H

#define PAGE_BYTES 4096

void put_mark(__global uchar* memory, const uint page, const uint mark_bytes, const uint value) {
  for (uint i = 0; i < mark_bytes; ++i) {
    memory[(size_t)page * PAGE_BYTES + i] = (uchar)((value + page) >> (8 * i));
  }
}

uint is_wrong(__global const uchar* memory, const uint page, const uint mark_bytes, const uint value) {
  uint wrong = 0;
  for (uint i = 0; i < mark_bytes; ++i) {
    wrong |= memory[(size_t)page * PAGE_BYTES + i] != (uchar)((value + page) >> (8 * i));
  }
  return wrong;
}

#endif
