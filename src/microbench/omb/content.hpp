#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "collectives/reference.hpp"
#include "microbench/common/found.hpp"
#include "microbench/omb/carrier.hpp"

namespace fabricmark::microbench::omb {

/// Compares bit by bit, and adds what is found; `what` names the elements of a wrong one's place, of which
/// the first has the number `first`.
void compare(const collectives::View& expected, const collectives::View& actual, const std::string& what,
             Found& found, std::size_t first = 0);

/// Inputs that no other rank has, and no seed near this one; sums of `summands` of them are exact.
[[nodiscard]] collectives::Inputs inputs_of(std::uint64_t seed, int summands = 1);

/// Elements and memory for them; bytes on the host.
class Elements {
 public:
  Elements(std::size_t count, collectives::Type type)
      : bytes_(count * collectives::bytes_of(type)), count_(count), type_(type) {}
  [[nodiscard]] collectives::View view() { return {bytes_.data(), count_, type_}; }
  /// The first ones.
  [[nodiscard]] collectives::View view(std::size_t count) { return {bytes_.data(), count, type_}; }
  [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
  /// Has so many from now on; memory that it has had it keeps.
  void resize(std::size_t count) {
    bytes_.resize(count * collectives::bytes_of(type_));
    count_ = count;
  }
  /// Turns every bit: what is put where a result is to come, so that none of its bytes is there before.
  void invert() {
    for (std::byte& byte : bytes_) byte = ~byte;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t count_;
  collectives::Type type_;
};

/// What a rank sends or is to receive, for one seed after the other. From seed to seed the same number is
/// added to all elements (collectives::Inputs::Numbers::kDistinct), so that those of one seed are worked out
/// once: a check costs little more than the copies it makes.
class Operand {
 public:
  /// Writes the elements from number `first` on.
  using Make = std::function<void(std::uint64_t seed, const collectives::View& elements, std::size_t first)>;
  Operand() = default;
  /// Keeps the first `count`; those behind are made each time.
  Operand(std::size_t count, collectives::Type type, Make make);

  /// Calls `use` with one piece of the elements after the other, and with the number of its first one.
  using Use = std::function<void(Elements& piece, std::size_t first)>;
  void pieces(std::uint64_t seed, std::size_t first, std::size_t count, const Use& use);
  /// The same with what `read` gets for each piece, to be compared with it.
  using Read = std::function<void(std::size_t first, std::span<std::byte> bytes)>;
  void compare(std::uint64_t seed, std::size_t first, std::size_t count, const Read& read,
               const std::string& what, Found& found);

 private:
  void make(std::uint64_t seed, std::size_t first);

  collectives::Type type_ = collectives::Type::kInt8;
  Elements kept_{0, collectives::Type::kInt8};
  Elements piece_{0, collectives::Type::kInt8};
  Elements actual_{0, collectives::Type::kInt8};
  Make make_;
};

}  // namespace fabricmark::microbench::omb
