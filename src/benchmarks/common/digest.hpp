#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random_bits.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::common {

/// A number that has all bits of an element and its place in a matrix in it. Their sum over a matrix is the
/// same however that lies on ranks.
template <typename T>
std::uint64_t digest_of_element(T value, std::size_t row, std::size_t column, std::size_t columns) {
  using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;
  const std::uint64_t where = mixed_bits((row * columns + column + 1) * kRandomStep);
  return mixed_bits(where ^ std::bit_cast<Bits>(value));
}

/// For the notes of a result: the sum over all ranks. Collective.
inline std::string digest_note(runtime::Communicator& ranks, const std::string& what, std::uint64_t own) {
  std::uint64_t sum = 0;
  for (const std::vector<std::byte>& bytes : ranks.all_gather(std::as_bytes(std::span(&own, 1)))) {
    std::uint64_t one = 0;
    std::memcpy(&one, bytes.data(), sizeof(one));
    sum += one;
  }
  return fmt::format("digest of {}: {:016x}", what, sum);
}

}  // namespace fabricmark::common
