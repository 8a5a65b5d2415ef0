// Kernels over direct links between devices, in modelled time.
#include <chrono>
#include <deque>
#include <vector>

#include "board/dataflow/described.hpp"
#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "board/links/link_caller.hpp"
#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/moves_case.hpp"
#include "network/topology.hpp"

namespace fabricmark::microbench {

namespace {

network::Topology topology_of(const Options& options, const dataflow::Described& system, int ranks) {
  const std::string own = system.topology.empty() ? collectives::kUsualCircuits : system.topology;
  return network::make_topology(options.topology.empty() ? own : options.topology, ranks);
}

class OverLinks final : public Measurer {
 public:
  OverLinks(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        options_(options),
        system_(dataflow::described(options.system, options.transport)),
        topology_(topology_of(options, system_, ranks.size())) {}

  Row measure(std::size_t bytes) override;
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {
        "modelled times: starts of kernels and links as the system has them, by circuits of the topology " +
        topology_.name()};
  }

 private:
  runtime::Communicator& ranks_;
  Options options_;
  dataflow::Described system_;
  network::Topology topology_;
};

Row OverLinks::measure(std::size_t bytes) {
  std::deque<std::vector<std::byte>> memory;  // longer than the kernels that use it
  // A fabric for each size: all ranks begin at time zero.
  dataflow::FabricSettings settings;
  settings.topology = topology_;
  settings.link = system_.link;
  settings.workers = options_.workers;
  settings.schedule_seed = options_.schedule_seed;
  const auto fabric = dataflow::Fabric::join(ranks_, settings);
  dataflow::Host host(fabric, ranks_.rank(), system_.device, &ranks_);
  collectives::LinkCaller caller(*fabric, host);
  MovesCase own(options_, bytes, caller.place());
  own.allocate([&](std::size_t count, collectives::Type type) -> collectives::View {
    auto& elements = memory.emplace_back(count * collectives::bytes_of(type));
    return {elements.data(), count, type};
  });
  own.prepare(0);
  ranks_.barrier();
  const auto start = std::chrono::steady_clock::now();
  Told told;
  caller.run(own.algorithm(), own.call());
  if (options_.act == Act::kCollective || ranks_.rank() < 2) {
    told.started = 0;
    told.ended = network::seconds(host.now());
  }
  host.finish();
  told.wall_seconds = {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  const int corrupted = static_cast<int>(ranks_.all_reduce_max(own.has_result() ? ranks_.rank() : -1));
  told.found.add(own.check(0, options_.has_fault && corrupted == ranks_.rank()));
  Row row = gathered(ranks_, told, /*is_modelled=*/true);
  row.bytes = bytes;
  row.algorithm = own.name();
  row.reason = own.reason();
  return row;
}

}  // namespace

std::unique_ptr<Measurer> over_links(runtime::Communicator& ranks, const Options& options) {
  return std::make_unique<OverLinks>(ranks, options);
}

}  // namespace fabricmark::microbench
