#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.hpp"
#include "collectives_support.hpp"

namespace fabricmark::collectives {

namespace {

TEST(Collectives, EveryAlgorithmDoesItsOperation) {
  std::set<std::tuple<const Algorithm*, Type, Reduction>> met;
  std::size_t cases = 0;
  with_cases({1, 2, 3, 4, 5, 8, 16}, {0, 1, 7, 1000}, [&](const Case& one) {
    const Outcome outcome = outcome_of(one);
    EXPECT_EQ(outcome.wrong, "") << one.text();
    for (const auto& [from, to] : outcome.talked) {
      ASSERT_TRUE(are_neighbours(one.call.shape, one.ranks, from, to))
          << one.text() << ": " << from << " to " << to;
    }
    met.emplace(one.algorithm, one.type, one.call.reduction);
    ++cases;
  });
  EXPECT_EQ(met.size(), algorithms().size() * kTypes.size() * kReductions.size());
  EXPECT_GT(cases, 4000U);
}

TEST(Collectives, RoundSumsOfFractionsWithinTheirBoundAndAlikeOnAllRanks) {
  with_cases({2, 3, 5, 8, 16}, {1, 300}, [](Case one) {
    if (!reduces(one.algorithm->operation) || one.type == Type::kInt32 || one.type == Type::kInt64) return;
    one.inputs = {.numbers = Inputs::Numbers::kFractions, .seed = 7};
    const Outcome outcome = outcome_of(one);
    ASSERT_EQ(outcome.wrong, "") << one.text();
    if (one.algorithm->operation != Operation::kAllReduce) return;
    for (const auto& result : outcome.results) EXPECT_EQ(result, outcome.results[0]) << one.text();
  });
}

/// The most receive buffers that a rank of a call of so many pieces takes, each in one.
std::size_t most_taken(const Algorithm& algorithm, int ranks, std::size_t pieces,
                       const ReceiveBuffers& buffers) {
  constexpr std::size_t kPiece = 64;  // elements
  const bool is_whole =
      algorithm.operation == Operation::kScatter || algorithm.operation == Operation::kGather;
  Case one{.algorithm = &algorithm, .ranks = ranks};
  one.call = {.operation = algorithm.operation, .root = 1, .count = (is_whole ? 1 : pieces) * kPiece};
  one.call.shape = shape_for(algorithm, ranks, false);
  one.call.segment_bytes = kPiece * bytes_of(one.type);
  one.call.buffers = buffers;
  LocalRanks all(ranks, one.type, {.sends = Sends::kEager, .buffers = {1, kPiece * bytes_of(one.type)}});
  std::vector<Local> locals;
  for (int rank = 0; rank < ranks; ++rank) locals.emplace_back(one, rank);
  all.run([&](Moves& moves) { run(algorithm, moves, locals[static_cast<std::size_t>(moves.rank())].call); });
  return all.most_taken();
}

TEST(Collectives, PiecesThatArePassedOnFindRoom) {
  int passing = 0;
  for (const Algorithm& algorithm : algorithms()) {
    const bool passes = algorithm.name == "chain" || algorithm.name == "relay" ||
                        (algorithm.operation == Operation::kReduce && algorithm.name == "ring");
    if (!passes || algorithm.operation == Operation::kAllToAll) continue;
    ++passing;
    for (const int ranks : {2, 5, 48}) {
      const bool is_whole = algorithm.name == "relay";
      const std::size_t pieces = is_whole ? ranks / 2 : 200;
      for (const std::size_t count : {4U, 8U, 16U, 31U}) {
        const ReceiveBuffers buffers{count, 256};
        const CostModel model({.bytes_per_second = 1,
                               .copy_bytes_per_second = 1,
                               .combine_bytes_per_second = 1,
                               .segment_bytes = 256},
                              {algorithm.operation, ranks, is_whole ? 256 : pieces * 256,
                               shape_for(algorithm, ranks, false), buffers});
        const std::size_t needed = algorithm.needed_buffers(model);
        const std::size_t taken = most_taken(algorithm, ranks, pieces, buffers);
        EXPECT_LE(taken, needed) << algorithm.name << ' ' << ranks << ' ' << count;
        EXPECT_LE(needed, count) << algorithm.name << ' ' << ranks;
      }
      // Nothing else keeps them from it; to a gathering root they come in step here.
      if (pieces > 16 && algorithm.operation != Operation::kGather) {
        EXPECT_GT(most_taken(algorithm, ranks, pieces, {}), 16U) << algorithm.name;
      }
    }
  }
  EXPECT_EQ(passing, 4);
}

TEST(Collectives, WorkForManyRanks) {
  std::set<const Algorithm*> met;
  with_cases({48}, {1, 97}, [&](const Case& one) {
    EXPECT_EQ(outcome_of(one).wrong, "") << one.text();
    met.insert(one.algorithm);
  });
  for (const Algorithm& algorithm : algorithms()) {
    const bool fits = algorithm.fits({algorithm.operation, 48, 4, shape_for(algorithm, 48, false)});
    EXPECT_EQ(met.contains(&algorithm), fits) << algorithm.name << ' ' << name_of(algorithm.operation);
  }
}

TEST(Collectives, MakeTheSameMovesWithoutData) {
  const auto log_of = [](const Case& one, bool has_data) {
    LocalRanks::Settings settings = one.settings;
    settings.has_data = has_data;
    LocalRanks ranks(one.ranks, one.type, settings);
    std::vector<Local> locals;
    for (int rank = 0; rank < one.ranks; ++rank) locals.emplace_back(one, rank);
    ranks.run([&](Moves& moves) {
      Call call = locals[static_cast<std::size_t>(moves.rank())].call;
      if (!has_data) call.own.data = call.result.data = nullptr;
      run(*one.algorithm, moves, call);
    });
    return ranks.log();
  };
  with_cases({2, 5, 16}, {1, 1000},
             [&](const Case& one) { EXPECT_EQ(log_of(one, true), log_of(one, false)) << one.text(); });
}

TEST(Collectives, RefuseOperandsThatDoNotFit) {
  LocalRanks ranks(2, Type::kInt32, {});
  const Algorithm& any = algorithms().front();
  EXPECT_THROW(
      ranks.run([&](Moves& moves) { run(any, moves, {.operation = any.operation, .root = 5, .count = 1}); }),
      Error);
}

}  // namespace

}  // namespace fabricmark::collectives
