// The HPCC sequence: number k is a^k modulo a^64 + a^2 + a + 1, where the bits of a number are the
// coefficients of a polynomial in a. The host enters the sequence anywhere by raising a to a power.
#ifndef FABRICMARK_RANDOM_ACCESS_SEQUENCE_H
#define FABRICMARK_RANDOM_ACCESS_SEQUENCE_H

#define RA_POLYNOMIAL 7UL

static inline ulong next_number(const ulong number) {
  return (number << 1) ^ ((long)number < 0 ? RA_POLYNOMIAL : 0UL);
}

// A number updates the item that its low bits name: of those of a kernel's part, which are 2^log_part in a
// row, the one that the lowest name.
static inline ulong own_item(const ulong number, const uint log_part) {
  return number & ((1UL << log_part) - 1);
}

#endif
