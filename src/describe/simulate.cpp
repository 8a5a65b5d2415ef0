#include "describe/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/replay/over_networks.hpp"
#include "describe/network_values.hpp"
#include "network/topology.hpp"
#include "simulate/place.hpp"
#include "simulate/player.hpp"

namespace fabricmark::describe {

namespace {

using collectives::Algorithm;
using simulate::Program;

constexpr int kMostRanks = network::Topology::kMostDevices;
constexpr int kMostLinks = 10000;

double number(const Json& said, const char* name, double usual, double least, double most) {
  const auto found = member<double>(said, name, usual);
  if (found >= least && found <= most) return found;
  throw bad_use(fmt::format("a request's {} is {}", name, found),
                fmt::format("use {:g} to {:g}", least, most));
}

int count(const Json& said, const char* name, int usual, int least, int most) {
  return static_cast<int>(number(said, name, usual, least, most));
}

std::vector<const Algorithm*> fitting(const collectives::Problem& problem) {
  std::vector<const Algorithm*> found;
  for (const Algorithm& one : collectives::algorithms()) {
    if (one.operation == problem.operation && one.fits(problem)) found.push_back(&one);
  }
  return found;
}

const Algorithm& algorithm_named(const std::string& name, const collectives::Problem& problem) {
  std::string known;
  for (const Algorithm* one : fitting(problem)) {
    if (one->name == name) return *one;
    known += (known.empty() ? "" : " or ") + std::string(one->name);
  }
  throw bad_use(fmt::format("'{}' is no algorithm of {} for {} ranks", name,
                            collectives::name_of(problem.operation), problem.ranks),
                "use " + known);
}

collectives::Problem problem_of(const Json& call, int ranks, const collectives::Shape& shape) {
  constexpr double kMostBytes = 1e15;
  return {.operation = collectives::operation_named(member<std::string>(call, "collective", "")),
          .ranks = ranks,
          .bytes = static_cast<std::size_t>(number(call, "bytes", 0, 0, kMostBytes)),
          .shape = shape};
}

void append_calls(std::vector<Program>& programs, const std::vector<Json>& calls,
                  const collectives::Shape& shape, int depth);

/// The same calls so many times.
void append_loop(std::vector<Program>& programs, const Json& loop, const collectives::Shape& shape,
                 int depth) {
  require_known(loop, {"repeat", "calls"});
  constexpr int kDeepest = 8;
  constexpr int kMostTurns = 1'000'000'000;
  if (depth == kDeepest) throw bad_use("loops lie too deep in each other", fmt::format("use {}", kDeepest));
  const int turns = count(loop, "repeat", 1, 1, kMostTurns);
  std::vector<std::size_t> begins;
  for (const Program& program : programs) begins.push_back(program.size());
  append_calls(programs, member<std::vector<Json>>(loop, "calls", {}), shape, depth + 1);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const std::size_t body = programs[rank].size() - begins[rank];
    if (body == 0) continue;
    programs[rank].push_back(
        {simulate::Op::Kind::kRepeat, 0, static_cast<std::int32_t>(body), static_cast<double>(turns)});
  }
}

/// What all ranks do, behind what their programs have.
void append_call(std::vector<Program>& programs, const Json& call, const collectives::Shape& shape,
                 int depth) {
  if (call.contains("repeat")) return append_loop(programs, call, shape, depth);
  require_known(call, {"collective", "algorithm", "bytes", "exchange", "work"});
  if (call.contains("work")) {
    constexpr double kLongest = 1e4;
    const double seconds = number(call, "work", 0, 0, kLongest);
    for (Program& program : programs) program.push_back({simulate::Op::Kind::kWork, 0, 0, seconds});
    return;
  }
  const int ranks = static_cast<int>(programs.size());
  constexpr double kMostBytes = 1e15;
  if (member<std::string>(call, "exchange", "") == "ring") {
    const double bytes = number(call, "bytes", 0, 0, kMostBytes);
    for (int rank = 0; rank < ranks; ++rank)
      simulate::append_ring_exchange(programs[static_cast<std::size_t>(rank)], rank, ranks, bytes);
    return;
  }
  const collectives::Problem problem = problem_of(call, ranks, shape);
  const Algorithm& algorithm = algorithm_named(member<std::string>(call, "algorithm", ""), problem);
  for (int rank = 0; rank < ranks; ++rank) {
    Program own;
    simulate::append(own, collectives::record(algorithm, problem, rank, collectives::Call{}.segment_bytes));
    const Program looped = simulate::with_loops(own);
    Program& program = programs[static_cast<std::size_t>(rank)];
    program.insert(program.end(), looped.begin(), looped.end());
  }
}

void append_calls(std::vector<Program>& programs, const std::vector<Json>& calls,
                  const collectives::Shape& shape, int depth) {
  for (const Json& call : calls) append_call(programs, call, shape, depth);
}

Json links_json(const network::Topology& topology, const std::vector<simulate::LinkLoad>& links,
                std::size_t most) {
  Json found = Json::array();
  for (const simulate::LinkLoad& link : links) {
    if (found.size() >= most) break;
    found.push_back({{"from", topology.node_name(link.out.node)},
                     {"to", topology.node_name(topology.neighbour(link.out)->node)},
                     {"bytes", link.bytes},
                     {"busy_seconds", link.busy_seconds},
                     {"pairs", link.pairs}});
  }
  return found;
}

/// The longest ways by themselves: of all messages, and to the next rank.
struct Latencies {
  double any = 0;
  double next = 0;
};

Latencies latencies_of(const simulate::Setting& setting) {
  Latencies found;
  for (std::size_t rank = 0; rank < setting.devices.size(); ++rank) {
    const std::vector<double> to = simulate::latencies_to(setting, setting.devices[rank]);
    const std::size_t before = (rank == 0 ? setting.devices.size() : rank) - 1;
    found.next = std::max(found.next, to[static_cast<std::size_t>(setting.devices[before])]);
    for (const int from : setting.devices)
      found.any = std::max(found.any, to[static_cast<std::size_t>(from)]);
  }
  return found;
}

network::Topology topology_of(const Json& request, int devices, bool is_of_circuits) {
  auto wanted = member<std::string>(request, "simulate", "");
  if (wanted.empty()) wanted = is_of_circuits ? collectives::kUsualCircuits : "switch";
  const bool has_sizes = wanted.starts_with("pair") || wanted.find(':') != std::string::npos;
  network::Topology found = network::make_topology(wanted, has_sizes ? 0 : devices);
  const auto failed = member<std::vector<std::string>>(request, "failed", {});
  return failed.empty() ? found : found.without(simulate::cables_named(found, failed));
}

simulate::Costs costs_of(const Json& said) {
  require_known(said, {"kind", "values"});
  network::NetworkCosts network = network_costs(member<Json>(said, "values", Json::object()));
  network.kind = member<std::string>(said, "kind", "");
  return simulate::costs_of(network);
}

Json costs_json(const simulate::Costs& costs) {
  return {{"issue_seconds", costs.issue_seconds},
          {"bytes_per_second", costs.bytes_per_second},
          {"frame_bytes", costs.frame_bytes},
          {"header_bytes", costs.header_bytes}};
}

/// Circuits and rings of packets know their neighbours, where each device has a rank in order.
collectives::Shape shape_of(const simulate::Setting& setting) {
  if (setting.costs.only_neighbours_talk) return collectives::shape_of_links(setting.topology);
  const bool is_in_order = std::ranges::is_sorted(setting.devices) &&
                           std::cmp_equal(setting.devices.size(), setting.topology.devices());
  return is_in_order ? collectives::shape_of_engines(setting.topology) : collectives::Shape{};
}

}  // namespace

Json simulate_json(const Json& request) {
  require_known(request, {"simulate", "ranks", "ranks_per_device", "placement", "seed", "failed", "network",
                          "calls", "call", "links"});
  const int ranks = count(request, "ranks", 2, 2, kMostRanks);
  const int per_device = count(request, "ranks_per_device", 1, 1, kMostRanks);
  const simulate::Costs costs = costs_of(member<Json>(request, "network", Json::object()));
  const network::Topology topology =
      topology_of(request, (ranks - 1) / per_device + 1, costs.only_neighbours_talk);
  const simulate::Setting setting{
      .topology = topology,
      .devices =
          simulate::placed(topology, ranks, per_device, member<std::string>(request, "placement", "packed"),
                           member<std::uint64_t>(request, "seed", 1)),
      .costs = costs};
  const collectives::Shape shape = shape_of(setting);
  Json json{{"topology", topology.name()},
            {"devices", topology.devices()},
            {"switches", topology.switches()},
            {"costs", costs_json(setting.costs)}};
  if (request.contains("call")) {  // what there is for it, and what a closed form takes
    const Latencies latencies = latencies_of(setting);
    json["latency_seconds"] = latencies.any;
    json["neighbour_latency_seconds"] = latencies.next;
    json["algorithms"] = Json::array();
    const auto call = member<Json>(request, "call", Json::object());
    if (call.contains("exchange")) return json;
    for (const Algorithm* one : fitting(problem_of(call, ranks, shape)))
      json["algorithms"].push_back(one->name);
    return json;
  }
  std::vector<Program> programs(static_cast<std::size_t>(ranks));
  append_calls(programs, member<std::vector<Json>>(request, "calls", {}), shape, 0);
  // Both at the same time: they have nothing in common that either changes.
  auto alone = std::async(std::launch::async, [&] {
    return simulate::play(programs, setting, simulate::Sharing::kOwnPorts).seconds;
  });
  const simulate::Outcome found = simulate::play(programs, setting, simulate::Sharing::kCables);
  const auto most = static_cast<std::size_t>(count(request, "links", 1, 0, kMostLinks));
  json["seconds"] = found.seconds;
  json["own_ports_seconds"] = alone.get();
  json["messages"] = found.messages;
  json["events"] = found.events;
  json["burst_frames"] = found.burst_frames;
  json["used_links"] = found.links.size();
  json["links"] = links_json(topology, found.links, most);
  return json;
}

}  // namespace fabricmark::describe
