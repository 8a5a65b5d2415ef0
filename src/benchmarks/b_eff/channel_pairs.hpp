#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/b_eff/exchanges.hpp"

namespace fabricmark::b_eff {

/// Channels of a pair of kernels: c'_n of Meyer 2024, eq. 4.3.
inline constexpr int kChannelsOfPair = 2;

/// What the kernels of all pairs exchange in a timed region.
struct ChannelMessages {
  std::array<std::uint8_t, kDirections> sent{};      ///< first byte of the first message of each pair
  std::array<std::uint8_t, kDirections> received{};  ///< of what it receives
  std::uint32_t words = 0;                           ///< of a message, over each channel
  std::uint32_t messages = 0;
};

/// What the receive kernel of a pair has found.
struct ChannelsReceived {
  std::vector<std::byte> last{};  ///< the last words of both channels
  std::uint32_t wrong = 0;        ///< bytes of all messages
  std::uint32_t message = 0;      ///< of the first wrong one
  std::uint32_t byte = 0;         ///< in its message
};

/// Pairs of a send and a receive kernel, one for each neighbour: that of direction 0 has the channels to the
/// next device (ports 0, 1), that of 1 those to the one before (ports 2, 3).
class ChannelPairs : public Interface {
 public:
  [[nodiscard]] virtual std::size_t word_bytes() const = 0;
  /// Starts all kernels and awaits them, as a timed region.
  virtual void time(runtime::TimedRegions& regions, const std::string& region,
                    const ChannelMessages& messages) = 0;
  [[nodiscard]] virtual ChannelsReceived received(std::size_t pair) = 0;
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Of emulated boards. Throws Error (2) as board::Board, and for channels of a width that no kernel was built
/// for.
std::unique_ptr<ChannelPairs> make_board_pairs(const runtime::Context& context);

/// Of devices with Intel's external channels: the design for the 520N (Meyer 2024, section 4.1.1.2). Throws
/// Error (2) for ranks that its channels do not join, a device that may run its kernels one after the other,
/// and faults of messages, which nothing makes there.
std::unique_ptr<ChannelPairs> make_device_pairs(const runtime::Context& context);

}  // namespace fabricmark::b_eff
