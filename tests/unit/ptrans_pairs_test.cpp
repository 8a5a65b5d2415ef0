#include "benchmarks/ptrans/pairs.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "base/error.hpp"

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kEdge = 7;

Distribution square(std::size_t rows) { return Distribution::pq({rows, rows}, kEdge); }

/// What all boards do: a block that one sends on a port comes in at the other end of the port's cable.
class Boards {
 public:
  Boards(const Distribution& distribution, int ports)
      : distribution_(distribution), cables_(circuits(distribution, ports)) {
    for (int rank = 0; rank < distribution.ranks(); ++rank) {
      plans_.push_back(make_plan(distribution, rank, 3));
      tasks_.push_back(divide_tasks(plans_.back(), ports, distribution.partner(rank) == rank));
    }
  }

  /// The blocks of A that a pair gets, in order: first those that stay, then those of the cable.
  std::vector<Block> coming(int rank, int port) const {
    std::vector<Block> blocks;
    const PairTasks& own = tasks(rank, port);
    for (std::size_t i = 0; i < own.staying; ++i) blocks.push_back(block(rank, own.sources[i]));
    const auto far = cables_.neighbour({rank, port});
    if (!far) return blocks;
    const PairTasks& sent = tasks(far->node, far->port);
    for (std::size_t i = sent.staying; i < sent.sources.size(); ++i) {
      blocks.push_back(block(far->node, sent.sources[i]));
    }
    return blocks;
  }
  const PairTasks& tasks(int rank, int port) const {
    return tasks_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(port)];
  }
  const Block& block(int rank, std::size_t place) const {
    return plans_[static_cast<std::size_t>(rank)].blocks[place];
  }

 private:
  const Distribution& distribution_;
  network::Topology cables_;
  std::vector<Plan> plans_;
  std::vector<std::vector<PairTasks>> tasks_;  // [rank][port]
};

/// Each block of C gets the opposite one of A, once.
void check_all(const Distribution& distribution, int ports) {
  const Boards boards(distribution, ports);
  std::set<Block> made;
  for (int rank = 0; rank < distribution.ranks(); ++rank) {
    for (int port = 0; port < ports; ++port) {
      const std::vector<Block> coming = boards.coming(rank, port);
      const PairTasks& own = boards.tasks(rank, port);
      ASSERT_EQ(coming.size(), own.targets.size()) << "rank " << rank << ", port " << port;
      for (std::size_t i = 0; i < coming.size(); ++i) {
        const Block& target = boards.block(rank, own.targets[i]);
        EXPECT_EQ(coming[i], (Block{target.column, target.row}));
        EXPECT_TRUE(made.insert(target).second);
      }
    }
  }
  EXPECT_EQ(made.size(), kEdge * kEdge);
}

TEST(PtransPairs, BringEachBlockToItsPlaceOnce) {
  for (int ports = 1; ports <= 5; ++ports) {
    for (const std::size_t rows : {1, 2, 3, 4}) check_all(square(rows), ports);
    for (const int ranks : {2, 4, 6, 16}) check_all(Distribution::diagonal(ranks, kEdge), ports);
  }
}

TEST(PtransPairs, AreJoinedByOneCableForEachPort) {
  const network::Topology four = circuits(square(2), 4);
  EXPECT_EQ(four.neighbour({1, 3}), (network::Port{2, 3}));
  EXPECT_EQ(four.neighbour({0, 0}), (network::Port{0, 1})) << "a loop";
  EXPECT_EQ(four.neighbour({3, 3}), (network::Port{3, 2}));
  EXPECT_EQ(four.cables().size(), 8U);
  const network::Topology three = circuits(square(1), 3);
  EXPECT_EQ(three.cables().size(), 1U) << "the third channel has no second one";
  EXPECT_EQ(loop_port(2, 3), 2);
  EXPECT_EQ(circuits(Distribution::diagonal(4, kEdge), 2).neighbour({3, 1}), (network::Port{2, 1}));
}

TEST(PtransPairs, ShareTheBlocksOutEvenly) {
  const Plan plan = make_plan(square(2), 1, 0);
  const std::vector<PairTasks> pairs = divide_tasks(plan, 4, false);
  for (const PairTasks& tasks : pairs) {
    EXPECT_GE(tasks.leaving(), plan.blocks.size() / 4);
    EXPECT_LE(tasks.leaving(), plan.blocks.size() / 4 + 1);
    EXPECT_EQ(tasks.staying, 0U);
  }
}

TEST(PtransPairs, OfARoundHaveAllTheirBlocksOnTheDevice) {
  const Plan plan = make_plan(square(2), 1, 3);
  const Round& round = plan.rounds.at(1);
  std::size_t place = round.first_place;
  for (const PairTasks& tasks : divide_staying(plan, round.first_task, round.tasks, 2)) {
    EXPECT_EQ(tasks.staying, tasks.targets.size());
    for (const std::uint32_t source : tasks.sources) EXPECT_EQ(source, place++);
  }
  EXPECT_EQ(place, round.first_place + round.tasks);
}

TEST(PtransPairs, NeedAPartnerForEachBoard) {
  require_partners(square(3));
  require_partners(Distribution::diagonal(6, kEdge));
  EXPECT_THROW(require_partners(Distribution::pq({2, 3}, kEdge)), Error);
  EXPECT_THROW(require_partners(Distribution::diagonal(5, kEdge)), Error);
  EXPECT_EQ(square(3).partner(5), 7);
  EXPECT_EQ(square(3).partner(4), 4);
  EXPECT_EQ(Distribution::pq({2, 3}, kEdge).partner(0), std::nullopt);
  EXPECT_EQ(Distribution::diagonal(4, kEdge).partner(2), 3);
}

}  // namespace

}  // namespace fabricmark::ptrans
