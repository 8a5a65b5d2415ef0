#include "record/folding.hpp"
#include "record/polls.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "record/tables.hpp"

namespace {

using fabricmark::record::Folding;
using fabricmark::record::Polls;
using fabricmark::record::Requests;
using fabricmark::record::Signature;
using fabricmark::record::Signatures;

constexpr std::size_t kRoom = 100000;

/// Letters as calls, a loop as (steps)times.
std::string folded(const std::vector<int>& calls) {
  Folding folding(kRoom, 64);
  for (const int call : calls) EXPECT_TRUE(folding.add(static_cast<std::uint32_t>(call), {1, 2, 3, 4}));
  std::vector<std::string> said;
  for (std::size_t i = 0; i < folding.size(); ++i) {
    if (!folding[i].is_loop()) {
      said.emplace_back(1, static_cast<char>('a' + folding[i].key));
      continue;
    }
    // The loop's steps, of which inner loops are one text and placeholders.
    std::string body;
    for (std::size_t k = i - folding[i].length(); k < i; ++k) body += std::exchange(said[k], "");
    said.push_back("(" + body + ")" + std::to_string(folding[i].times));
  }
  std::string all;
  for (const std::string& one : said) all += one;
  return all;
}

std::vector<int> unfolded(const Folding& folding) {
  std::vector<std::vector<int>> parts;
  for (std::size_t i = 0; i < folding.size(); ++i) {
    std::vector<int> own;
    if (folding[i].is_loop()) {
      std::vector<int> body;
      for (std::size_t k = i - folding[i].length(); k < i; ++k) {
        body.insert(body.end(), parts[k].begin(), parts[k].end());
        parts[k].clear();
      }
      for (std::uint64_t turn = 0; turn < folding[i].times; ++turn)
        own.insert(own.end(), body.begin(), body.end());
    } else {
      own.push_back(static_cast<int>(folding[i].key));
    }
    parts.push_back(std::move(own));
  }
  std::vector<int> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST(Folding, LoopsAndLoopsWithinLoops) {
  EXPECT_EQ(folded({0, 1, 2}), "abc");
  EXPECT_EQ(folded({0, 0, 0, 0}), "(a)4");
  EXPECT_EQ(folded({0, 1, 0, 1, 0, 1, 2}), "(ab)3c");
  EXPECT_EQ(folded({0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1}), "(a(b)3)3");
  EXPECT_EQ(folded({1, 1, 2, 1, 1, 2}), "((b)2c)2");
  EXPECT_EQ(folded({0, 1, 1, 0, 1, 1, 1}), "(a(b)2)2b");
}

TEST(Folding, EachSequenceComesBackAndTimesAreKept) {
  std::mt19937 draw(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<int> calls;
    while (calls.size() < 200) {  // pieces that follow each other some times
      std::vector<int> piece;
      for (unsigned i = 0; i < 1 + draw() % 5; ++i) piece.push_back(static_cast<int>(draw() % 3));
      for (unsigned turn = 0; turn < 1 + draw() % 6; ++turn)
        calls.insert(calls.end(), piece.begin(), piece.end());
    }
    Folding folding(kRoom, 3);
    for (const int call : calls) ASSERT_TRUE(folding.add(static_cast<std::uint32_t>(call), {1, 2, 3, 4}));
    ASSERT_EQ(unfolded(folding), calls) << trial;
    double compute = 0;
    double inside = 0;
    std::size_t tests = 0;
    double testing = 0;
    for (std::size_t i = 0; i < folding.size(); ++i) {
      compute += folding[i].spent.compute_seconds;
      inside += folding[i].spent.inside_seconds;
      tests += folding[i].spent.tests;
      testing += folding[i].spent.test_seconds;
    }
    EXPECT_EQ(compute, static_cast<double>(calls.size()));
    EXPECT_EQ(inside, 2 * static_cast<double>(calls.size()));
    EXPECT_EQ(tests, 3 * calls.size());
    EXPECT_EQ(testing, 4 * static_cast<double>(calls.size()));
  }
}

TEST(Folding, LongRunsAreSmallAndWithoutRoomItSaysSo) {
  Folding folding(64, 64);
  for (int turn = 0; turn < 100000; ++turn) {
    for (std::uint32_t call = 0; call < 30; ++call) ASSERT_TRUE(folding.add(call, {}));
  }
  EXPECT_EQ(folding.size(), 31U);
  Folding small(8, 64);
  bool had_room = true;
  for (std::uint32_t call = 0; call < 9; ++call) had_room = small.add(call, {}) && had_room;
  EXPECT_FALSE(had_room);
  EXPECT_FALSE(folding.add(64, {})) << "a kind beyond those that there are";
}

TEST(Polls, WorkBetweenTestsTellsThemFromAWait) {
  const Polls::Costs costs{.gap_seconds = 30e-9, .extra_seconds = 20e-9};
  Polls polls(costs);
  for (int i = 0; i < 100; ++i) polls.add(i == 0 ? 1e-3 : 31e-9, 400e-9);  // spins
  Polls::Sum sum = polls.take();
  EXPECT_EQ(sum.tests, 0U);
  EXPECT_NEAR(sum.compute_seconds, 1e-3, 1e-12) << "what came before the first one";
  EXPECT_NEAR(sum.waited_seconds, 99 * 31e-9 + 100 * 400e-9, 1e-12);
  for (int i = 0; i < 100; ++i) polls.add(i % 2 == 0 ? 40e-9 : 150e-9, 420e-9);  // works
  sum = polls.take();
  EXPECT_EQ(sum.tests, 100U);
  EXPECT_EQ(sum.waited_seconds, 0);
  EXPECT_NEAR(sum.test_seconds, 100 * 400e-9, 1e-12);
  EXPECT_NEAR(sum.compute_seconds, 40e-9 + 49 * 10e-9 + 50 * 120e-9, 1e-12);
  EXPECT_NEAR(sum.own_seconds, 99 * 30e-9 + 100 * 20e-9, 1e-12);
  polls.add(5e-6, 400e-9);  // one by itself, before something else
  EXPECT_EQ(polls.take().tests, 1U);
}

TEST(RecordTables, SignaturesHaveNumbers) {
  Signatures all;
  Signature one{.tag = 1};
  EXPECT_EQ(all.number(one), 0U);
  one.bytes = 8;
  EXPECT_EQ(all.number(one), 1U);
  EXPECT_EQ(all.number({.tag = 1}), 0U);
  EXPECT_EQ(all.size(), 2U);
}

TEST(RecordTables, RequestsHaveTheLowestFreeSlot) {
  Requests all;
  std::mt19937 draw(2);
  std::vector<std::pair<std::uintptr_t, std::int32_t>> active;
  std::vector<bool> taken(1000, false);
  for (int step = 0; step < 20000; ++step) {
    if (active.size() < 200 && draw() % 2 == 0) {
      const std::uintptr_t handle = 1 + draw() % 50;  // of several at once, as Open MPI has it for sends
      const std::int32_t slot = all.take(handle);
      std::int32_t lowest = 0;
      while (taken[static_cast<std::size_t>(lowest)]) ++lowest;
      ASSERT_EQ(slot, lowest);
      all[slot].begun.slot = slot;
      taken[static_cast<std::size_t>(slot)] = true;
      active.emplace_back(handle, slot);
    } else if (!active.empty()) {
      const std::size_t place = draw() % active.size();
      const auto* found = all.find(active[place].first);
      ASSERT_NE(found, nullptr);
      const std::int32_t slot = found->begun.slot;
      all.give_back(slot);
      taken[static_cast<std::size_t>(slot)] = false;
      std::erase_if(active, [slot](const auto& one) { return one.second == slot; });
    }
  }
  for (const auto& [handle, slot] : active) EXPECT_NE(all.find(handle), nullptr);
  EXPECT_EQ(all.find(1000), nullptr);
}

}  // namespace
