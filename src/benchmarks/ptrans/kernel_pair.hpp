#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/ptrans/pairs.hpp"
#include "board/board.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::ptrans {

/// What the two kernels of a pair work on: blocks of so many rows, one behind the other. Null where only time
/// is asked for.
struct PairMemory {
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  std::byte* c = nullptr;
};

/// What a pair costs, where words pass at another rate than one in each cycle of the kernels' clock.
struct PairCost {
  double interval = 1;      ///< of the sending kernel [cycles for a word]
  double memory_bytes = 0;  ///< that pass the device's memory meanwhile
};

/// The kernels of kernels/ptrans/dataflow.cpp that serve one channel, and the streams at their ends.
class KernelPair : public Interface {
 public:
  /// Their words go over the links at a port.
  virtual void open(board::Board& board, int port) = 0;
  /// Their words go to and come from streams of the engine with this number. Throws Error (bad use) for words
  /// of another length than the engine's.
  virtual void connect(accl::Accl& engine, int number) = 0;
  /// Starts both, once those of the last start have ended; `tasks` and memory have to stay until then.
  /// Returns the end of the receiving one.
  virtual device::Event start(dataflow::Host& host, const PairTasks& tasks, const PairMemory& memory,
                              const PairCost& cost) = 0;
};

/// The kernels and words of a pair, as kernel.toml has them.
struct PairSettings {
  std::string name;  ///< for messages
  bool is_double = false;
  std::size_t channel_width = 0;  ///< elements of a word
  std::size_t block_size = 0;
  std::size_t coarse = 1;  ///< words that pass as one; more than 1 where only time is asked for
  bool computes = true;
};

std::unique_ptr<KernelPair> make_pair(const PairSettings& settings);

/// The kernels that call the engine, and the streams between them and it.
class EngineCalls {
 public:
  /// Memory and blocks of an exchange by kernels: addresses of registered memories, elements of a block.
  struct Blocks {
    std::uint64_t from = 0;  ///< address
    std::uint64_t into = 0;
    std::size_t elements = 0;
  };
  /// Rank, place in blocks and tag of a message.
  using Numbers = std::array<int, 3>;

  EngineCalls(accl::Accl& engine, collectives::Type type);
  /// From stream i to stream i of rank `peer`, so many elements; `elements` has to stay.
  device::Event put_words(dataflow::Host& host, const std::vector<unsigned long long>& elements, int peer);
  /// Both have to stay.
  device::Event exchange(dataflow::Host& host, const std::vector<Numbers>& receives,
                         const std::vector<Numbers>& sends, const Blocks& blocks);

 private:
  struct Streams;
  std::shared_ptr<Streams> streams_;
  fm::accl_use use_;
  std::size_t element_bytes_;
};

}  // namespace fabricmark::ptrans
