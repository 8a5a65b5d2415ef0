#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/b_eff/exchanges.hpp"
#include "board/accl/call.hpp"
#include "board/board.hpp"
#include "device/event.hpp"
#include "kernels/common/dataflow.hpp"

namespace fabricmark::b_eff {

// kernels.cpp alone has the kernels of kernels/b_eff/dataflow.cpp; these are their hosts' side.

/// Channels of a pair of kernels: c'_n of Meyer 2024, eq. 4.3.
inline constexpr int kChannelsOfPair = 2;

/// What the receive kernel of a pair found.
struct ChannelsReceived {
  std::uint32_t wrong_words = 0;
  std::uint32_t message = 0;  ///< of the first one
  std::uint32_t word = 0;     ///< within it
  bool is_chunk_right = false;
};

/// Pairs of a send and a receive kernel of a board, one for each neighbour: that of direction 0 has the
/// channels to the next device (ports 0, 1), that of 1 those to the one before (ports 2, 3).
class ChannelPairs : public Interface {
 public:
  /// Starts both for `messages` of `words` words on each channel. `seeds`: of the chunk that each sends
  /// first.
  virtual void start(const std::array<std::uint32_t, kDirections>& seeds, std::uint32_t words,
                     std::uint32_t messages) = 0;
  /// Once they have ended; `seed`: of the chunk that has to be the last one.
  [[nodiscard]] virtual ChannelsReceived received(std::size_t pair, std::uint32_t seed) const = 0;
};

/// `width`: elements of 4 bytes in a word of a channel. Throws Error (2) for one that no kernel was built
/// for.
std::unique_ptr<ChannelPairs> make_channel_pairs(board::Board& board, std::int64_t width);

/// A word of the streams between kernels and an engine.
using EngineWord = fm::words<unsigned int, 16>;
static_assert(sizeof(EngineWord) == accl::kWordBytes);

/// Messages in a row in memory.
struct MessagesAt {
  EngineWord* first = nullptr;
  unsigned int words = 0;   ///< of each
  unsigned int stride = 0;  ///< words from one to the next
  unsigned int count = 1;
};

/// The kernels of a board with an engine. Number d of the streams to and from the engine is that of the
/// messages in direction d.
class EngineKernels {
 public:
  /// Connects all streams with the board's engine.
  explicit EngineKernels(board::Board& board);

  /// Starts the control kernel: `rounds` times as many of the calls, which stay until it has ended; it awaits
  /// the messages that arrive in the directions of `awaits`, which take() has to take.
  void call(std::vector<accl::Command> calls, unsigned int rounds,
            const std::array<bool, kDirections>& awaits);
  /// Starts the kernel that makes the messages in a direction.
  void make(std::size_t direction, const MessagesAt& messages);
  /// Starts the kernel that takes those that arrive in it.
  device::Event take(std::size_t direction, const MessagesAt& messages);
  /// Once all have ended. Throws Error (1) where a call of the control kernel has failed.
  void check_calls() const;

 private:
  struct Streams;
  board::Board& board_;
  std::shared_ptr<Streams> streams_;
  std::vector<accl::Command> calls_;
  std::array<int, 2> failed_{};
};

}  // namespace fabricmark::b_eff
