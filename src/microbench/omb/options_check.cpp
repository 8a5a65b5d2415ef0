#include "microbench/omb/options_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "device/sycl/devices.hpp"
#include "microbench/common/measured_transport.hpp"
#include "runtime/kernel_spec.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/host/host_transport.hpp"
#include "transport/mpi/passing.hpp"

namespace fabricmark::microbench::omb {

namespace {

constexpr std::array kBoardOptions{"--system", "--issuer",  "--mode", "--topology", "--mtu",
                                   "--window", "--workers", "--drop", "--algorithm"};

std::string names_between(std::initializer_list<runtime::Between> kinds) {
  return fmt::format("{}", fmt::join(runtime::transports_between(kinds), ", "));
}

std::string board_transports() {
  return names_between({runtime::Between::kEngines, runtime::Between::kStreams});
}

/// Between memories of hosts it is the library itself.
bool is_library(const std::string& transport) { return transport == transport::kMpiTransport; }

bool is_between(const std::string& transport, runtime::Between kind) {
  const runtime::TransportSpec* const spec = runtime::find_transport(transport);
  return spec != nullptr && spec->between == kind;
}

/// A device that is named means its memory, where nothing says otherwise.
void settle_places(Options& options) {
  if (is_over_boards(options)) return;
  options.takes_device =
      options.has_places ? !options.is_on_hosts()
                         : options.api != "none" && !is_between(options.transport, runtime::Between::kHosts);
  const bool is_named = options.selection.platform || options.selection.device;
  if (is_named && options.takes_device && !options.has_places) {
    options.places = {Placement::kDevice, Placement::kDevice};
  }
}

/// Whose memory: what -d says, or the letters.
void settle_api(Options& options) {
  const bool is_given = !options.api.empty();
  if (!is_given) options.api = options.is_on_hosts() ? "none" : device::sycl::is_wanted() ? "sycl" : "opencl";
  if (options.api != "none" && options.api != "opencl" && options.api != "sycl") {
    throw bad_use(fmt::format("-d '{}' is no interface", options.api), "use opencl, sycl or none");
  }
  if (is_over_boards(options)) {
    options.api = "none";  // an emulated board's memory is no runtime's
    return;
  }
  if (options.api == "none" && !options.is_on_hosts()) {
    throw bad_use(fmt::format("-d none and {}: memory of no device", options.placement()),
                  "leave out -d, or use H H");
  }
  // As in OMB, collective operations have their memory where -d says.
  if (is_given && options.api != "none" && options.is_on_hosts() && options.program->is_collective()) {
    options.places = {Placement::kDevice, Placement::kDevice};
  }
  if (options.is_on_hosts()) return;
  if (options.api == "sycl" && !device::sycl::is_wanted()) {
    throw bad_use(
        "-d sycl, but no SYCL runtime is chosen",
        "set OCL_ICD_VENDORS and FABRICMARK_SYCL to what `fabricmark runtimes install sycl` has installed");
  }
  if (options.api == "opencl" && device::sycl::is_wanted()) {
    throw bad_use("-d opencl, but FABRICMARK_SYCL chooses SYCL", "unset it, or use -d sycl");
  }
}

void settle_transport(Options& options) {
  using transport::CpuTransport;
  using transport::HostTransport;
  using transport::kMpiTransport;
  if (options.transport.empty())
    options.transport = options.is_on_hosts() ? kMpiTransport : HostTransport::kName;
  options.memory = runtime::memory_over(options.transport, options.memory);
  if (is_over_boards(options)) return;
  const std::vector<std::string> names = MeasuredTransport::names();
  if (std::ranges::find(names, options.transport) == names.end()) {
    throw bad_use(
        fmt::format("'{}' is no transport", options.transport),
        fmt::format("use {}, or {} of an emulated fabric", fmt::join(names, ", "), board_transports()));
  }
  if (is_library(options.transport)) return;
  if (options.is_on_hosts() && is_between(options.transport, runtime::Between::kDevices)) {
    throw bad_use(fmt::format("--transport {} moves messages between devices, but H H is memory of hosts",
                              options.transport),
                  fmt::format("use D D, or --transport {} or {}", kMpiTransport, CpuTransport::kName));
  }
  if (!options.is_on_hosts() && is_between(options.transport, runtime::Between::kHosts)) {
    throw bad_use(fmt::format("--transport {} moves messages between hosts, but {} is not", options.transport,
                              options.placement()),
                  fmt::format("use H H, or --transport {}", names_between({runtime::Between::kDevices})));
  }
}

void check_places(const Options& options) {
  if (options.program->is_collective() && options.places[0] != options.places[1]) {
    throw bad_use(fmt::format("{} for an operation of all ranks", options.placement()),
                  "give all ranks the same kind of memory, such as D D");
  }
  if (is_over_boards(options) && options.is_mixed()) {
    throw bad_use(fmt::format("{} over {}: all boards have their messages in their own memory",
                              options.placement(), options.transport),
                  "use D D");
  }
}

void check_board_options(const Options& options) {
  if (options.of_boards.empty() || is_over_boards(options)) return;
  throw bad_use(fmt::format("--transport {} takes no {}", options.transport, options.of_boards.front()),
                fmt::format("leave it out, or use {}", board_transports()));
}

}  // namespace

bool is_over_boards(const Options& options) {
  return is_between(options.transport, runtime::Between::kEngines) ||
         is_between(options.transport, runtime::Between::kStreams);
}

void take_board_options(std::vector<std::string>& arguments, Options& options) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = arguments[i].substr(0, arguments[i].find('='));
    if (std::ranges::find(kBoardOptions, std::string_view(name)) == kBoardOptions.end()) {
      left.push_back(arguments[i]);
      continue;
    }
    options.of_boards.push_back(name);
    if (name.size() < arguments[i].size()) {
      options.of_boards.push_back(arguments[i].substr(name.size() + 1));
    } else if (i + 1 < arguments.size()) {
      options.of_boards.push_back(arguments[++i]);
    } else {
      throw bad_use(fmt::format("{} is given without a value", name), "give one");
    }
  }
  arguments = std::move(left);
}

void check_ranks(const Options& options, int ranks) {
  if (options.root >= ranks) {
    throw bad_use(fmt::format("root {} is not one of ranks 0 to {}", options.root, ranks - 1),
                  "choose another --root");
  }
  if (options.program->is_collective() || is_over_boards(options)) return;
  if (ranks < 2) throw bad_use("one rank has none to send to", "start 2 ranks: --ranks 2 or mpirun -n 2");
  if (ranks > 2 && !options.program->has_all_pairs) {
    throw bad_use(fmt::format("{} ranks for messages between ranks 0 and 1", ranks),
                  "start 2: --ranks 2 or mpirun -n 2; fm_multi_lat and fm_mbw_mr take all pairs");
  }
}

void settle(Options& options) {
  settle_places(options);
  settle_api(options);
  settle_transport(options);
  check_places(options);
  check_board_options(options);
  if (options.limit && !(*options.limit > 0)) {
    throw bad_use(fmt::format("--limit {} is no rate", *options.limit), "give GB/s, such as 12.5");
  }
  if (options.has_fault && !options.program->has_sizes()) {
    throw bad_use("a barrier has no result to make wrong", "choose another program");
  }
}

}  // namespace fabricmark::microbench::omb
