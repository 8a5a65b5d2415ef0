#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/moves.hpp"

namespace fabricmark::accl {

/// Where in the engine's own memory ACCL's driver describes what words 3 and 7 of a command name: behind two
/// words and seven of each receive buffer the communicator of all ranks (two words, and six of each rank),
/// the datapaths (seven words, and one of each reduction that it does), then further communicators. The order
/// is that of ACCL::initialize and of the keys of DEFAULT_ARITH_CONFIG (driver/xrt of
/// github.com/Xilinx/ACCL). Behind them int8 has a datapath, which ACCL has not; nor ends this memory at 8
/// KiB, as ACCL's does.
class ExchangeMemory {
 public:
  struct Datapath {
    collectives::Type type;
    bool has_compression;  ///< float32 as float16
  };
  explicit ExchangeMemory(std::size_t rx_buffers) : next_(kWord * (2 + kWordsOfBuffer * rx_buffers)) {}

  /// The next communicator, of so many ranks; the first one brings the datapaths.
  void add_communicator(std::size_t ranks);
  /// Of number 0, 1, ...
  [[nodiscard]] std::uint32_t communicator(int number) const {
    return communicators_.at(static_cast<std::size_t>(number));
  }
  /// None where no communicator begins.
  [[nodiscard]] std::optional<int> communicator_at(std::uint32_t address) const;
  /// Of elements of a type; `has_compression` of float32 alone.
  [[nodiscard]] std::uint32_t datapath(collectives::Type type, bool has_compression) const;
  [[nodiscard]] std::optional<Datapath> datapath_at(std::uint32_t address) const;

 private:
  static constexpr std::size_t kWord = 4;  ///< bytes
  static constexpr std::size_t kWordsOfBuffer = 7;
  std::size_t next_;
  std::size_t datapaths_ = 0;  ///< where they begin
  std::vector<std::uint32_t> communicators_;
};

}  // namespace fabricmark::accl
