// Collective calls of the engine: operations, algorithms, transports, issuers, operands, ranks, roots, types.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine_covering.hpp"
#include "engine_doer.hpp"

namespace fabricmark::accl {
namespace {

using covering::Case;
using covering::Doer;
using covering::Operation;

/// Does cases that share a network; stops at the first that fails on any rank. Returns when it ended.
network::Time run_group(const std::vector<Case>& group, int workers = 1,
                        std::optional<std::uint64_t> seed = {}) {
  Devices all = covering::devices_of(group.front());
  all.workers = workers;
  all.seed = seed;
  network::Time latest = 0;
  run(all, [&](const Rank& rank) {
    Doer doer(rank);
    network::Time end = rank.host.now();
    bool has_failed = false;
    for (const Case& one : group) {
      rank.host.pass_until(end);
      const std::string wrong = doer.run(one);
      EXPECT_EQ(wrong, "") << one.text() << ", rank " << rank.host.device();
      end = rank.ranks.all_reduce_max(wrong.empty() ? rank.host.now() : network::kEndOfTime);
      has_failed = end == network::kEndOfTime;
      if (has_failed) break;
    }
    if (rank.host.device() == 0) latest = end;
    if (has_failed) {
      rank.host.finish();
    } else {
      rank.accl.finish();
    }
  });
  return latest;
}

TEST(EngineCovering, EachPairOfWhatCallsDifferInIsRight) {
  constexpr std::uint32_t kSelections = 4;  // each has all pairs, and other triples
  const auto all = covering::all_cases();
  const covering::Pairs pairs(all);
  std::vector<covering::Levels> cases;
  for (std::uint32_t seed = 0; seed < kSelections; ++seed) {
    const auto chosen = covering::pairwise(all, pairs, 10'000 * seed);
    cases.insert(cases.end(), chosen.begin(), chosen.end());
  }
  for (const auto& group : covering::by_network(covering::cases_of(cases))) {
    run_group(group);
    if (HasFailure()) return;
  }
  RecordProperty("of", static_cast<int>(all.size()));
  RecordProperty("cases", static_cast<int>(cases.size()));
}

class EngineCoveringAll : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Transports, EngineCoveringAll, testing::Range<std::size_t>(0, 4));

// Takes minutes each: make test-full runs them (tests/python/test_engine_covering.py).
TEST_P(EngineCoveringAll, DISABLED_IsRight) {
  constexpr std::size_t kOnANetwork = 200;  // kernels that have ended stay as long as it
  std::vector<Case> cases;
  for (const Case& one : covering::cases_of(covering::all_cases())) {
    if (static_cast<std::size_t>(one.transport) == GetParam()) cases.push_back(one);
  }
  ASSERT_GT(cases.size(), 10'000U);
  for (const auto& group : covering::by_network(cases, kOnANetwork)) {
    run_group(group);
    if (HasFailure()) return;
  }
}

TEST(EngineCovering, TimesAreTheSameWithAnyWorkersAndOrder) {
  const auto all = covering::all_cases();
  const auto chosen = covering::pairwise(all, covering::Pairs(all), 50'000);
  const auto groups = covering::by_network(covering::cases_of(chosen));
  for (std::size_t number = 0; number < groups.size(); ++number) {
    const auto& group = groups[number];
    if (group.front().ranks < 2) continue;
    const network::Time first = run_group(group);
    EXPECT_GT(first, 0);
    EXPECT_EQ(run_group(group, 2, number), first) << group.front().text();
    EXPECT_EQ(run_group(group, 4, number + 1000), first) << group.front().text();
    if (HasFailure()) return;
  }
}

TEST(EngineCovering, FortyEightRanks) {
  for (const auto transport : {covering::Transport::kTcp, covering::Transport::kRendezvous}) {
    for (const std::string name : {"all_reduce", "all_to_all", "barrier"}) {
      const Operation operation = collectives::operation_named(name);
      std::vector<Case> group;
      for (const auto& algorithm : collectives::algorithms()) {
        if (algorithm.operation != operation || algorithm.reach != collectives::Reach::kAll) continue;
        group.push_back({.algorithm = &algorithm, .transport = transport, .ranks = 48});
        if (operation != Operation::kBarrier) group.back().count = 100;
      }
      run_group(group);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace fabricmark::accl
