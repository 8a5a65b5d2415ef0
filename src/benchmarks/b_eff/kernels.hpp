#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/b_eff/exchanges.hpp"
#include "board/accl/call.hpp"
#include "board/board.hpp"
#include "device/event.hpp"
#include "kernels/common/dataflow.hpp"

namespace fabricmark::b_eff {

// kernels.cpp alone has the kernels of kernels/b_eff/dataflow.cpp; this is their hosts' side, as
// channel_pairs.hpp is.

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
