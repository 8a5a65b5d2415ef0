// The engine where the network loses packets, ranks call different things, and peers answer too late.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "engine_covering.hpp"
#include "engine_doer.hpp"

namespace fabricmark::accl {
namespace {

using covering::Case;
using covering::Doer;
using covering::Transport;

Case drawn_case(Draw& draw, const std::vector<Transport>& transports, std::size_t least_count) {
  for (;;) {
    Case made{.algorithm = &collectives::algorithms()[draw.below(collectives::algorithms().size())],
              .transport = transports[draw.below(transports.size())],
              .ranks = 2 + static_cast<int>(draw.below(3))};
    made.count = least_count + draw.below(draw.below(4) == 0 ? 3000 : 50);
    made.root = static_cast<int>(draw.below(static_cast<std::size_t>(made.ranks)));
    made.type = collectives::kTypes.at(draw.below(collectives::kTypes.size()));
    made.reduction = collectives::kReductions.at(draw.below(collectives::kReductions.size()));
    const auto shape = collectives::shape_for(*made.algorithm, made.ranks, false);
    if (made.algorithm->fits(
            {made.algorithm->operation, made.ranks, made.count * collectives::bytes_of(made.type), shape})) {
      return made;
    }
  }
}

/// How a run ended on one rank.
struct End {
  std::string wrong;  ///< data, or what the call says
  Result result;
  std::string finish;  ///< what it threw
};

/// Each rank does its own case, or several.
std::vector<End> ends_of(const Devices& all, const std::function<std::vector<Case>(int)>& cases_of) {
  std::vector<End> ends(static_cast<std::size_t>(all.ranks));
  run(all, [&](const Rank& rank) {
    End& end = ends[static_cast<std::size_t>(rank.host.device())];
    Doer doer(rank);
    for (const Case& one : cases_of(rank.host.device())) {
      end.wrong = doer.run(one);
      end.result = doer.result();
      if (!end.wrong.empty()) break;
    }
    try {
      rank.accl.finish();
    } catch (const Error& error) {
      end.finish = error.what();
    }
  });
  return ends;
}

bool is_told(const std::vector<End>& ends) {
  return std::ranges::any_of(ends, [](const End& end) {
    return (!end.result.is_done() && !end.result.text.empty()) || !end.finish.empty();
  });
}

TEST(EngineFaults, TenThousandRunsOverTcpAndRdmaAreRight) {
  constexpr std::uint64_t kRuns = 10'000;
  constexpr std::size_t kOnANetwork = 5;  // what takes time is to start its ranks
  std::vector<Case> cases;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Draw draw(seed);
    cases.push_back(drawn_case(draw, {Transport::kTcp, Transport::kEager, Transport::kRendezvous}, 0));
  }
  std::uint64_t seed = 0;
  for (const auto& group : covering::by_network(cases, kOnANetwork)) {
    Devices all = covering::devices_of(group.front());
    all.network.faults = {.seed = ++seed, .drop = 0.05, .duplicate = 0.05, .reorder = 0.05};
    for (const End& end : ends_of(all, [&](int) { return group; })) {
      ASSERT_EQ(end.wrong + end.finish, "") << group.front().text() << " and others, seed " << seed;
    }
  }
}

TEST(EngineFaults, UdpIsNeverWrongInSilence) {
  constexpr std::uint64_t kRuns = 3000;
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Draw draw(seed);
    const Case one = drawn_case(draw, {Transport::kUdp}, 0);
    Devices all = covering::devices_of(one);
    all.network.faults = {.seed = seed, .drop = 0.01};
    const auto ends = ends_of(all, [&](int) { return std::vector{one}; });
    if (std::ranges::all_of(ends, [](const End& end) { return end.wrong.empty() && end.finish.empty(); }))
      continue;
    ++wrong;
    const bool is_named = std::ranges::any_of(ends, [](const End& end) {
      return end.result.code == Code::kPacketsLost || end.result.code == Code::kTimeOut;
    });
    ASSERT_TRUE(is_named) << one.text() << ", seed " << seed;
  }
  EXPECT_GT(wrong, 100);
}

/// Changes one thing of what a rank calls, or calls more or less.
std::vector<Case> changed(const Case& one, Draw& draw) {
  Case other = one;
  const auto operation = one.algorithm->operation;
  for (;;) {
    switch (draw.below(7)) {
      case 0:
        other.count += 1 + draw.below(9);
        break;
      case 1:
        if (!collectives::has_root(operation)) continue;
        other.root = (one.root + 1) % one.ranks;
        break;
      case 2:
        other.algorithm = drawn_case(draw, {one.transport}, 1).algorithm;
        if (other.algorithm->operation == operation) continue;
        break;
      case 3:
        other.type = collectives::kTypes.at((static_cast<std::size_t>(one.type) + 1) % 5);
        break;
      case 4:
        if (!collectives::reduces(operation)) continue;
        other.reduction = one.reduction == collectives::Reduction::kSum ? collectives::Reduction::kMax
                                                                        : collectives::Reduction::kSum;
        break;
      case 5:
        return {one, one};
      default:
        return {};
    }
    if (operation != collectives::Operation::kBarrier || other.algorithm != one.algorithm) return {other};
    other = one;
  }
}

TEST(EngineFaults, CallsThatDifferAreToldAndEnd) {
  constexpr std::uint64_t kRuns = 3000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Draw draw(seed);
    const Case one =
        drawn_case(draw, {Transport::kUdp, Transport::kTcp, Transport::kEager, Transport::kRendezvous}, 1);
    const int odd = static_cast<int>(draw.below(static_cast<std::size_t>(one.ranks)));
    const auto others = changed(one, draw);
    const auto ends =
        ends_of(covering::devices_of(one), [&](int rank) { return rank == odd ? others : std::vector{one}; });
    ASSERT_TRUE(is_told(ends)) << one.text() << ", seed " << seed << ", rank " << odd << " calls "
                               << (others.empty() ? "nothing" : others.back().text());
  }
}

/// Calls of rank 0, which sends, or of rank 1, which receives the same.
std::vector<Call> messages(Draw draw, bool is_sender, const std::vector<View>& memory) {
  std::vector<Call> calls;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const View elements = memory[i].part(0, 1 + draw.below(memory[i].count - 1));
    calls.push_back({.kind = is_sender ? Kind::kSend : Kind::kRecv,
                     .peer = is_sender ? 1 : 0,
                     .tag = static_cast<int>(i),
                     .count = elements.count,
                     .type = elements.type});
    (is_sender ? calls.back().a : calls.back().result).memory = elements;
  }
  return calls;
}

void change_one(Draw& draw, std::vector<Call>& calls) {
  Call& one = calls[draw.below(calls.size())];
  Operand& operand = one.kind == Kind::kSend ? one.a : one.result;
  switch (draw.below(5)) {
    case 0:
      --one.count;
      break;
    case 1:
      one.type = operand.memory.type = Type::kInt32;
      break;
    case 2:
      one.tag = 99;
      break;
    case 3:
      one.peer = 2;  // which calls nothing
      break;
    default:
      one.kind = Kind::kNop;
  }
}

TEST(EngineFaults, MessagesThatDifferAreToldAndEnd) {
  constexpr std::uint64_t kRuns = 2000;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    Draw draw(seed);
    Case network{.algorithm = collectives::algorithms().data(),
                 .transport = static_cast<Transport>(draw.below(covering::kTransports.size())),
                 .ranks = 3};
    const std::size_t odd = draw.below(2);
    std::vector<End> ends(3);
    run(covering::devices_of(network), [&](const Rank& rank) {
      const auto own = static_cast<std::size_t>(rank.host.device());
      std::vector<std::vector<float>> memory(1 + seed % 4, std::vector<float>(200));
      std::vector<View> views;
      for (auto& one : memory) views.push_back(view(one));
      Draw same(seed + 1);
      auto calls = own < 2 ? messages(same, own == 0, views) : std::vector<Call>{};
      if (own == odd) change_one(draw, calls);
      for (const Call& call : calls) {
        ends[own].result = rank.accl.start(call).wait();
        if (!ends[own].result.is_done()) break;
      }
      try {
        rank.accl.finish();
      } catch (const Error& error) {
        ends[own].finish = error.what();
      }
    });
    ASSERT_TRUE(is_told(ends)) << "seed " << seed << ", rank " << odd << " differs";
  }
}

}  // namespace
}  // namespace fabricmark::accl
