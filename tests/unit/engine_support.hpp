#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/random_bits.hpp"
#include "board/accl/accl.hpp"
#include "network/topology.hpp"
#include "runtime/communicator.hpp"

/// What several tests of the engine have: devices on a network with round numbers.
namespace fabricmark::accl {

inline constexpr double kHostIssue = 30e-6;
inline constexpr double kLogicIssue = 0.24e-6;
inline constexpr double kCopyLatency = 1.7e-6;
inline constexpr double kWire = 1e-6;  ///< latency between two devices
inline constexpr double kRate = 12.5e9;

inline network::StackSettings network_of(network::Protocol protocol) {
  network::StackSettings settings;
  settings.protocol = protocol;
  settings.costs.node_latency = network::from_seconds(kWire);
  settings.costs.bytes_per_second = kRate;
  settings.costs.header_bytes = 78;
  settings.costs.mtu_bytes = 1460;
  settings.window_bytes = std::uint64_t{1} << 24;
  return settings;
}

inline EngineSettings engine_of() {
  EngineSettings settings;
  settings.logic_issue_seconds = kLogicIssue;
  settings.copy_latency_seconds = kCopyLatency;
  settings.copy_rate = 14e9;
  return settings;
}

/// What streams of kernels carry.
struct Word {
  float value[16];
};

inline std::vector<float> counting(std::size_t count, float first = 1) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// Numbers that depend on a seed alone.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(mixed_bits(seed)) {}
  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(state_ = mixed_bits(state_ + 1)) % end;
  }

 private:
  std::uint64_t state_;
};

/// One rank of a run.
struct Rank {
  runtime::Communicator& ranks;
  dataflow::Host& host;
  Accl& accl;
  /// All hosts agree on the latest of their times.
  void meet() const { host.pass_until(ranks.all_reduce_max(host.now())); }
};

struct Devices {
  int ranks = 2;
  network::StackSettings network = network_of(network::Protocol::kTcp);
  EngineSettings engine = engine_of();
  std::string topology = "full-mesh";
  int workers = 1;
  std::optional<std::uint64_t> seed{};
};

/// Runs all ranks, each in a thread; returns how the first rank's `body` ended.
inline int run(const Devices& devices, const std::function<void(const Rank&)>& body) {
  return runtime::run_in_process(devices.ranks, [&](runtime::Communicator& ranks) {
    dataflow::FabricSettings settings;
    settings.topology = network::make_topology(devices.topology, devices.ranks);
    settings.network = devices.network;
    settings.workers = devices.workers;
    settings.schedule_seed = devices.seed;
    const auto fabric = dataflow::Fabric::join(ranks, settings);
    dataflow::Host host(fabric, ranks.rank(), {.clock_hz = 250e6, .launch_seconds = kHostIssue}, &ranks);
    Accl accl(fabric, host, devices.engine);
    ranks.barrier();
    body({ranks, host, accl});
    return 0;
  });
}

inline View view(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size(), Type::kFloat32};
}

inline Devices devices(network::Protocol protocol, int ranks = 2) {
  Devices all;
  all.ranks = ranks;
  all.network = network_of(protocol);
  return all;
}

/// Of all ranks, in place.
inline collectives::Call all_reduce(std::vector<float>& values) {
  collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = values.size()};
  call.own = call.result = view(values);
  return call;
}

}  // namespace fabricmark::accl
