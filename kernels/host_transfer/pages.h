// Kernels that look at the first bytes of each page of a buffer, its mark: enough to make a runtime see that the
// buffer has changed, and to tell whether a copy has arrived, without the cost of touching all of it. A mark has
// four bytes, or as many as the buffer, one or two: of value + page the lowest ones, the lowest of them first.
#ifndef FABRICMARK_HOST_TRANSFER_PAGES_H
#define FABRICMARK_HOST_TRANSFER_PAGES_H

#define PAGE_BYTES 4096

/// Where byte `byte` of the mark of a page lies.
size_t place_of(const uint page, const uint byte) { return (size_t)page * PAGE_BYTES + byte; }

/// What stands there.
uchar mark_of(const uint page, const uint byte, const uint value) {
  return (uchar)((value + page) >> (8 * byte));
}

#endif
