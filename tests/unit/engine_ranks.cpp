// Calls of the engine by ranks that are threads or processes: what they take must be the same.
//
//   engine_ranks PROTOCOL COUNT [EAGER_BYTES [ROUNDS]]: all ranks add COUNT numbers up, rank 0 sends them to
//   the last, in turn with a barrier; prints the result and each rank's modelled time.
#include <fmt/core.h>

#include <cstdlib>
#include <string>

#include "engine_support.hpp"
#include "runtime/run.hpp"

int main(int argc, char** argv) {
  using namespace fabricmark;
  using namespace fabricmark::accl;
  const std::string protocol = argc > 1 ? argv[1] : "tcp";
  const auto count = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1000);
  return runtime::run_ranks(argc, argv, 4, [&](runtime::Communicator& ranks) {
    dataflow::FabricSettings settings;
    settings.topology = network::make_topology("full-mesh", ranks.size());
    settings.network = network_of(protocol == "udp"   ? network::Protocol::kUdp
                                  : protocol == "tcp" ? network::Protocol::kTcp
                                                      : network::Protocol::kRdma);
    if (protocol != "udp") settings.network->faults = {5, 0.02, 0.02, 0.02};
    EngineSettings own = engine_of();
    if (argc > 3) own.eager_bytes = static_cast<std::size_t>(std::atoi(argv[3]));
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;
    const auto fabric = dataflow::Fabric::join(ranks, settings);
    dataflow::Host host(fabric, ranks.rank(), {.clock_hz = 250e6, .launch_seconds = kHostIssue}, &ranks);
    Accl accl(fabric, host, own);
    const int last = ranks.size() - 1;
    std::vector<float> values(count, static_cast<float>(ranks.rank() + 1));
    std::vector<float> received(count);
    for (int round = 0; round < rounds; ++round) {
      collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = count};
      std::vector<float> sums(count);
      call.own = view(values);
      call.result = view(sums);
      const auto all = accl.collective(call).wait();
      if (!all.is_done()) throw environment_failure(all.text, "see it");
      if (ranks.rank() == 0) accl.send(view(sums), last, round).wait();
      if (ranks.rank() == last) accl.recv(view(received), 0, round).wait();
      accl.collective({}).wait();
    }
    accl.finish();
    const auto times =
        ranks.all_gather_numbers({network::seconds(host.now()), static_cast<double>(received.back())});
    if (ranks.is_root()) {
      for (const auto& time : times) fmt::print("{:.9f} ", 1e6 * time[0]);
      fmt::print("us, {}\n", times.back()[1]);
    }
    return 0;
  });
}
