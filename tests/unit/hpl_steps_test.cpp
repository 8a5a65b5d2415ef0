#include "benchmarks/hpl/steps.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace fabricmark::hpl {

namespace {

struct Case {
  std::size_t rows;
  std::size_t columns;
  std::size_t blocks;
};
constexpr Case kCases[]{{1, 1, 4}, {1, 2, 5}, {2, 1, 5}, {2, 2, 4},
                        {2, 3, 7}, {3, 3, 5}, {4, 4, 3}, {3, 2, 1}};

std::vector<Layout> layouts(const Case& grid) {
  std::vector<Layout> all;
  constexpr std::size_t kBlock = 8;
  for (std::size_t rank = 0; rank < grid.rows * grid.columns; ++rank) {
    all.push_back({.size = grid.blocks * kBlock - 3,
                   .block = kBlock,
                   .grid = {grid.rows, grid.columns},
                   .rank = static_cast<int>(rank)});
  }
  return all;
}

using Block = std::pair<std::size_t, std::size_t>;

/// The blocks of a rectangle by their global place; fails where one is there already.
void collect(const Layout& layout, const Rectangle& rectangle, std::set<Block>& blocks) {
  for (std::size_t i = rectangle.rows.begin; i < rectangle.rows.end; ++i) {
    for (std::size_t j = rectangle.columns.begin; j < rectangle.columns.end; ++j) {
      const Block block{layout.global_row(i * layout.block) / layout.block,
                        layout.global_column(j * layout.block) / layout.block};
      EXPECT_TRUE(blocks.insert(block).second) << block.first << ", " << block.second << " twice";
    }
  }
}

TEST(HplSteps, FindTheBlocksOfAnIterationOnEveryRank) {
  for (const Case& grid : kCases) {
    for (std::size_t k = 0; k < grid.blocks; ++k) {
      int owners = 0;
      for (const Layout& layout : layouts(grid)) {
        const Step step = make_step(layout, k);
        owners += step.is_owner() ? 1 : 0;
        EXPECT_EQ(step.is_owner(), layout.grid.owner(k, k) == layout.rank);
        if (step.is_in_row) {
          EXPECT_EQ(layout.global_row(step.row() * layout.block), k * layout.block);
        }
        if (step.is_in_column) {
          EXPECT_EQ(layout.global_column(step.column() * layout.block), k * layout.block);
        }
        if (step.below.count() > 0) {
          EXPECT_GT(layout.global_row(step.below.begin * layout.block), k * layout.block);
        }
      }
      EXPECT_EQ(owners, 1);
    }
  }
}

TEST(HplSteps, UpdateEveryInnerBlockOnce) {
  for (const Case& grid : kCases) {
    for (std::size_t k = 0; k < grid.blocks; ++k) {
      for (const bool looks_ahead : {false, true}) {
        std::set<Block> updated;
        for (const Layout& layout : layouts(grid)) {
          const Update update = divide_update(layout, k, looks_ahead);
          for (const Rectangle& part : {update.next_column, update.next_row, update.rest})
            collect(layout, part, updated);
        }
        const std::size_t inner = grid.blocks - 1 - k;
        EXPECT_EQ(updated.size(), inner * inner);
        if (!updated.empty()) {
          EXPECT_EQ(*updated.begin(), Block(k + 1, k + 1));
        }
      }
    }
  }
}

TEST(HplSteps, BeginWithWhatTheNextIterationNeeds) {
  for (const Case& grid : kCases) {
    for (std::size_t k = 0; k + 1 < grid.blocks; ++k) {
      std::set<Block> first;
      std::set<Block> rest;
      for (const Layout& layout : layouts(grid)) {
        const Update update = divide_update(layout, k, true);
        collect(layout, update.next_column, first);
        collect(layout, update.next_row, first);
        collect(layout, update.rest, rest);
        EXPECT_EQ(divide_update(layout, k, false).next_column.count(), 0U);
        EXPECT_EQ(divide_update(layout, k, false).next_row.count(), 0U);
      }
      EXPECT_EQ(first.size(), 2 * (grid.blocks - 2 - k) + 1);
      for (const Block& block : first) EXPECT_TRUE(block.first == k + 1 || block.second == k + 1);
      for (const Block& block : rest) EXPECT_TRUE(block.first > k + 1 && block.second > k + 1);
    }
  }
}

using Sent = std::tuple<Content, int, int>;  // from, to

/// All that is sent by one rank and received by another.
template <typename Find>
std::set<Sent> deliveries(const Case& grid, Find&& find) {
  std::set<Sent> sent;
  std::set<Sent> received;
  for (const Layout& layout : layouts(grid)) {
    const Deliveries found = find(layout);
    for (const Delivery& one : found.sends) sent.insert({one.content, layout.rank, one.peer});
    for (const Delivery& one : found.receives) received.insert({one.content, one.peer, layout.rank});
    EXPECT_EQ(found.empty(), found.sends.empty() && found.receives.empty());
  }
  EXPECT_EQ(sent, received);
  return sent;
}

TEST(HplSteps, SendWhatIsReceived) {
  for (const Case& grid : kCases) {
    for (std::size_t k = 0; k < grid.blocks; ++k) {
      deliveries(grid, [&](const Layout& layout) { return inverse_deliveries(layout, k); });
      deliveries(grid, [&](const Layout& layout) { return panel_deliveries(layout, k); });
    }
  }
}

TEST(HplSteps, BringToEveryRankWhatItNeeds) {
  constexpr Case kGrid{2, 3, 7};
  std::map<int, std::size_t> panels;
  const auto sent = deliveries(kGrid, [&](const Layout& layout) { return panel_deliveries(layout, 1); });
  for (const auto& [content, from, to] : sent) ++panels[to];
  // Block (1, 1) is rank 4's. Ranks 3 and 5 are in its row and rank 1 in its column: one panel is their own.
  const std::map<int, std::size_t> expected{{0, 2}, {1, 1}, {2, 2}, {3, 1}, {5, 1}};
  EXPECT_EQ(panels, expected);
  const auto inverses =
      deliveries(kGrid, [&](const Layout& layout) { return inverse_deliveries(layout, 1); });
  const std::set<Sent> of_owner{{Content::kLower, 4, 3}, {Content::kLower, 4, 5}, {Content::kUpper, 4, 1}};
  EXPECT_EQ(inverses, of_owner);
}

TEST(HplSteps, SendNothingInTheLastIterationAndAlone) {
  for (const Case& grid : kCases) {
    const std::size_t last = grid.blocks - 1;
    EXPECT_TRUE(
        deliveries(grid, [&](const Layout& layout) { return panel_deliveries(layout, last); }).empty());
    EXPECT_TRUE(
        deliveries(grid, [&](const Layout& layout) { return inverse_deliveries(layout, last); }).empty());
  }
  EXPECT_TRUE(
      deliveries({1, 1, 4}, [](const Layout& layout) { return panel_deliveries(layout, 0); }).empty());
}

}  // namespace

}  // namespace fabricmark::hpl
