// What the messages of b_eff carry, for whoever makes and checks them: the host (src/benchmarks/b_eff), the
// dataflow kernels and the kernels for external channels. In the common subset of OpenCL C and C++14.
#ifndef FABRICMARK_B_EFF_CONTENT_H
#define FABRICMARK_B_EFF_CONTENT_H

// Numbers of first bytes: a prime, and less than 256, so that no message begins with what poisons a receive
// buffer.
#define B_EFF_FIRST_BYTES 251u
// The first byte of a message less that of the message before it in a series.
#define B_EFF_NEXT_MESSAGE 7u

// That of the next message. Without a division, which would be the longest path of a kernel.
static inline unsigned char b_eff_next(unsigned char first) {
  const unsigned int next = first + B_EFF_NEXT_MESSAGE;
  return (unsigned char)(next < B_EFF_FIRST_BYTES ? next : next - B_EFF_FIRST_BYTES);
}

// Byte `i` of the message that begins with `first`. The 256 bytes that begin at a multiple of 256 follow from
// the first of them: b_eff_byte(b_eff_byte(first, start), i - start).
static inline unsigned char b_eff_byte(unsigned char first, unsigned int i) {
  return (unsigned char)(first + i * 17u + (i >> 8) * 5u + (i >> 16) * 3u + (i >> 24) * 11u);
}

#endif
