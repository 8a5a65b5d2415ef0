#include "microbench/collective/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

#include "fabric/collectives/choice.hpp"
#include "fabric/dataflow/fabric.hpp"
#include "fabric/dataflow/host.hpp"
#include "fabric/engine/accl.hpp"
#include "fabric/topology.hpp"
#include "microbench/collective/rank_case.hpp"

namespace fabricmark::microbench {

namespace {

/// What a rank tells the others of itself.
struct Told {
  RankCase::Times times{};
  double wall_seconds = 0;
  collectives::Comparison found{};

  [[nodiscard]] std::vector<double> numbers() const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    return {times.started.value_or(kNever),
            times.ended.value_or(-1),
            wall_seconds,
            static_cast<double>(found.checked),
            static_cast<double>(found.wrong),
            static_cast<double>(found.worst_index),
            found.expected,
            found.actual};
  }
};

enum Number : std::uint8_t { kStarted, kEnded, kWall, kChecked, kWrong, kPlace, kExpected, kActual };

Row row_of(const std::vector<std::vector<double>>& told) {
  Row row;
  double first = std::numeric_limits<double>::infinity();
  for (const auto& one : told) first = std::min(first, one[kStarted]);
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    const auto& one = told[rank];
    row.modelled_seconds.push_back(one[kEnded] < 0 ? 0 : one[kEnded] - first);
    row.wall_seconds.push_back(one[kWall]);
    row.checked += static_cast<std::size_t>(one[kChecked]);
    if (row.wrong == 0 && one[kWrong] > 0) {
      row.first_wrong = {static_cast<int>(rank), static_cast<std::size_t>(one[kPlace]), one[kExpected],
                         one[kActual]};
    }
    row.wrong += static_cast<std::size_t>(one[kWrong]);
  }
  return row;
}

}  // namespace

double Row::seconds() const { return *std::ranges::max_element(modelled_seconds); }
double Row::emulated_seconds() const { return *std::ranges::max_element(wall_seconds); }

engine::Described described(const Options& options) {
  engine::Described system = engine::described(options.system, options.transport, options.choices);
  if (!options.topology.empty()) system.topology = options.topology;
  // All others may send to a root before it has begun to receive.
  system.engine.rx_buffers = options.rx_buffers.value_or(
      std::max(system.engine.rx_buffers, static_cast<std::size_t>(options.ranks)));
  if (options.rx_bytes) {
    system.engine.rx_bytes = *options.rx_bytes;
    if (system.stack.protocol == fabric::Protocol::kRdma) system.engine.eager_bytes = *options.rx_bytes;
  }
  if (options.eager_bytes) system.engine.eager_bytes = *options.eager_bytes;
  system.engine.timeout_seconds = options.timeout_seconds;
  system.stack.faults.drop = options.drop;
  return system;
}

Row measure(runtime::Communicator& ranks, const Options& options, const engine::Described& system,
            std::size_t bytes) {
  const std::size_t count = bytes / collectives::bytes_of(options.type);
  // Two ranks that send each other a message before they receive one would wait for each other.
  const bool is_rendezvous = options.act == Act::kSend && bytes > system.engine.eager_bytes;
  RankCase own(options, count, ranks.rank(), ranks.size(), is_rendezvous);
  dataflow::FabricSettings settings;
  settings.topology = fabric::make_topology(system.topology, ranks.size());
  settings.network = system.stack;
  settings.workers = options.workers;
  settings.schedule_seed = options.schedule_seed;
  // A fabric for each size: all ranks begin at time zero.
  const auto fabric = dataflow::Fabric::join(ranks, settings);
  dataflow::Host host(fabric, ranks.rank(), system.device, &ranks);
  engine::Accl accl(fabric, host, system.engine);
  // Refuses a name that is no algorithm before anything is called.
  std::optional<collectives::Choice> choice;
  if (options.act == Act::kCollective) {
    choice = accl.chosen(own.collective(), options.type, 0, options.algorithm);
  }
  Told told;
  const std::uint64_t remote =
      options.act == Act::kPut
          ? static_cast<std::uint64_t>(ranks.all_reduce_max(static_cast<std::int64_t>(own.offer(accl))))
          : 0;
  ranks.barrier();
  const auto start = std::chrono::steady_clock::now();
  told.times = own.run(accl, host, remote);
  accl.finish();
  told.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int spoilt = static_cast<int>(ranks.all_reduce_max(own.has_result() ? ranks.rank() : -1));
  told.found = own.check(options.has_fault && spoilt == ranks.rank());
  Row row = row_of(ranks.all_gather_numbers(told.numbers()));
  row.bytes = bytes;
  if (choice) {
    row.algorithm = choice->algorithm->name;
    row.reason = choice->reason;
  }
  return row;
}

}  // namespace fabricmark::microbench
