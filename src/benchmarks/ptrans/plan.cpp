#include "benchmarks/ptrans/plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kMostTags = 32768;  // of messages between two ranks at the same time

/// A block between this rank and another one.
struct Move {
  std::size_t round = 0;
  int distance = 0;       ///< ranks between the two: every rank begins with another one
  std::size_t index = 0;  ///< among all blocks of these two ranks in this direction
  int peer = 0;
  std::size_t place = 0;  ///< of a block that leaves, in A; of one that arrives, in C
};

/// Numbers the blocks of each peer in the order in which they come.
class Moves {
 public:
  Moves(const Distribution& distribution, std::size_t round_blocks)
      : ranks_(distribution.ranks()),
        round_blocks_(round_blocks == 0 ? kMostTags : std::min(round_blocks, kMostTags)),
        counts_(static_cast<std::size_t>(ranks_)) {}

  void add(int peer, int distance, std::size_t place) {
    const std::size_t index = counts_[static_cast<std::size_t>(peer)]++;
    moves_.push_back({index / round_blocks_, (distance + ranks_) % ranks_, index, peer, place});
  }
  [[nodiscard]] int tag(const Move& move) const { return static_cast<int>(move.index % round_blocks_); }
  /// By rounds.
  std::vector<Move> sorted() {
    std::ranges::sort(moves_, [](const Move& left, const Move& right) {
      return std::tie(left.round, left.distance, left.index) <
             std::tie(right.round, right.distance, right.index);
    });
    return moves_;
  }

 private:
  int ranks_;
  std::size_t round_blocks_;
  std::vector<std::size_t> counts_;  // [peer]
  std::vector<Move> moves_;
};

template <typename Action>
void for_each_block(const Distribution& distribution, Action&& action) {
  for (std::size_t row = 0; row < distribution.edge(); ++row) {
    for (std::size_t column = 0; column < distribution.edge(); ++column) action(Block{row, column});
  }
}

}  // namespace

std::vector<Block> left_by_exchange(const Plan& plan) {
  std::vector<Block> left(plan.places);
  for (std::size_t number = plan.staying; number < plan.tasks.size(); ++number) {
    const Block& target = plan.blocks[plan.tasks[number].target];
    left[plan.tasks[number].source] = {target.column, target.row};  // later rounds overwrite earlier ones
  }
  return left;
}

Plan make_plan(const Distribution& distribution, int rank, std::size_t round_blocks) {
  Plan plan;
  for_each_block(distribution, [&](const Block& block) {
    if (distribution.owner(block.row, block.column) == rank) plan.blocks.push_back(block);
  });
  const auto order = [&](const Block& block) {
    const bool leaves = distribution.owner(block.column, block.row) != rank;
    return std::pair(leaves, block);
  };
  std::ranges::sort(plan.blocks, {}, order);
  const auto place = [&](const Block& block) {
    const auto found = std::ranges::lower_bound(plan.blocks, order(block), {}, order);
    return static_cast<std::size_t>(found - plan.blocks.begin());
  };
  const auto task = [](std::size_t source, std::size_t target) {
    return Task{static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)};
  };

  // All blocks of A in the order in which every rank has its own, so that both sides count alike.
  Moves leaving(distribution, round_blocks);
  Moves arriving(distribution, round_blocks);
  for_each_block(distribution, [&](const Block& block) {
    const Block opposite{block.column, block.row};
    const int from = distribution.owner(block.row, block.column);
    const int to = distribution.owner(opposite.row, opposite.column);
    if (from == rank && to == rank) {
      plan.tasks.push_back(task(place(block), place(opposite)));
    } else if (from == rank) {
      leaving.add(to, to - rank, place(block));
    } else if (to == rank) {
      arriving.add(from, rank - from, place(opposite));
    }
  });
  plan.staying = plan.tasks.size();

  const auto round = [&](std::size_t number) -> Round& {
    while (plan.rounds.size() <= number) {
      Round next;
      next.first_task = plan.tasks.size();
      next.slot = plan.rounds.size() % kSlots;
      // No round has more blocks than the one before it: where the slots' first rounds fit, all do.
      next.first_place = plan.rounds.size() < kSlots ? plan.arriving : plan.rounds[next.slot].first_place;
      plan.rounds.push_back(next);
    }
    return plan.rounds[number];
  };
  for (const Move& move : arriving.sorted()) {
    Round& its = round(move.round);
    const std::size_t arrives_at = its.first_place + its.tasks;
    its.receives.push_back({move.peer, arrives_at, arriving.tag(move)});
    plan.tasks.push_back(task(arrives_at, move.place));
    plan.places = std::max(plan.places, arrives_at + 1);
    ++plan.arriving;
    ++its.tasks;
  }
  for (const Move& move : leaving.sorted()) {
    round(move.round).sends.push_back({move.peer, move.place, leaving.tag(move)});
  }
  return plan;
}

}  // namespace fabricmark::ptrans
