#include "benchmarks/ptrans/plan.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "benchmarks/ptrans/faults.hpp"
#include "benchmarks/ptrans/pull.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/memory_plan.hpp"

namespace fabricmark::ptrans {

namespace {

using runtime::Fault;

/// Plans of all ranks, and exchanges by them.
class Exchange {
 public:
  Exchange(const Distribution& distribution, std::size_t round_blocks) {
    for (int rank = 0; rank < distribution.ranks(); ++rank) {
      plans.push_back(make_plan(distribution, rank, round_blocks));
      arrived.emplace_back(plans.back().places);
      rounds = std::max(rounds, plans.back().rounds.size());
    }
  }
  /// Hands over what is sent in this round under the same tag; counts messages without a receiver.
  std::size_t run(std::size_t round) {
    std::size_t alone = 0;
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      if (round >= plans[rank].rounds.size()) continue;
      for (const Transit& send : plans[rank].rounds[round].sends) {
        EXPECT_NE(send.peer, static_cast<int>(rank)) << "sends to itself";
        alone += hand_over(rank, round, send) ? 0 : 1;
      }
    }
    return alone;
  }

  std::vector<Plan> plans;
  std::vector<std::vector<std::optional<Block>>> arrived;  // [rank][place]
  std::size_t rounds = 0;

 private:
  bool hand_over(std::size_t from, std::size_t round, const Transit& send) {
    const auto to = static_cast<std::size_t>(send.peer);
    if (round >= plans[to].rounds.size()) return false;
    for (const Transit& receive : plans[to].rounds[round].receives) {
      if (receive.peer != static_cast<int>(from) || receive.tag != send.tag) continue;
      EXPECT_FALSE(arrived[to].at(receive.place)) << "on a block that is still needed, or twice";
      arrived[to][receive.place] = plans[from].blocks.at(send.place);
      return true;
    }
    return false;
  }
};

/// The tasks of a rank whose blocks of A are in `places`: each is the block opposite, and taken.
void do_tasks(const Plan& plan, std::size_t first, std::size_t count,
              std::vector<std::optional<Block>>& places, std::set<std::uint32_t>& done) {
  for (std::size_t i = first; i < first + count; ++i) {
    const Block target = plan.blocks.at(plan.tasks.at(i).target);
    std::optional<Block>& source = places.at(plan.tasks[i].source);
    ASSERT_TRUE(source) << "has not arrived";
    EXPECT_EQ(*source, (Block{target.column, target.row}));
    source.reset();
    EXPECT_TRUE(done.insert(plan.tasks[i].target).second) << "twice";
  }
}

/// What kernel.toml plans for blocks of one element, on a grid of `rows` rows or, with none, along diagonals.
runtime::MemoryPlan planned(const Distribution& distribution, std::size_t rows, std::size_t round_blocks) {
  static const runtime::KernelSpec spec =
      runtime::load_kernel_spec(std::filesystem::path(FABRICMARK_TEST_KERNELS) / "ptrans" / "kernel.toml");
  const runtime::DeviceFacts facts{.device_class = device::DeviceClass::kCpu};
  const auto parameters = resolve(spec, "base", facts,
                                  {{"size", std::to_string(distribution.edge())},
                                   {"block_size", "1"},
                                   {"channel_width", "1"},
                                   {"data_type", "float"},
                                   {"distribution", distribution.is_diagonal() ? "diagonal" : "pq"},
                                   {"grid_rows", std::to_string(rows)},
                                   {"round_blocks", std::to_string(round_blocks)}},
                                  std::nullopt, std::nullopt);
  return {spec.variant("base"), parameters, {.ranks = distribution.ranks()}};
}

/// Every block has one owner, every block of C one task, and the block of A that the task uses is the one
/// opposite: here from the start, or arrived in time. A round's tasks are done before its slot is used again,
/// and may last until then.
void check_plans(const Distribution& distribution, std::size_t rows, std::size_t round_blocks) {
  Exchange exchange(distribution, round_blocks);
  const runtime::MemoryPlan memory = planned(distribution, rows, round_blocks);
  const auto a = memory.of(0, "a");
  std::vector<std::set<std::uint32_t>> done(exchange.plans.size());
  for (std::size_t round = 0; round < exchange.rounds + kSlots; ++round) {
    for (std::size_t rank = 0; rank < exchange.plans.size() && round >= kSlots; ++rank) {
      const Plan& plan = exchange.plans[rank];
      if (round - kSlots >= plan.rounds.size()) continue;
      const Round& last = plan.rounds[round - kSlots];
      EXPECT_EQ(last.slot, round % kSlots);
      EXPECT_EQ(last.tasks, last.receives.size());
      for (std::size_t i = 0; i < last.tasks; ++i) EXPECT_EQ(last.receives[i].place, last.first_place + i);
      do_tasks(plan, last.first_task, last.tasks, exchange.arrived[rank], done[rank]);
    }
    EXPECT_EQ(exchange.run(round), 0U) << "messages that nobody receives";
  }
  std::set<Block> owned;
  for (std::size_t rank = 0; rank < exchange.plans.size(); ++rank) {
    const Plan& plan = exchange.plans[rank];
    std::vector<std::optional<Block>> own(plan.blocks.begin(), plan.blocks.end());
    do_tasks(plan, 0, plan.staying, own, done[rank]);
    for (std::size_t block = 0; block < own.size(); ++block) {
      EXPECT_EQ(own[block].has_value(), block >= plan.staying)
          << "blocks that leave are behind those that stay";
    }
    EXPECT_EQ(done[rank].size(), plan.blocks.size());
    EXPECT_EQ(plan.staying + plan.arriving, plan.tasks.size());
    EXPECT_LE(plan.places, plan.arriving);
    EXPECT_LE(plan.blocks.size() * sizeof(float), a.at(0).bytes);
    EXPECT_LE(plan.places * sizeof(float), a.at(1).bytes);
    EXPECT_LE(plan.tasks.size() * sizeof(Task), memory.bytes("tasks"));
    EXPECT_LE(plan.blocks.size() * sizeof(float), memory.bytes("b"));
    owned.insert(plan.blocks.begin(), plan.blocks.end());
  }
  EXPECT_EQ(owned.size(), distribution.edge() * distribution.edge());
}

TEST(PtransPlan, EveryBlockArrivesOnceOnEveryGrid) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 3}, {2, 3}, {3, 2}, {3, 3}, {2, 4}, {1, 7}, {4, 4}}) {
    for (const std::size_t edge : {1U, 2U, 3U, 4U, 7U, 12U}) {
      for (const std::size_t round_blocks : {0U, 1U, 3U}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << columns << ", " << edge << ", " << round_blocks);
        check_plans(Distribution::pq({.rows = rows, .columns = columns}, edge), rows, round_blocks);
      }
    }
  }
}

TEST(PtransPlan, EveryBlockArrivesOnceAlongTheDiagonals) {
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 9, 16}) {
    for (const std::size_t edge : {1U, 2U, 3U, 4U, 7U, 12U}) {
      for (const std::size_t round_blocks : {0U, 1U, 3U}) {
        SCOPED_TRACE(testing::Message() << ranks << " ranks, " << edge << ", " << round_blocks);
        check_plans(Distribution::diagonal(ranks, edge), 0, round_blocks);
      }
    }
  }
}

/// Every block of C has one task, and the block of A that it takes from its own rank or another's memory,
/// where those that leave lie behind each other, is the one opposite.
void check_pulls(const Distribution& distribution) {
  for (int rank = 0; rank < distribution.ranks(); ++rank) {
    const Plan plan = make_plan(distribution, rank, 2);
    std::set<std::uint32_t> done;
    std::set<int> peers;
    for (const Pull& pull : make_pulls(distribution, rank, plan)) {
      EXPECT_TRUE(peers.insert(pull.peer).second) << "twice from one rank";
      const Plan theirs = make_plan(distribution, pull.peer, 0);
      for (const Task& task : pull.tasks) {
        const Block target = plan.blocks.at(task.target);
        const bool is_theirs = (task.source & kTheirs) != 0;
        const Block source = is_theirs ? theirs.blocks.at(theirs.staying + (task.source & ~kTheirs))
                                       : plan.blocks.at(task.source);
        EXPECT_EQ(source, (Block{target.column, target.row}));
        EXPECT_TRUE(done.insert(task.target).second) << "twice";
      }
    }
    EXPECT_EQ(done.size(), plan.blocks.size());
  }
}

TEST(PtransPlan, KernelsThatReadOtherRanksMemoryTakeEveryBlockOnce) {
  for (const std::size_t edge : {1U, 4U, 7U}) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {1, 2}, {2, 2}, {2, 3}})
      check_pulls(Distribution::pq({.rows = rows, .columns = columns}, edge));
    for (const int ranks : {2, 3}) check_pulls(Distribution::diagonal(ranks, edge));
  }
}

std::set<int> peers(const Plan& plan) {
  std::set<int> all;
  for (const Round& round : plan.rounds) {
    for (const Transit& transit : round.sends) all.insert(transit.peer);
    for (const Transit& transit : round.receives) all.insert(transit.peer);
  }
  return all;
}

TEST(PtransPlan, AlongTheDiagonalsARankExchangesWithOneOtherAndHasAsMuchAsOthers) {
  for (const int ranks : {2, 3, 4, 5, 8, 16}) {
    for (const std::size_t edge : {8U, 15U, 16U, 33U}) {
      std::size_t least = edge * edge;
      std::size_t most = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        const Plan plan = make_plan(Distribution::diagonal(ranks, edge), rank, 0);
        const bool is_alone = ranks % 2 == 1 && rank == ranks - 1;
        if (is_alone) {
          EXPECT_TRUE(peers(plan).empty());
        } else {
          EXPECT_EQ(peers(plan), (std::set<int>{rank % 2 == 0 ? rank + 1 : rank - 1}));
        }
        least = std::min(least, plan.blocks.size());
        most = std::max(most, plan.blocks.size());
      }
      EXPECT_LE(most - least, 4U) << ranks << " ranks, " << edge;
    }
  }
}

TEST(PtransPlan, OnASquareGridARankExchangesWithOneOther) {
  for (int rank = 0; rank < 9; ++rank) {
    const Plan plan = make_plan(Distribution::pq({.rows = 3, .columns = 3}, 7), rank, 2);
    const int opposite = rank % 3 * 3 + rank / 3;
    EXPECT_EQ(peers(plan), opposite == rank ? std::set<int>{} : std::set<int>{opposite});
  }
}

TEST(PtransPlan, ARoundHasNoMoreBlocksForAnyRankThanItMay) {
  for (const std::size_t most : {1U, 2U, 5U}) {
    const Plan plan = make_plan(Distribution::pq({.rows = 2, .columns = 3}, 12), 1, most);
    for (const Round& round : plan.rounds) {
      std::map<int, std::size_t> sent;
      for (const Transit& transit : round.sends) EXPECT_LE(++sent[transit.peer], most);
    }
  }
}

TEST(PtransPlan, KnowsWhetherAnythingIsExchanged) {
  EXPECT_FALSE(Distribution::pq({.rows = 1, .columns = 1}, 5).exchanges());
  EXPECT_FALSE(Distribution::pq({.rows = 2, .columns = 3}, 1).exchanges());
  EXPECT_TRUE(Distribution::pq({.rows = 1, .columns = 2}, 2).exchanges());
  EXPECT_FALSE(Distribution::diagonal(1, 5).exchanges());
  EXPECT_TRUE(Distribution::diagonal(2, 2).exchanges());
}

TEST(PtransFaults, ArePossibleWhereThereAreMessagesForThem) {
  const auto possible = [](const Distribution& distribution, int rank, Fault::Kind kind, std::size_t most) {
    return can_make(make_plan(distribution, rank, most), Fault{.kind = kind});
  };
  const Distribution square = Distribution::pq({.rows = 2, .columns = 2}, 4);
  for (const Fault::Kind kind : {Fault::Kind::kLost, Fault::Kind::kLate, Fault::Kind::kBlank,
                                 Fault::Kind::kHalf, Fault::Kind::kSwapped}) {
    EXPECT_FALSE(possible(square, 0, kind, 8)) << "on the diagonal of the grid";
    EXPECT_TRUE(possible(square, 1, kind, 8));
  }
  EXPECT_FALSE(possible(square, 1, Fault::Kind::kSwapped, 1)) << "one message at a time";
  EXPECT_TRUE(possible(square, 1, Fault::Kind::kLate, 1));
  const Distribution small = Distribution::pq({.rows = 2, .columns = 2}, 2);
  EXPECT_FALSE(possible(small, 1, Fault::Kind::kLate, 8)) << "a single block";
  EXPECT_TRUE(possible(small, 1, Fault::Kind::kLost, 8));
  EXPECT_TRUE(possible(small, 3, Fault::Kind::kElement, 8));
  EXPECT_FALSE(possible(Distribution::diagonal(16, 2), 9, Fault::Kind::kElement, 8)) << "no block";
}

}  // namespace

}  // namespace fabricmark::ptrans
