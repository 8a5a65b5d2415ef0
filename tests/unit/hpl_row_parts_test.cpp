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

/// Of a matrix of n floats in a row in blocks of b, with two panels for two iterations each.
BankNeeds needs(std::uint64_t n, std::uint64_t b) {
  const std::uint64_t rows = (n + b - 1) / b;
  return {.rows = rows,
          .row_bytes = rows * b * b * 4,
          .others = {b * b * 4, b * b * 4, 2 * rows * b * b * 4, 2 * rows * b * b * 4}};
}

constexpr std::uint64_t kBankBytes = std::uint64_t{256} << 20U;
constexpr std::size_t kBanks = 32;  // of the U280's HBM2

TEST(HplRowParts, FitTheBanksOfAnAlveoU280) {
  EXPECT_EQ(most_parts(needs(33280, 256), kBanks, kBanks, kBankBytes), 32U);
  EXPECT_EQ(most_parts(needs(33280, 512), kBanks, kBanks, kBankBytes), 30U) << "panels need room, too";
  EXPECT_EQ(most_parts(needs(4096, 512), kBanks, kBanks, kBankBytes), 8U) << "a row each";
  EXPECT_EQ(most_parts(needs(46080, 512), kBanks, kBanks, kBankBytes), 32U) << "does not fit at all";
}

TEST(HplRowParts, AreAsManyAsAskedForWhereNothingIsKnownOfBanks) {
  EXPECT_EQ(most_parts(needs(33280, 256), 4, 0, 0), 4U);
  EXPECT_EQ(most_parts(needs(33280, 256), 4, kBanks, kBankBytes), 4U) << "refused where it is allocated";
  EXPECT_EQ(most_parts({}, 4, kBanks, kBankBytes), 1U) << "a rank without a block";
}

}  // namespace

}  // namespace fabricmark::hpl
