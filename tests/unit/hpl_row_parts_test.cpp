#include "benchmarks/hpl/row_parts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fabricmark::hpl {

namespace {

TEST(HplRowParts, DealEachRowOnceAndKeepTheOrder) {
  for (std::size_t parts = 1; parts < 6; ++parts) {
    const RowParts dealt(parts);
    for (std::size_t begin = 0; begin < 9; ++begin) {
      for (std::size_t end = begin; end < 14; ++end) {
        std::set<std::size_t> rows;
        std::size_t before = 0;
        for (std::size_t part = 0; part < parts; ++part) {
          const Range within = dealt.within({begin, end}, part);
          EXPECT_EQ(dealt.before({begin, end}, part), before) << "panels have no gaps";
          before += within.count();
          for (std::size_t row = begin; row < end; ++row) {
            if (dealt.part_of(row) != part) continue;
            EXPECT_GE(dealt.row_in_part(row), within.begin);
            EXPECT_LT(dealt.row_in_part(row), within.end);
            EXPECT_TRUE(rows.insert(row).second);
          }
        }
        EXPECT_EQ(rows.size(), end - begin);
        EXPECT_EQ(before, end - begin);
      }
    }
  }
}

}  // namespace

}  // namespace fabricmark::hpl
