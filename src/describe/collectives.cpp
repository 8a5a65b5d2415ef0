#include "describe/collectives.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "collectives/replay/choice.hpp"
#include "collectives/replay/over_networks.hpp"
#include "describe/network_values.hpp"
#include "describe/request.hpp"
#include "network/topology.hpp"

namespace fabricmark::describe {

namespace {

using namespace fabricmark::collectives;

/// What a request says of a network: how it wires the ranks, what moves take, the receive buffers of each.
struct Network {
  Shape shape{};
  Costs costs{};
  ReceiveBuffers buffers{};
};

/// A number above 0: without it moves take for ever or no time.
void require_number(const Json& values, const char* name) {
  if (member<double>(values, name, 0) > 0) return;
  throw bad_use(std::string("a request's network has no ") + name, kSeeDocs);
}

Network over_engines(const Json& said, int ranks) {
  const Json values = member<Json>(said, "values", Json::object());
  for (const char* name : {"line_bytes_per_second", "frame_bytes", "copy_bytes_per_second"}) {
    require_number(values, name);
  }
  const network::Protocol protocol = network::protocol_of(member<std::string>(said, "transport", ""));
  const network::Topology topology =
      network::make_topology(member<std::string>(said, "topology", "switch"), ranks);
  const Shape shape = shape_of_engines(topology);
  return {shape, costs_of(engine_network(network_costs(values), protocol), shape),
          receive_buffers_of(protocol, receive_buffers_for(ranks), kReceiveBufferBytes)};
}

Network over_links(const Json& said, int ranks) {
  const Json values = member<Json>(said, "values", Json::object());
  const network::NetworkCosts network = network_costs(values);
  require_number(values, "link_bytes_per_second");
  const network::Topology topology =
      network::make_topology(member<std::string>(said, "topology", kUsualCircuits), ranks);
  return {shape_of_links(topology), costs_of(link_network(network))};
}

/// Messages take what the curves say, lists of [bytes, seconds].
Network over_hosts(const Json& said) {
  Network found{.costs = without_bytes({.segment_bytes = Call{}.segment_bytes})};
  found.costs.combines_as_it_comes = false;
  const Json curves = member<Json>(said, "curves", Json::object());
  require_known(curves, {"moving", "copying", "combining"});
  for (const auto& [name, curve] : {std::pair{"moving", &found.costs.moving},
                                    {"copying", &found.costs.copying},
                                    {"combining", &found.costs.combining}}) {
    *curve = Curve(member<std::vector<std::pair<double, double>>>(curves, name, {}));
  }
  return found;
}

Network network_of(const Json& said, int ranks) {
  require_known(said, {"kind", "transport", "topology", "values", "curves"});
  const auto kind = member<std::string>(said, "kind", "");
  if (kind == "packet") return over_engines(said, ranks);
  if (kind == "direct") return over_links(said, ranks);
  if (kind == "host") return over_hosts(said);
  throw bad_use("a request's network is of no kind", kSeeDocs);
}

/// Replays take time and memory: 48 ranks and 64 MiB a second, on one core.
void require_replay(int ranks) {
  constexpr int kMostRanks = 1024;
  if (ranks > kMostRanks) {
    throw bad_use("a collective of " + std::to_string(ranks) + " ranks is not replayed",
                  "ask for at most " + std::to_string(kMostRanks));
  }
}

}  // namespace

Json collective_json(const Json& request) {
  require_known(request, {"collective", "ranks", "bytes", "network", "buffers", "moves_bytes"});
  const Operation operation = operation_named(member<std::string>(request, "collective", ""));
  Json json;
  if (!request.contains("ranks")) {
    for (const Algorithm& one : algorithms()) {
      if (one.operation == operation) json["algorithms"].push_back(one.name);
    }
    return json;
  }
  const int ranks = member<int>(request, "ranks", 1);
  require_replay(ranks);
  Network network = network_of(member<Json>(request, "network", Json::object()), ranks);
  network.buffers.count = member<std::size_t>(request, "buffers", network.buffers.count);
  if (!member<bool>(request, "moves_bytes", true)) network.costs = without_bytes(network.costs);
  const Costs& costs = network.costs;
  const Problem problem{.operation = operation,
                        .ranks = ranks,
                        .bytes = member<std::size_t>(request, "bytes", 0),
                        .shape = network.shape,
                        .buffers = network.buffers};
  json["shape"] = text_of(problem.shape);
  json["chosen"] = choose(problem, costs).algorithm->name;
  json["bus_bytes"] = bus_bytes(operation, problem.ranks, problem.bytes);
  if (const double payload = payload_bytes_per_second(costs); std::isfinite(payload)) {
    json["link_bytes_per_second"] = payload;
  }
  const CostModel model(costs, problem);
  for (const Choice& one : fitting(problem, costs)) {
    json["algorithms"][std::string(one.algorithm->name)] = {
        {"seconds", one.seconds},
        {"mean_seconds", one.mean},
        {"buffers", one.algorithm->needed_buffers(model)}};
  }
  return json;
}

}  // namespace fabricmark::describe
