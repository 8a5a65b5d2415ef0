#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "device/device.hpp"
#include "power/source.hpp"
#include "runtime/fault.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/timed_regions.hpp"

namespace fabricmark::runtime {

/// What every program understands, whatever it measures.
struct Options {
  device::Selection selection;
  bool list_devices = false;
  std::string variant;              ///< empty: by device class
  std::string language = "opencl";  ///< of the kernels: opencl, or sycl on a device of SYCL
  std::optional<std::filesystem::path> kernel_file;
  std::optional<std::filesystem::path> bitstream;
  std::optional<std::filesystem::path> save_bitstream;
  std::optional<std::filesystem::path> system;
  std::string bitstream_id;  ///< of the system; empty: the only one of the benchmark
  bool simulates = false;    ///< what is timed also from the system, on the modelled clock
  bool timing_only = false;  ///< nothing but that: on a dry-run device
  int ranks = 1;
  int repetitions = 0;  ///< 0: as many as the benchmark asks for
  int warmup = 1;
  std::optional<double> min_time_seconds;
  std::optional<double> max_time_seconds;
  std::optional<std::string> json;  ///< file name, or "-" for standard output
  bool quiet = false;               ///< one line in place of the table
  bool timeline = false;
  bool inner_samples = false;  ///< of parts that repeat the same thing
  bool skip_validation = false;
  std::optional<Fault> fault;
  std::optional<Delay> delay;
  std::string memory;  ///< kind of it; empty: what the transport moves, else plain buffers
  power::Settings power;
  double timeout_seconds = 60;
  std::optional<double> kernel_timeout_seconds;
  /// How long a command of the device may take: ten times as long as a message, where nothing is said.
  [[nodiscard]] double kernel_timeout() const {
    constexpr double kKernelOfMessage = 10;
    return kernel_timeout_seconds.value_or(kKernelOfMessage * timeout_seconds);
  }
  std::map<std::string, std::string> parameters;  ///< given ones by name, as texts
  /// All that were given, as they were written, to compare with those of other ranks.
  std::vector<std::pair<std::string, std::string>> given;
};

/// What of them decides about the kernel.
Wanted wanted_by(const Options& options);

/// The options, or the text to print for --help and --version. Throws Error (bad use).
std::variant<Options, std::string> parse_options(const std::vector<std::string>& arguments,
                                                 const std::string& program, const KernelSpec& spec);

}  // namespace fabricmark::runtime
