#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <stdexcept>

namespace fabricmark::runtime {

namespace {

TEST(ParallelFor, TakesEveryNumberOnce) {
  for (const std::size_t count : {0U, 1U, 7U, 100U}) {
    for (const int threads : {0, 1, 3, 16}) {
      std::vector<int> times(count);
      parallel_for(count, threads, 2, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++times[i];
      });
      EXPECT_EQ(times, std::vector<int>(count, 1)) << count << " on " << threads;
    }
  }
}

TEST(ParallelFor, ThrowsWhatAnyPartThrows) {
  const auto fail_at_the_end = [](std::size_t, std::size_t end) {
    if (end == 100) throw std::runtime_error("the last");
  };
  EXPECT_THROW(parallel_for(100, 4, 1, fail_at_the_end), std::runtime_error);
}

TEST(ParallelSum, IsThatOfOneThread) {
  for (const int threads : {1, 3, 16}) {
    const std::uint64_t sum = parallel_sum(1000, threads, 1, [](std::size_t begin, std::size_t end) {
      std::uint64_t own = 0;
      for (std::size_t i = begin; i < end; ++i) own += i;
      return own;
    });
    EXPECT_EQ(sum, 499500U) << threads;
  }
}

TEST(ParallelFill, LeavesNoElementOut) {
  std::vector<int> values(3 * kWorthAThread + 1);
  parallel_fill(std::span(values), 7, 4);
  EXPECT_EQ(values, std::vector<int>(values.size(), 7));
}

}  // namespace

}  // namespace fabricmark::runtime
