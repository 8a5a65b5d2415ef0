#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "board/accl/settings.hpp"
#include "collectives/operation.hpp"
#include "device/device.hpp"
#include "microbench/common/description.hpp"

namespace fabricmark::microbench {

/// What is measured.
enum class Act : std::uint8_t {
  kCollective,  ///< one call of all ranks
  kSend,        ///< ranks 0 and 1 send each other a message, and then receive the other's
  kPingPong,    ///< a message of rank 0 to rank 1, which sends one back: the time of both
  kOneWay,      ///< `window` messages of rank 0 to rank 1 at a time
  kBothWays,    ///< the same in both directions at once
  kPut,         ///< rank 0 writes memory of rank 1
  kStreamPut,   ///< rank 0 writes into a stream of rank 1
};

/// Who carries messages, and in which time.
enum class Medium : std::uint8_t {
  kEngine,     ///< an engine at each device's port: modelled
  kLinks,      ///< kernels over direct links between devices: modelled
  kTransport,  ///< a folder of src/transport: by the wall clock
};

/// What the command line says.
struct Options {
  std::string name;  ///< of the operation
  Act act = Act::kCollective;
  collectives::Operation operation = collectives::Operation::kBarrier;  ///< kCollective
  std::string transport;
  Medium medium = Medium::kEngine;
  bool is_from_logic = false;  ///< who calls: a kernel, or the host
  bool uses_streams = false;   ///< where operands are: in streams of kernels, or in memory
  int ranks = 2;
  bool has_ranks = false;        ///< the command line says how many
  std::filesystem::path system;  ///< empty over a transport, which is there
  accl::Choices choices{};
  std::optional<std::size_t> rx_buffers{};
  std::optional<std::size_t> rx_bytes{};
  std::optional<std::size_t> eager_bytes{};
  bool is_compressed = false;
  std::string algorithm;     ///< empty: chosen by cost
  std::string topology;      ///< empty: as the system has it
  std::size_t smallest = 0;  ///< [bytes], of one rank's elements; the next one is twice as many
  std::size_t largest = 0;
  collectives::Type type = collectives::Type::kFloat32;
  collectives::Reduction reduction = collectives::Reduction::kSum;
  int root = 0;
  int window = 1;   ///< kOneWay and kBothWays
  double drop = 0;  ///< share of packets
  /// That a call waits for others: of modelled time with an engine, of a message by the wall clock over a
  /// transport.
  double timeout_seconds = 1;
  int repetitions = 1;          ///< that count
  device::Selection selection;  ///< over a transport between devices
  int workers = 1;
  std::optional<std::uint64_t> schedule_seed{};
  bool has_fault = false;             ///< one element is made wrong
  std::optional<std::string> json{};  ///< file, or "-" for standard output
};

/// Whether messages lie in the memory of a device of OpenCL or SYCL.
[[nodiscard]] bool takes_device(const Options& options);

/// All of fm_collective.
[[nodiscard]] std::vector<OptionText> option_texts();

/// The options, or the text to print for --help and --version. Throws Error (bad use).
std::variant<Options, std::string> parse_options(const std::vector<std::string>& arguments);

/// What `options` say, with these words of an emulated fabric, as of fm_collective's command line: --system,
/// --issuer, --mode, --topology, --mtu, --window, --workers, --drop, --algorithm. Throws Error (bad use).
Options with_board_options(Options options, const std::vector<std::string>& words);

}  // namespace fabricmark::microbench
