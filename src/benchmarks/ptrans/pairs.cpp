#include "benchmarks/ptrans/pairs.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "benchmarks/common/parts.hpp"
#include "benchmarks/ptrans/faults.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::ptrans {

namespace {

std::vector<common::Part> parts_of(std::size_t count, int pairs) {
  return common::divide(count, 1, static_cast<std::size_t>(pairs));
}

}  // namespace

collectives::Type element_type(const runtime::Context& context) {
  return context.parameters().text("data_type") == "double" ? collectives::Type::kFloat64
                                                            : collectives::Type::kFloat32;
}

void require_partners(const Distribution& distribution) {
  const bool is_diagonal = distribution.is_diagonal();
  if (is_diagonal ? distribution.ranks() % 2 == 0 : distribution.partner(0).has_value()) return;
  throw bad_use(fmt::format("{}, and a static circuit joins two boards", distribution.name()),
                "use as many rows as columns (--distribution pq on 1, 4, 9, 16, ... ranks) or --distribution "
                "diagonal on an even number of ranks");
}

network::Topology circuits(const Distribution& distribution, int ports) {
  std::vector<network::Cable> cables;
  for (int rank = 0; rank < distribution.ranks(); ++rank) {
    const int other = distribution.partner(rank).value();
    for (int port = 0; port < ports && other >= rank; ++port) {
      const int far = other == rank ? loop_port(port, ports) : port;
      if (other > rank || far > port) cables.push_back({{rank, port}, {other, far}});
    }
  }
  return network::Topology::circuits(fmt::format("pairs of {}", distribution.name()), distribution.ranks(),
                                     std::move(cables));
}

std::vector<PairTasks> divide_tasks(const Plan& plan, int pairs, bool has_loops) {
  std::vector<std::uint32_t> leaving;
  for (const Round& round : plan.rounds) {
    for (const Transit& transit : round.sends) leaving.push_back(static_cast<std::uint32_t>(transit.place));
  }
  const auto staying = parts_of(plan.staying, pairs);
  const auto sent = parts_of(leaving.size(), pairs);
  const auto arriving = parts_of(plan.arriving, pairs);
  std::vector<PairTasks> all(static_cast<std::size_t>(pairs));
  for (std::size_t pair = 0; pair < all.size(); ++pair) {
    PairTasks& tasks = all[pair];
    const auto number = static_cast<int>(pair);
    const auto from = static_cast<std::size_t>(has_loops ? loop_port(number, pairs) : number);
    const auto take = [&plan](const common::Part& part, std::size_t first, auto member,
                              std::vector<std::uint32_t>& into) {
      for (std::size_t i = 0; i < part.count; ++i) {
        into.push_back(plan.tasks[first + part.start + i].*member);
      }
    };
    take(staying[pair], 0, &Task::source, tasks.sources);
    take(staying[from], 0, &Task::target, tasks.targets);
    if (from == pair) tasks.staying = tasks.sources.size();
    for (std::size_t i = 0; i < sent[pair].count; ++i) tasks.sources.push_back(leaving[sent[pair].start + i]);
    take(arriving[pair], plan.staying, &Task::target, tasks.targets);
  }
  return all;
}

std::vector<PairTasks> divide_staying(const Plan& plan, std::size_t first, std::size_t count, int pairs) {
  std::vector<PairTasks> all;
  for (const common::Part& part : parts_of(count, pairs)) {
    PairTasks& tasks = all.emplace_back();
    for (std::size_t i = 0; i < part.count; ++i) {
      const Task& task = plan.tasks[first + part.start + i];
      tasks.sources.push_back(task.source);
      tasks.targets.push_back(task.target);
    }
    tasks.staying = part.count;
  }
  return all;
}

void require_possible_on_boards(const runtime::Context& context, const Distribution& distribution, int pairs,
                                bool has_loops) {
  const std::optional<runtime::Fault>& fault = context.fault();
  if (!fault) return;
  require_target(*fault, network::message_fault(*fault).has_value());
  const std::size_t round_blocks = context.parameters().count("round_blocks");
  for (int rank = fault->rank.value_or(0); rank <= fault->rank.value_or(distribution.ranks() - 1); ++rank) {
    if (rank >= distribution.ranks()) return;  // refused by the runtime
    const Plan plan = make_plan(distribution, rank, round_blocks);
    if (!network::message_fault(*fault)) {
      if (!plan.blocks.empty()) return;
      continue;
    }
    // The first link is that of the first pair, which has blocks where any has.
    const bool loops = has_loops && distribution.partner(rank) == rank && pairs > 1;
    const PairTasks first = divide_tasks(plan, pairs, loops).front();
    if (first.leaving() > 0) return;
  }
  throw impossible(*fault);
}

}  // namespace fabricmark::ptrans
