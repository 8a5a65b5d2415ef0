// For the test that programs choose algorithms of collective operations as `fabricmark predict` does. Prints,
// of a system as it is exported, operation, ranks, bytes, the algorithm that is chosen, and of each that fits
// its name, seconds and receive buffers. Usage: collective_choices SYSTEM TRANSPORT TOPOLOGY RANKS BYTES...
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "board/accl/settings.hpp"
#include "board/dataflow/described.hpp"
#include "board/links/link_caller.hpp"
#include "collectives/replay/choice.hpp"
#include "network/topology.hpp"

namespace {

using namespace fabricmark;
using namespace fabricmark::collectives;

void print(const Problem& problem, const Costs& costs) {
  if (std::ranges::none_of(algorithms(), [&](const Algorithm& one) { return one.fits(problem); })) return;
  const CostModel model(costs, problem);
  fmt::print("{} {} {} {}", name_of(problem.operation), problem.ranks, problem.bytes,
             choose(problem, costs).algorithm->name);
  for (const Choice& one : fitting(problem, costs)) {
    fmt::print(" {} {:.17g} {}", one.algorithm->name, one.seconds, one.algorithm->needed_buffers(model));
  }
  fmt::print("\n");
}

/// What moves take between so many ranks, how they are wired, and the receive buffers of each.
struct Network {
  Costs costs;
  Shape shape;
  ReceiveBuffers buffers{};
};

Network network_of(const std::string& system, const std::string& transport, const std::string& topology,
                   int ranks) {
  if (transport == "channels") {
    const dataflow::Described found = dataflow::described(system, transport);
    return {costs_of_links(found.link, found.device),
            shape_of_links(network::make_topology(topology, ranks))};
  }
  accl::Described found = accl::described(system, transport);
  found.engine.rx_buffers = receive_buffers_for(ranks);
  return {costs_of_engine(found.engine, found.stack, {}),
          {},
          receive_buffers_of(found.engine, found.stack.protocol)};
}

void run(const std::string& system, const std::string& transport, const std::string& topology, int ranks,
         const std::vector<std::size_t>& sizes) {
  const Network network = network_of(system, transport, topology, ranks);
  for (const Operation operation : kOperations) {
    for (const std::size_t bytes : sizes) {
      const bool has_elements = operation != Operation::kBarrier;
      print({operation, ranks, has_elements ? bytes : 0, network.shape, network.buffers}, network.costs);
      if (!has_elements) break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::size_t> sizes;
    for (int i = 5; i < argc; ++i) sizes.push_back(std::stoul(argv[i]));
    run(argv[1], argv[2], argv[3], std::stoi(argv[4]), sizes);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
