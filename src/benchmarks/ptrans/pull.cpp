#include "benchmarks/ptrans/pull.hpp"

#include <algorithm>
#include <map>

#include "benchmarks/common/parts.hpp"

namespace fabricmark::ptrans {

namespace {

/// Numbers of the blocks that leave a rank, in the order of its memory for them.
std::map<Block, std::uint32_t> leaving_blocks(const Distribution& distribution, int rank) {
  const Plan plan = make_plan(distribution, rank, 0);
  std::map<Block, std::uint32_t> numbers;
  for (std::size_t place = plan.staying; place < plan.blocks.size(); ++place) {
    numbers[plan.blocks[place]] = static_cast<std::uint32_t>(place - plan.staying);
  }
  return numbers;
}

/// One of each in turn, as long as both have any.
std::vector<Task> alternating(const std::vector<Task>& some, const std::vector<Task>& others) {
  std::vector<Task> all;
  for (std::size_t i = 0; i < std::max(some.size(), others.size()); ++i) {
    if (i < some.size()) all.push_back(some[i]);
    if (i < others.size()) all.push_back(others[i]);
  }
  return all;
}

}  // namespace

std::vector<Pull> make_pulls(const Distribution& distribution, int rank, const Plan& plan) {
  std::map<int, Pull> by_peer;
  std::map<int, std::map<Block, std::uint32_t>> leaving;
  for (std::size_t number = plan.staying; number < plan.tasks.size(); ++number) {
    const Block& target = plan.blocks[plan.tasks[number].target];
    const Block source{target.column, target.row};
    const int peer = distribution.owner(source.row, source.column);
    if (!leaving.contains(peer)) leaving[peer] = leaving_blocks(distribution, peer);
    Pull& pull = by_peer[peer];
    pull.peer = peer;
    pull.tasks.push_back({leaving[peer].at(source) | kTheirs, plan.tasks[number].target});
  }
  std::vector<Pull> pulls;
  for (auto& [peer, pull] : by_peer) pulls.push_back(std::move(pull));
  if (pulls.empty()) pulls.push_back({.peer = rank, .tasks = {}});
  const std::vector<common::Part> shares = common::divide(plan.staying, 1, pulls.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto first = plan.tasks.begin() + static_cast<std::ptrdiff_t>(shares[i].start);
    pulls[i].tasks = alternating(
        pulls[i].tasks, std::vector<Task>(first, first + static_cast<std::ptrdiff_t>(shares[i].count)));
  }
  return pulls;
}

}  // namespace fabricmark::ptrans
