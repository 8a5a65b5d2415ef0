#include "describe/simulate.hpp"

#include <algorithm>
#include <future>
#include <vector>

#include "collectives/algorithm.hpp"
#include "describe/simulation.hpp"
#include "network/topology.hpp"
#include "simulate/player.hpp"

namespace fabricmark::describe {

namespace {

constexpr int kMostLinks = 10000;

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

/// [kind, rank, peer, start, end] of each.
Json activities_json(const std::vector<simulate::Activity>& activities) {
  using Kind = simulate::Activity::Kind;
  Json found = Json::array();
  for (const simulate::Activity& one : activities) {
    const char* kind = one.kind == Kind::kWork             ? "compute"
                       : one.kind == Kind::kWaitForMessage ? "wait-for-message"
                                                           : "wait-for-link";
    found.push_back(Json::array({kind, one.rank, one.peer, one.start, one.end}));
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

Json costs_json(const simulate::Costs& costs) {
  return {{"issue_seconds", costs.issue_seconds},
          {"bytes_per_second", costs.bytes_per_second},
          {"frame_bytes", costs.frame_bytes},
          {"header_bytes", costs.header_bytes}};
}

}  // namespace

Json simulate_json(const Json& request) {
  const Simulation asked(request);
  const simulate::Setting setting = asked.setting();
  const network::Topology& topology = asked.topology;
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
    for (const collectives::Algorithm* one : fitting(asked, call)) json["algorithms"].push_back(one->name);
    return json;
  }
  // Both at the same time: they have nothing in common that either changes.
  auto alone = std::async(std::launch::async, [&] {
    simulate::Setting unnoted = setting;
    unnoted.most_activities = 0;
    unnoted.parts = 0;
    return simulate::play(asked.programs, unnoted, simulate::Sharing::kOwnPorts).seconds;
  });
  const simulate::Outcome found = simulate::play(asked.programs, setting, simulate::Sharing::kCables);
  const auto most = static_cast<std::size_t>(count(request, "links", 1, 0, kMostLinks));
  json["seconds"] = found.seconds;
  json["own_ports_seconds"] = alone.get();
  json["messages"] = found.messages;
  json["events"] = found.events;
  json["burst_frames"] = found.burst_frames;
  json["used_links"] = found.links.size();
  if (request.contains("programs")) json["ends"] = found.ends;
  if (setting.parts > 0) json["spent"] = found.spent;
  if (setting.most_activities > 0) {
    json["activities"] = activities_json(found.activities);
    json["left_out"] = {{"count", found.left_out}, {"seconds", found.left_out_seconds}};
  }
  json["links"] = links_json(topology, found.links, most);
  return json;
}

}  // namespace fabricmark::describe
