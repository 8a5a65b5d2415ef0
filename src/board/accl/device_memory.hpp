#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/moves.hpp"

namespace fabricmark::accl {

/// What of a device's memory its engine may read and write, by number and by physical address. Addresses are
/// of the emulated device: each memory begins on a page of its own, with a page between two of them that is
/// nobody's, and above 2^32, so that both halves of an address count.
class DeviceMemory {
 public:
  static constexpr std::uint64_t kFirstAddress = std::uint64_t{64} << 32;
  static constexpr std::uint64_t kPage = 4096;

  /// Returns its number: 0, 1, ...
  std::uint64_t add(const collectives::View& memory);
  /// Null where there is none.
  [[nodiscard]] const collectives::View* view(std::uint64_t number) const;
  /// Of a memory that is there.
  [[nodiscard]] std::uint64_t address(std::uint64_t number) const { return memories_.at(number).address; }
  /// All from an address on to the end of its memory, as elements of a type; none where no memory is there,
  /// or where the address is in the midst of an element.
  [[nodiscard]] std::optional<collectives::View> at(std::uint64_t address, collectives::Type type) const;

 private:
  struct Memory {
    std::uint64_t address;
    collectives::View view;
  };
  std::uint64_t next_ = kFirstAddress;
  std::vector<Memory> memories_;  // by address
};

}  // namespace fabricmark::accl
