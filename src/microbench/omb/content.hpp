#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fabric/collectives/reference.hpp"
#include "microbench/omb/carrier.hpp"

namespace fabricmark::microbench::omb {

/// What a rank found wrong, of all that it has checked.
struct Found {
  std::size_t checked = 0;  ///< elements
  std::size_t wrong = 0;
  std::string place;  ///< of the first wrong one
  double expected = 0;
  double actual = 0;
};

/// Compares bit by bit, and adds what is found; `what` names the elements of a wrong one's place.
void compare(const collectives::View& expected, const collectives::View& actual, const std::string& what,
             Found& found);

/// Inputs that no other rank has, and no seed near this one; sums of `summands` of them are exact.
[[nodiscard]] collectives::Inputs inputs_of(std::uint64_t seed, int summands = 1);

/// Elements and memory for them; bytes on the host.
class Elements {
 public:
  Elements(std::size_t count, collectives::Type type)
      : bytes_(count * collectives::bytes_of(type)), count_(count), type_(type) {}
  [[nodiscard]] collectives::View view() { return {bytes_.data(), count_, type_}; }
  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  /// Turns every bit: what is put where a result is to come, so that none of its bytes is there before.
  void invert() {
    for (std::byte& byte : bytes_) byte = ~byte;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
  collectives::Type type_;
};

}  // namespace fabricmark::microbench::omb
