#include "describe/collectives.hpp"

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "describe/request.hpp"
#include "fabric/collectives/choice.hpp"

namespace fabricmark::describe {

namespace {

using namespace fabricmark::collectives;

const std::map<std::string, Wiring>& wirings() {
  static const std::map<std::string, Wiring> known{
      {"any to any", Wiring::kAnyToAny}, {"ring", Wiring::kRing}, {"torus", Wiring::kTorus}};
  return known;
}

Shape shape_of(const Json& said) {
  require_known(said, {"wiring", "rows", "columns", "circuits"});
  Shape shape;
  const auto wiring = wirings().find(member<std::string>(said, "wiring", "any to any"));
  if (wiring == wirings().end()) throw bad_use("a request's wiring is not known", kSeeDocs);
  shape.wiring = wiring->second;
  shape.rows = member<int>(said, "rows", 1);
  shape.columns = member<int>(said, "columns", 1);
  shape.only_neighbours_talk = member<bool>(said, "circuits", false);
  return shape;
}

ReceiveBuffers buffers_of(const Json& said) {
  require_known(said, {"count", "bytes", "longest"});
  ReceiveBuffers buffers;
  buffers.count = member<std::size_t>(said, "count", buffers.count);
  buffers.bytes = member<std::size_t>(said, "bytes", buffers.bytes);
  buffers.longest = member<std::size_t>(said, "longest", buffers.longest);
  if (buffers.bytes == 0) throw bad_use("a request's receive buffers have no bytes", kSeeDocs);
  return buffers;
}

/// Members are named as those of Costs; a rate that is not said takes no time.
Costs costs_of(const Json& said) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  Costs costs{.bytes_per_second = kNothing,
              .copy_bytes_per_second = kNothing,
              .combine_bytes_per_second = kNothing,
              .segment_bytes = Call{}.segment_bytes};
  const std::map<std::string, double*> numbers{{"issue_seconds", &costs.issue_seconds},
                                               {"message_seconds", &costs.message_seconds},
                                               {"hop_seconds", &costs.hop_seconds},
                                               {"bytes_per_second", &costs.bytes_per_second},
                                               {"copy_bytes_per_second", &costs.copy_bytes_per_second},
                                               {"combine_bytes_per_second", &costs.combine_bytes_per_second},
                                               {"word_bytes", &costs.word_bytes},
                                               {"header_bytes", &costs.header_bytes},
                                               {"packet_bytes", &costs.packet_bytes},
                                               {"packet_header_bytes", &costs.packet_header_bytes},
                                               {"store_bytes_per_second", &costs.store_bytes_per_second},
                                               {"copy_seconds", &costs.copy_seconds},
                                               {"answer_seconds", &costs.answer_seconds}};
  const std::map<std::string, Curve*> curves{
      {"moving", &costs.moving}, {"copying", &costs.copying}, {"combining", &costs.combining}};
  for (const auto& [name, unused] : said.items()) {
    if (const auto number = numbers.find(name); number != numbers.end()) {
      *number->second = member<double>(said, name.c_str(), 0);
    } else if (const auto curve = curves.find(name); curve != curves.end()) {
      *curve->second = Curve(member<std::vector<std::pair<double, double>>>(said, name.c_str(), {}));
    } else {
      require_known({{name, nullptr}}, {"combines_as_it_comes", "turn_bytes", "leaves_in_turns"});
    }
  }
  costs.combines_as_it_comes = member<bool>(said, "combines_as_it_comes", costs.combines_as_it_comes);
  costs.leaves_in_turns = member<bool>(said, "leaves_in_turns", costs.leaves_in_turns);
  costs.turn_bytes = member<std::size_t>(said, "turn_bytes", costs.turn_bytes);
  return costs;
}

/// Replays take time and memory: 48 ranks and 64 MiB a second, on one core.
void require_replay(const Problem& problem) {
  constexpr int kMostRanks = 1024;
  if (problem.ranks > kMostRanks) {
    throw bad_use("a collective of " + std::to_string(problem.ranks) + " ranks is not replayed",
                  "ask for at most " + std::to_string(kMostRanks));
  }
}

}  // namespace

Json collective_json(const Json& request) {
  require_known(request, {"collective", "ranks", "bytes", "shape", "buffers", "costs"});
  const Operation operation = operation_named(member<std::string>(request, "collective", ""));
  Json json;
  if (!request.contains("ranks")) {
    for (const Algorithm& one : algorithms()) {
      if (one.operation == operation) json["algorithms"].push_back(one.name);
    }
    return json;
  }
  const Problem problem{.operation = operation,
                        .ranks = member<int>(request, "ranks", 1),
                        .bytes = member<std::size_t>(request, "bytes", 0),
                        .shape = shape_of(member<Json>(request, "shape", Json::object())),
                        .buffers = buffers_of(member<Json>(request, "buffers", Json::object()))};
  require_replay(problem);
  const Costs costs = costs_of(member<Json>(request, "costs", Json::object()));
  json["shape"] = text_of(problem.shape);
  json["chosen"] = choose(problem, costs).algorithm->name;
  json["bus_bytes"] = bus_bytes(operation, problem.ranks, problem.bytes);
  const CostModel model(costs, problem);
  for (const Choice& one : fitting(problem, costs)) {
    json["algorithms"][std::string(one.algorithm->name)] = {
        {"seconds", one.seconds}, {"buffers", one.algorithm->needed_buffers(model)}};
  }
  return json;
}

}  // namespace fabricmark::describe
