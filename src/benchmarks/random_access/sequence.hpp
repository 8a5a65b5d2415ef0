#pragma once

#include <cstdint>

namespace fabricmark::random_access {

/// The HPCC sequence: number k is a^k modulo a^64 + a^2 + a + 1, where the bits of a number are the
/// coefficients of a polynomial in a (HPCC 1.5, RandomAccess, POLY = 7). Updates are the numbers from 1 on.
inline constexpr std::uint64_t kPolynomial = 7;
/// After so many the numbers come again (HPCC's PERIOD).
inline constexpr std::uint64_t kPeriod = 1317624576693539401U;

constexpr std::uint64_t next_number(std::uint64_t number) {
  return (number << 1) ^ ((number >> 63) * kPolynomial);
}

/// The product of two polynomials.
constexpr std::uint64_t multiply(std::uint64_t left, std::uint64_t right) {
  std::uint64_t product = 0;
  for (; right != 0; right >>= 1) {
    if ((right & 1) != 0) product ^= left;
    left = next_number(left);
  }
  return product;
}

/// The number `steps` further on, at most kMostSteps: the bits shifted out come back times the polynomial.
inline constexpr int kMostSteps = 62;
constexpr std::uint64_t later_number(std::uint64_t number, int steps) {
  const std::uint64_t out = number >> 1 >> (63 - steps);
  return (number << steps) ^ out ^ (out << 1) ^ (out << 2);
}

/// Bit 63 - k is set where the number k steps further on, at most kMostSteps, updates an item of this part,
/// of the 2^log_part items that have these high bits. The bits of an item's address are those of `number`,
/// shifted, so that all steps are looked at together; log_part is at least 2.
constexpr std::uint64_t own_steps(std::uint64_t number, int log_part, int log_table, std::uint64_t part) {
  std::uint64_t own = ~std::uint64_t{0};
  for (int bit = log_part; bit < log_table; ++bit) {
    const std::uint64_t is_set =
        (number << (63 - bit)) ^ (number >> (bit + 1)) ^ (number >> bit) ^ (number >> (bit - 1));
    own &= is_set ^ ((part >> (bit - log_part) & 1U) - 1);
  }
  return own;
}

/// Number k of the sequence, without those before it.
constexpr std::uint64_t number_at(std::uint64_t k) {
  std::uint64_t number = 1;
  for (std::uint64_t square = 2; k != 0; k >>= 1) {
    if ((k & 1) != 0) number = multiply(number, square);
    square = multiply(square, square);
  }
  return number;
}

}  // namespace fabricmark::random_access
