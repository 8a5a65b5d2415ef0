#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "collectives/moves.hpp"
#include "device/device.hpp"
#include "microbench/common/description.hpp"
#include "microbench/omb/program.hpp"

namespace fabricmark::microbench::omb {

/// Where a side's messages lie, by OMB-FPGA's letters.
enum class Placement : char {
  kHost = 'H',
  kDevice = 'D',  ///< a device's memory, of an FPGA its DDR
  kHighBandwidth = 'B',
  kOnChip = 'P',
};

/// How often a size is measured.
struct Iterations {
  std::size_t counted = 0;
  std::size_t warmup = 0;
};

/// What the command line says.
struct Options {
  const Program* program = nullptr;
  std::string program_name;  ///< as it was called
  std::size_t smallest = 1;  ///< [bytes]; the next one is twice as many
  std::size_t largest = 0;
  std::optional<std::size_t> iterations{};
  std::optional<std::size_t> warmup{};
  int window = 64;
  int probes = 0;           ///< looks at an operation that does not block, while the rank computes
  bool checks_all = false;  ///< results of every iteration, and says so for every size
  bool is_full = false;     ///< also minimum and maximum times
  std::vector<int> percentiles{};
  std::vector<collectives::Type> types{};
  bool has_many_buffers = false;
  std::array<Placement, 2> places{Placement::kHost, Placement::kHost};
  std::string api;        ///< "none", "opencl" or "sycl"
  std::string transport;  ///< a folder of src/transport; between hosts mpi is the library itself
  int ranks = 2;
  int root = 0;
  double timeout_seconds = 60;
  device::Selection selection{};
  std::string memory;                         ///< kind of a device's; empty: what the transport moves
  std::string bitstream;                      ///< with the kernel that touches memory
  std::array<std::optional<int>, 3> banks{};  ///< of D, B and P, where a bitstream numbers them
  std::optional<double> limit{};              ///< most that the way can carry [GB/s]
  bool has_fault = false;                     ///< one element is made wrong
  std::optional<std::string> json{};
  std::vector<std::string> of_boards{};  ///< options for an emulated fabric, as fm_collective takes them
  bool has_places = false;               ///< the command line says where messages lie
  /// Messages lie in the memory of a device, or would if one were named: nothing says that they do not.
  bool takes_device = false;

  [[nodiscard]] bool is_on_hosts() const {
    return places[0] == Placement::kHost && places[1] == Placement::kHost;
  }
  [[nodiscard]] bool is_mixed() const {
    return (places[0] == Placement::kHost) != (places[1] == Placement::kHost);
  }
  /// Those of OMB 7, unless the command line says otherwise.
  [[nodiscard]] Iterations iterations_of(std::size_t bytes) const;
  /// "D D".
  [[nodiscard]] std::string placement() const;
};

/// "mpi_char", "mpi_int" or "mpi_float".
[[nodiscard]] std::string_view mpi_name(collectives::Type type);

/// All options of all programs.
[[nodiscard]] std::vector<OptionText> option_texts();

/// The options, or the text to print for --help and --version. `arguments` without the program's name. Throws
/// Error (bad use).
std::variant<Options, std::string> parse_options(const std::string& program,
                                                 std::vector<std::string> arguments);

}  // namespace fabricmark::microbench::omb
