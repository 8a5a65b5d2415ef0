#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "engine_support.hpp"
#include "tests/kernels/vadd_put/dataflow.cpp"

/// What the tests of ACCL's own programs have: their numbers, their loop between streams, their tolerances.
namespace fabricmark::accl::examples {

using collectives::Operation;
using collectives::Reduction;
using dataflow::stream;

using Values = std::vector<float>;

inline constexpr int kRanks = 4;
inline constexpr std::size_t kCount = 16;
inline constexpr std::size_t kOfBuffer = 1024 / sizeof(float);
inline constexpr int kStream = 9;

/// The same on all ranks, of both signs.
inline Values numbers(std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) + 0.5F);
  return values;
}

inline Values part(const Values& of, std::size_t first, std::size_t count) {
  const auto begin = of.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

inline std::size_t words_of(std::size_t count) { return (count + 15) / 16; }

inline void loop_back(stream<accl_word>& in, stream<accl_word>& out, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) out.write(in.read());
}

/// A rank with the loop between its streams.
struct Looped {
  explicit Looped(const Rank& of) : rank(of), parts(std::make_shared<Parts>()) {
    rank.accl.keep(parts);
    rank.accl.connect_to_kernel(kStream, parts->to_kernel);
    rank.accl.connect_from_kernel(kStream, parts->from_kernel);
  }
  struct Parts {
    stream<accl_word> to_kernel{"to_kernel"};
    stream<accl_word> from_kernel{"from_kernel"};
  };
  void loop(std::size_t count) const {
    rank.host.start("loop_back", {}, loop_back, parts->to_kernel, parts->from_kernel, words_of(count));
  }
  const Rank& rank;
  std::shared_ptr<Parts> parts;
};

inline void expect_done(Request request) { EXPECT_EQ(request.wait().text, ""); }

inline Request send_stream(const Rank& rank, std::size_t count, int to, int tag) {
  return rank.accl.start({.kind = Kind::kSend, .peer = to, .tag = tag, .count = count, .a = {{}, kStream}});
}

inline Request recv_stream(const Rank& rank, std::size_t count, int from, int tag) {
  return rank.accl.start(
      {.kind = Kind::kRecv, .peer = from, .tag = tag, .count = count, .result = {{}, kStream}});
}

struct Called {
  Operation operation = Operation::kBarrier;
  int root = 0;
  Reduction reduction = Reduction::kSum;
  bool is_compressed = false;
  int communicator = 0;
};

inline void call(const Rank& rank, const Called& what, Values own, Values& result, std::size_t count) {
  collectives::Call made{.operation = what.operation, .root = what.root, .count = count};
  made.reduction = what.reduction;
  made.own = view(own);
  made.result = view(result);
  expect_done(rank.accl.collective(made, what.communicator, "", what.is_compressed));
}

/// With the tolerance of that program where numbers travelled as float16.
inline void expect_near(const Values& result, const Values& expected, bool is_compressed) {
  ASSERT_EQ(result.size(), expected.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (is_compressed) {
      EXPECT_NEAR(result[i], expected[i], 0.05 + 0.005 * std::abs(expected[i])) << i;
    } else {
      EXPECT_FLOAT_EQ(result[i], expected[i]) << i;
    }
  }
}

}  // namespace fabricmark::accl::examples
