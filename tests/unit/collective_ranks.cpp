// Collective calls over links and over messages between hosts, by four ranks that are threads or processes:
// all algorithms that fit a ring; prints for each its wrong elements, and of links the modelled time.
#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "board/dataflow/fabric.hpp"
#include "board/dataflow/host.hpp"
#include "board/links/link_caller.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/operation.hpp"
#include "collectives/reference.hpp"
#include "network/topology.hpp"
#include "runtime/communicator.hpp"
#include "runtime/run.hpp"
#include "transport/cpu/cpu_transport.hpp"
#include "transport/transport_caller.hpp"

namespace {

using namespace fabricmark;
using collectives::Call;
using collectives::View;

constexpr int kRanks = 4;
constexpr std::size_t kCount = 3001;
constexpr int kRoot = 2;
constexpr double kTimeout = 60;
constexpr auto kType = collectives::Type::kFloat32;

/// The wrong elements of all ranks; `allocate` makes operands, `act` does the call.
template <typename Allocate, typename Act>
std::int64_t wrong(runtime::Communicator& ranks, Call call, Allocate&& allocate, Act&& act) {
  const collectives::Inputs inputs;
  call.own = allocate(collectives::own_count(call.operation, ranks.rank(), kRoot, kRanks, kCount));
  call.result = allocate(collectives::result_count(call.operation, ranks.rank(), kRoot, kRanks, kCount));
  collectives::fill_input(inputs, ranks.rank(), call.own);
  act(call);
  const auto compared = collectives::compare(inputs, call, ranks.rank(), kRanks);
  return static_cast<std::int64_t>(ranks.all_reduce_sum(static_cast<double>(compared.wrong)));
}

int run(runtime::Communicator& ranks) {
  dataflow::FabricSettings settings;
  settings.topology = network::ring(kRanks);
  settings.link = {500e-9, 156.25e6, 32, {}};
  const auto fabric = dataflow::Fabric::join(ranks, settings);
  const collectives::Shape shape = collectives::shape_of_links(*settings.topology);
  transport::CpuTransport transport(ranks, kTimeout, runtime::Waiting::kYield);
  collectives::TransportCaller over_hosts(transport);
  dataflow::Host host(fabric, ranks.rank(), {250e6, 10e-6, 0}, &ranks);
  collectives::LinkCaller over_links(*fabric, host);
  for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
    const Call call{.operation = algorithm.operation,
                    .root = kRoot,
                    .count = kCount,
                    .shape = shape,
                    .segment_bytes = 4096};
    std::int64_t wrong_elements = 0;
    double seconds = 0;
    if (algorithm.fits({call.operation, kRanks, kCount * collectives::bytes_of(kType), shape})) {
      std::vector<std::vector<std::byte>> memories;
      const auto allocate = [&](std::size_t count) {
        auto& bytes = memories.emplace_back(count * collectives::bytes_of(kType));
        return View{bytes.data(), count, kType};
      };
      const network::Time begin = host.now();
      wrong_elements +=
          wrong(ranks, call, allocate, [&](const Call& own) { over_links.run(algorithm, own); });
      seconds = network::seconds(host.now() - begin);
    }
    if (algorithm.fits({call.operation, kRanks, kCount * collectives::bytes_of(kType)})) {
      const auto allocate = [&](std::size_t count) { return over_hosts.allocate(count, kType); };
      wrong_elements +=
          wrong(ranks, call, allocate, [&](const Call& own) { over_hosts.run(algorithm, own); });
    }
    const auto times = ranks.all_gather_numbers({seconds});
    if (!ranks.is_root()) continue;
    fmt::print("{} {}: {} wrong,", collectives::name_of(algorithm.operation), algorithm.name, wrong_elements);
    for (const auto& time : times) fmt::print(" {:.6f}", 1e6 * time[0]);
    fmt::print(" us\n");
  }
  host.finish();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return runtime::run_ranks(argc, argv, kRanks, run); }
