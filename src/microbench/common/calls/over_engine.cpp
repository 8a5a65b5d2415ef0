// Calls of an engine at each device's port, in modelled time.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "board/accl/accl.hpp"
#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "collectives/replay/caller.hpp"
#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/rank_case.hpp"
#include "network/topology.hpp"

namespace fabricmark::microbench {

namespace {

/// The settings of `options` in place of the system's. Throws Error (bad use).
accl::Described described(const Options& options) {
  accl::Described system = accl::described(options.system, options.transport, options.choices);
  if (!options.topology.empty()) system.topology = options.topology;
  system.engine.rx_buffers = options.rx_buffers.value_or(collectives::receive_buffers_for(options.ranks));
  if (options.rx_bytes) system.engine.rx_bytes = *options.rx_bytes;
  system.engine.eager_bytes = options.eager_bytes;
  system.engine.timeout_seconds = options.timeout_seconds;
  system.stack.faults.drop = options.drop;
  return system;
}

class OverEngine final : public Measurer {
 public:
  OverEngine(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks), options_(options), system_(described(options)) {}

  Row measure(std::size_t bytes) override;
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"modelled times: calls, copies and packets of an engine as the system has them"};
  }

 private:
  runtime::Communicator& ranks_;
  Options options_;
  accl::Described system_;
  std::size_t longest_eager_ = accl::receive_buffers_of(system_.engine, system_.stack.protocol).longest;
};

Row OverEngine::measure(std::size_t bytes) {
  const std::size_t count = bytes / collectives::bytes_of(options_.type);
  // Two ranks that send each other a message before they receive one would wait for each other.
  const bool is_long = options_.act == Act::kSend && bytes > longest_eager_;
  const bool is_rendezvous =
      is_long || options_.act == Act::kOneWay || options_.act == Act::kBothWays;  // all at once
  RankCase own(options_, count, ranks_.rank(), ranks_.size(), is_rendezvous);
  dataflow::FabricSettings settings;
  settings.topology = network::make_topology(system_.topology, ranks_.size());
  settings.network = system_.stack;
  settings.workers = options_.workers;
  settings.schedule_seed = options_.schedule_seed;
  // A fabric for each size: all ranks begin at time zero.
  const auto fabric = dataflow::Fabric::join(ranks_, settings);
  dataflow::Host host(fabric, ranks_.rank(), system_.device, &ranks_);
  accl::Accl accl(fabric, host, system_.engine);
  // Commands of kernels name none.
  if (!options_.algorithm.empty()) accl.set_algorithm(options_.operation, options_.algorithm);
  // Refuses a name that is no algorithm before anything is called.
  std::optional<collectives::Choice> choice;
  if (options_.act == Act::kCollective) {
    choice = accl.place().chosen(own.collective(), options_.algorithm);
  }
  const std::uint64_t remote =
      options_.act == Act::kPut
          ? static_cast<std::uint64_t>(ranks_.all_reduce_max(static_cast<std::int64_t>(own.offer(accl))))
          : 0;
  ranks_.barrier();
  const auto start = std::chrono::steady_clock::now();
  Told told;
  const RankCase::Times times = own.run(accl, host, remote);
  accl.finish();
  told.started = times.started;
  told.ended = times.ended;
  told.wall_seconds = {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  const int corrupted = static_cast<int>(ranks_.all_reduce_max(own.has_result() ? ranks_.rank() : -1));
  told.found.add(own.check(options_.has_fault && corrupted == ranks_.rank()));
  Row row = gathered(ranks_, told, /*is_modelled=*/true);
  row.bytes = bytes;
  if (choice) {
    row.algorithm = choice->algorithm->name;
    row.reason = choice->reason;
  }
  return row;
}

}  // namespace

std::unique_ptr<Measurer> over_engine(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<OverEngine>(ranks, options);
}

}  // namespace fabricmark::microbench
