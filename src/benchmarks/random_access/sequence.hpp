#pragma once

#include <cstdint>

namespace fabricmark::random_access {

/// The HPCC sequence: number k is a^k modulo a^64 + a^2 + a + 1, where the bits of a number are the
/// coefficients of a polynomial in a (HPCC 1.5, RandomAccess, POLY = 7). Updates are the numbers from 1 on.
inline constexpr std::uint64_t kPolynomial = 7;

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
