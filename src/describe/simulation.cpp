#include "describe/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "describe/network_values.hpp"
#include "describe/rank_programs.hpp"
#include "simulate/place.hpp"

namespace fabricmark::describe {

namespace {

using collectives::Algorithm;
using simulate::Program;

constexpr int kMostRanks = network::Topology::kMostDevices;
constexpr int kMostParts = 10000;

double number(const Json& said, const char* name, double usual, double least, double most) {
  const auto found = member<double>(said, name, usual);
  if (found >= least && found <= most) return found;
  throw bad_use(fmt::format("a request's {} is {}", name, found),
                fmt::format("use {:g} to {:g}", least, most));
}

std::vector<const Algorithm*> fitting(const collectives::Problem& problem) {
  std::vector<const Algorithm*> found;
  for (const Algorithm& one : collectives::algorithms()) {
    if (one.operation == problem.operation && one.fits(problem)) found.push_back(&one);
  }
  return found;
}

/// The rows of the grid on which a call is made; the other ranks of a rank's group for `over`.
int rows_of(const Json& call, int ranks) {
  const int rows = count(call, "rows", 1, 1, ranks);
  if (ranks % rows != 0) throw bad_use(fmt::format("{} ranks in {} rows", ranks, rows), "use a divisor");
  return rows;
}

/// Ranks that make a collective call together: all, or those of each row or column of a grid.
std::vector<std::vector<int>> groups_of(const Json& call, int ranks) {
  const auto over = member<std::string>(call, "over", "");
  const int rows = rows_of(call, ranks);
  const int columns = ranks / rows;
  if (!over.empty() && over != "rows" && over != "columns")
    throw bad_use("a call is over '" + over + "'", "use rows or columns");
  std::vector<std::vector<int>> found(over.empty() ? 1 : over == "rows" ? rows : columns);
  for (int rank = 0; rank < ranks; ++rank) {
    const int group = over.empty() ? 0 : over == "rows" ? rank / columns : rank % columns;
    found[static_cast<std::size_t>(group)].push_back(rank);
  }
  return found;
}

/// How the ranks of a call are wired: each row and column of a torus of circuits is a ring of them.
collectives::Shape wiring_of(const Json& call, const collectives::Shape& shape) {
  if (!call.contains("over")) return shape;
  const int rows = count(call, "rows", 1, 1, kMostRanks);
  const bool has_rings = shape.wiring == collectives::Wiring::kTorus && shape.rows == rows;
  if (!shape.only_neighbours_talk || !has_rings) return {};
  return {.wiring = collectives::Wiring::kRing, .only_neighbours_talk = true};
}

collectives::Problem problem_of(const Json& call, std::size_t ranks, const collectives::Shape& shape) {
  return {.operation = collectives::operation_named(member<std::string>(call, "collective", "")),
          .ranks = static_cast<int>(ranks),
          .bytes = static_cast<std::size_t>(number(call, "bytes", 0, 0, kMostBytes)),
          .shape = wiring_of(call, shape)};
}

/// A message to all neighbours of a kind.
void append_exchange(std::vector<Program>& programs, const Json& call) {
  const auto kind = member<std::string>(call, "exchange", "");
  const double bytes = number(call, "bytes", 0, 0, kMostBytes);
  const int ranks = static_cast<int>(programs.size());
  const int rows = rows_of(call, ranks);
  const int columns = ranks / rows;
  if (kind == "transpose" && rows != columns)
    throw bad_use(fmt::format("a transposition on {} x {} ranks", rows, columns), "use a square of ranks");
  for (int rank = 0; rank < ranks; ++rank) {
    Program& own = programs[static_cast<std::size_t>(rank)];
    if (kind == "ring") {
      simulate::append_exchange(own, simulate::ring_neighbours(rank, ranks), bytes);
    } else if (kind == "grid") {
      simulate::append_exchange(own, simulate::grid_neighbours(rank, rows, columns), bytes);
    } else if (kind == "transpose") {
      simulate::append_exchange(own, simulate::transposed_rank(rank, columns), bytes);
    } else if (kind == "all") {
      simulate::append_exchange(own, simulate::others_behind(rank, ranks), bytes);
    } else {
      throw bad_use("there is no exchange '" + kind + "'", "use ring, grid, transpose or all");
    }
  }
}

void append_collective(std::vector<Program>& programs, const Json& call, const collectives::Shape& shape) {
  for (const std::vector<int>& group : groups_of(call, static_cast<int>(programs.size()))) {
    if (group.size() == 1) continue;
    const collectives::Problem problem = problem_of(call, group.size(), shape);
    const Algorithm& algorithm = algorithm_of(call, problem);
    for (std::size_t place = 0; place < group.size(); ++place) {
      Program own;
      simulate::append(own, collectives::record(algorithm, problem, static_cast<int>(place),
                                                collectives::Call{}.segment_bytes));
      const Program looped = simulate::among(simulate::with_loops(own), group);
      Program& program = programs[static_cast<std::size_t>(group[place])];
      program.insert(program.end(), looped.begin(), looped.end());
    }
  }
}

/// How ranks are wired, and of how many parts the time is told.
struct Where {
  const collectives::Shape& shape;
  std::size_t parts;
};

void append_calls(std::vector<Program>& programs, const std::vector<Json>& calls, const Where& where,
                  int depth);

/// The same calls so many times.
void append_loop(std::vector<Program>& programs, const Json& loop, const Where& where, int depth) {
  require_known(loop, {"repeat", "calls"});
  constexpr int kDeepest = 8;
  constexpr int kMostTurns = 1'000'000'000;
  if (depth == kDeepest) throw bad_use("loops lie too deep in each other", fmt::format("use {}", kDeepest));
  const int turns = count(loop, "repeat", 1, 1, kMostTurns);
  std::vector<std::size_t> begins;
  for (const Program& program : programs) begins.push_back(program.size());
  append_calls(programs, member<std::vector<Json>>(loop, "calls", {}), where, depth + 1);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const std::size_t body = programs[rank].size() - begins[rank];
    if (body == 0) continue;
    programs[rank].push_back(
        {simulate::Op::Kind::kRepeat, 0, static_cast<std::int32_t>(body), static_cast<double>(turns)});
  }
}

/// What all ranks do that is no loop, behind what their programs have.
void append_one(std::vector<Program>& programs, const Json& call, const collectives::Shape& shape) {
  if (call.contains("work")) {
    constexpr double kLongest = 1e4;
    const double seconds = number(call, "work", 0, 0, kLongest);
    for (Program& program : programs) program.push_back({simulate::Op::Kind::kWork, 0, 0, seconds});
    return;
  }
  if (call.contains("exchange")) return append_exchange(programs, call);
  append_collective(programs, call, shape);
}

/// What all ranks do, behind what their programs have.
void append_call(std::vector<Program>& programs, const Json& call, const Where& where, int depth) {
  if (call.contains("repeat")) return append_loop(programs, call, where, depth);
  require_known(call, {"collective", "algorithm", "bytes", "exchange", "work", "over", "rows", "part"});
  std::vector<std::size_t> begins;
  for (const Program& program : programs) begins.push_back(program.size());
  append_one(programs, call, where.shape);
  const int part = count(call, "part", 0, 0, std::max(1, static_cast<int>(where.parts)) - 1);
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    for (std::size_t i = begins[rank]; i < programs[rank].size(); ++i)
      programs[rank][i].part = static_cast<std::uint32_t>(part);
  }
}

void append_calls(std::vector<Program>& programs, const std::vector<Json>& calls, const Where& where,
                  int depth) {
  for (const Json& call : calls) append_call(programs, call, where, depth);
}

/// Half a minute of one core.
void require_playable(const std::vector<Program>& programs) {
  constexpr double kMostMessages = 5e7;
  constexpr double kMostSteps = 1e9;
  double messages = 0;
  double steps = 0;
  for (const Program& program : programs) {
    const simulate::Sent sent = simulate::sent_by(program);
    messages += sent.messages;
    steps += sent.steps;
  }
  if (messages <= kMostMessages && steps <= kMostSteps) return;
  throw bad_use(fmt::format("a simulation of {:g} messages in {:g} steps", messages, steps),
                fmt::format("use fewer ranks or turns of loops: at most {:g} messages, {:g} steps",
                            kMostMessages, kMostSteps));
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

/// Circuits and rings of packets know their neighbours, where each device has a rank in order.
collectives::Shape shape_of(const simulate::Setting& setting) {
  if (setting.costs.only_neighbours_talk) return collectives::shape_of_links(setting.topology);
  const bool is_in_order = std::ranges::is_sorted(setting.devices) &&
                           std::cmp_equal(setting.devices.size(), setting.topology.devices());
  return is_in_order ? collectives::shape_of_engines(setting.topology) : collectives::Shape{};
}

}  // namespace

const Algorithm& algorithm_of(const Json& call, const collectives::Problem& problem) {
  const auto name = member<std::string>(call, "algorithm", "");
  std::string known;
  for (const Algorithm* one : fitting(problem)) {
    if (one->name == name) return *one;
    known += (known.empty() ? "" : " or ") + std::string(one->name);
  }
  throw bad_use(fmt::format("'{}' is no algorithm of {} for {} ranks", name,
                            collectives::name_of(problem.operation), problem.ranks),
                "use " + known);
}

int count(const Json& said, const char* name, int usual, int least, int most) {
  return static_cast<int>(number(said, name, usual, least, most));
}

std::vector<const Algorithm*> fitting(const Simulation& simulation, const Json& call) {
  const auto groups = groups_of(call, static_cast<int>(simulation.devices.size()));
  return fitting(problem_of(call, groups.front().size(), simulation.shape));
}

Simulation::Simulation(const Json& request)
    : costs(costs_of(member<Json>(request, "network", Json::object()))),
      topology([&] {
        const int ranks = count(request, "ranks", 2, 2, kMostRanks);
        const int per_device = count(request, "ranks_per_device", 1, 1, kMostRanks);
        return topology_of(request, (ranks - 1) / per_device + 1, costs.only_neighbours_talk);
      }()),
      devices(simulate::placed(topology, count(request, "ranks", 2, 2, kMostRanks),
                               count(request, "ranks_per_device", 1, 1, kMostRanks),
                               member<std::string>(request, "placement", "packed"),
                               member<std::uint64_t>(request, "seed", 1))),
      shape(shape_of(setting())) {
  require_known(request, {"simulate", "ranks", "ranks_per_device", "placement", "seed", "failed", "network",
                          "calls", "call", "links", "background", "activities", "programs", "collectives",
                          "parts", "eager_bytes"});
  if (request.contains("eager_bytes")) costs.eager_bytes = number(request, "eager_bytes", 0, 0, kMostBytes);
  constexpr double kMostShare = 0.95;
  background.share = number(request, "background", 0, 0, kMostShare);
  background.seed = member<std::uint64_t>(request, "seed", 1);
  constexpr int kMostActivities = 1'000'000;
  activities = static_cast<std::size_t>(count(request, "activities", 0, 0, kMostActivities));
  parts = static_cast<std::size_t>(count(request, "parts", 0, 0, kMostParts));
  if (request.contains("programs")) {
    programs = programs_of(request, devices.size(), shape, parts);
  } else {
    programs.resize(devices.size());
  }
  append_calls(programs, member<std::vector<Json>>(request, "calls", {}), {shape, parts}, 0);
  require_playable(programs);
}

}  // namespace fabricmark::describe
