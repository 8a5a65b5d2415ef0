#include "benchmarks/common/block_cyclic.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace fabricmark::common {

TEST(Grid, IsAsSquareAsItGets) {
  EXPECT_EQ(make_grid(1, 0).rows, 1U);
  EXPECT_EQ(make_grid(2, 0).rows, 1U);
  EXPECT_EQ(make_grid(6, 0).rows, 2U);
  EXPECT_EQ(make_grid(6, 0).columns, 3U);
  EXPECT_EQ(make_grid(7, 0).rows, 1U);
  EXPECT_EQ(make_grid(16, 0).rows, 4U);
}

TEST(Grid, TakesTheRowsThatItIsTold) {
  EXPECT_EQ(make_grid(6, 3).columns, 2U);
  EXPECT_THROW(make_grid(6, 4), Error);
  EXPECT_THROW(make_grid(4, 8), Error);
}

TEST(Grid, EveryBlockHasOneOwnerThatFindsIt) {
  const Grid grid = make_grid(6, 2);
  constexpr std::size_t kBlocks = 7;
  std::size_t all_blocks = 0;
  for (int rank = 0; rank < 6; ++rank) {
    all_blocks += owned_blocks(kBlocks, grid.row_of(rank), grid.rows) *
                  owned_blocks(kBlocks, grid.column_of(rank), grid.columns);
  }
  EXPECT_EQ(all_blocks, kBlocks * kBlocks);
  EXPECT_EQ(grid.owner(5, 4), grid.rank_at(1, 1));
  EXPECT_EQ(grid.row_of(grid.owner(5, 4)), 1U);
  EXPECT_EQ(grid.column_of(grid.owner(5, 4)), 1U);
}

}  // namespace fabricmark::common
