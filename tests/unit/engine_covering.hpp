#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/random_bits.hpp"
#include "collectives_support.hpp"
#include "engine_support.hpp"

/// All that collective calls of the engine can differ in, and selections of it.
namespace fabricmark::accl::covering {

using collectives::Algorithm;
using collectives::Operation;

enum class Transport : std::uint8_t { kUdp, kTcp, kEager, kRendezvous };

inline constexpr std::array kTransports{"udp", "tcp", "rdma eager", "rdma rendezvous"};
inline constexpr std::array kRanks{1, 2, 3, 5, 8, 16};
inline constexpr std::array<std::size_t, 4> kCounts{0, 1, 7, 1000};

/// A call of all ranks.
struct Case {
  const Algorithm* algorithm = nullptr;
  Transport transport = Transport::kUdp;
  bool by_logic = false;  ///< kernels issue it, not hosts
  bool own_is_stream = false;
  bool result_is_stream = false;
  int ranks = 1;
  std::size_t count = 0;
  int root = 0;
  bool is_in_place = false;
  Type type = Type::kInt32;
  collectives::Reduction reduction = collectives::Reduction::kSum;

  /// The network for which the algorithm was made.
  [[nodiscard]] std::string topology() const {
    if (ranks == 1) return "switch";
    if (algorithm->reach == collectives::Reach::kAll) return "full-mesh";
    if (algorithm->reach == collectives::Reach::kRing) return "ring";
    const auto torus = collectives::torus_of(ranks, false);
    return fmt::format("torus:{}x{}", torus.rows, torus.columns);
  }
  [[nodiscard]] collectives::Case local() const {
    collectives::Case made{.algorithm = algorithm, .ranks = ranks, .type = type, .is_in_place = is_in_place};
    made.call = {.operation = algorithm->operation, .root = root, .count = count, .reduction = reduction};
    return made;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} by {}, {}, {} to {}", local().text(), by_logic ? "kernels" : "hosts",
                       kTransports.at(static_cast<std::size_t>(transport)),
                       own_is_stream ? "stream" : "memory", result_is_stream ? "stream" : "memory");
  }
};

inline constexpr std::size_t kFactors = 11;
/// By factor, which of its values.
using Levels = std::array<std::uint8_t, kFactors>;

inline std::array<std::size_t, kFactors> sizes() {
  return {collectives::algorithms().size(),
          kTransports.size(),
          2,
          2,
          2,
          kRanks.size(),
          kCounts.size(),
          3,
          2,
          collectives::kTypes.size(),
          collectives::kReductions.size()};
}

inline Case case_of(const Levels& levels) {
  Case made{.algorithm = &collectives::algorithms()[levels[0]],
            .transport = static_cast<Transport>(levels[1]),
            .by_logic = levels[2] == 1,
            .own_is_stream = levels[3] == 1,
            .result_is_stream = levels[4] == 1,
            .ranks = kRanks.at(levels[5]),
            .count = kCounts.at(levels[6])};
  made.root = std::array{0, made.ranks / 2, made.ranks - 1}.at(levels[7]);
  made.is_in_place = levels[8] == 1;
  made.type = collectives::kTypes.at(levels[9]);
  made.reduction = collectives::kReductions.at(levels[10]);
  return made;
}

/// What cannot be, and what would be the same as another.
inline bool is_case(const Levels& levels) {
  const Case made = case_of(levels);
  const Operation operation = made.algorithm->operation;
  const bool is_same = (levels[10] > 0 && !collectives::reduces(operation)) ||
                       (levels[7] > 0 && !collectives::has_root(operation)) ||
                       (levels[7] > 0 && made.root == 0) || (levels[7] == 2 && made.ranks == 2);
  if (is_same) return false;
  if (operation == Operation::kBarrier) {
    return levels[3] + levels[4] + levels[6] + levels[8] + levels[9] == 0 &&
           made.algorithm->fits(
               {operation, made.ranks, 0, collectives::shape_for(*made.algorithm, made.ranks, false)});
  }
  if (made.is_in_place && (made.own_is_stream || made.result_is_stream)) return false;
  return made.algorithm->fits({operation, made.ranks, made.count * collectives::bytes_of(made.type),
                               collectives::shape_for(*made.algorithm, made.ranks, false)});
}

inline std::vector<Levels> all_cases() {
  std::vector<Levels> found;
  const auto most = sizes();
  Levels levels{};
  for (;;) {
    if (is_case(levels)) found.push_back(levels);
    std::size_t factor = 0;
    while (factor < kFactors && ++levels[factor] == most[factor]) levels[factor++] = 0;
    if (factor == kFactors) return found;
  }
}

/// Which pairs of values of two factors are still to come.
class Pairs {
 public:
  explicit Pairs(const std::vector<Levels>& cases) : open_(kFactors * kFactors * kMost * kMost) {
    for (const Levels& levels : cases) {
      visit(levels, [&](std::size_t pair) {
        if (!open_[pair]) ++left_;
        open_[pair] = true;
      });
    }
  }
  [[nodiscard]] std::size_t left() const { return left_; }
  /// What a case must have for one that is left.
  [[nodiscard]] std::function<bool(const Levels&)> first_left() const {
    const auto first = static_cast<std::size_t>(std::ranges::find(open_, true) - open_.begin());
    const std::size_t a = first / (kMost * kMost) / kFactors;
    const std::size_t b = first / (kMost * kMost) % kFactors;
    return [=](const Levels& levels) {
      return levels[a] == first / kMost % kMost && levels[b] == first % kMost;
    };
  }
  [[nodiscard]] std::size_t gain(const Levels& levels) const {
    std::size_t sum = 0;
    visit(levels, [&](std::size_t pair) { sum += open_[pair] ? 1U : 0U; });
    return sum;
  }
  void take(const Levels& levels) {
    visit(levels, [&](std::size_t pair) {
      if (open_[pair]) --left_;
      open_[pair] = false;
    });
  }

 private:
  static constexpr std::size_t kMost = 32;  // values of a factor

  template <typename Visit>
  static void visit(const Levels& levels, const Visit& what) {
    for (std::size_t a = 0; a < kFactors; ++a) {
      for (std::size_t b = a + 1; b < kFactors; ++b) {
        what(((a * kFactors + b) * kMost + levels[a]) * kMost + levels[b]);
      }
    }
  }

  std::vector<bool> open_;
  std::size_t left_ = 0;
};

/// So many that each pair of values that there can be is in one: greedily, the best of some drawn ones.
/// `pairs`: of all cases.
inline std::vector<Levels> pairwise(const std::vector<Levels>& cases, Pairs pairs, std::uint32_t seed) {
  constexpr int kDrawn = 100;
  std::vector<Levels> chosen;
  std::uint32_t turn = seed;
  const auto draw = [&] { return mixed_bits_32(++turn) % cases.size(); };
  while (pairs.left() > 0) {
    std::size_t best = draw();
    for (int i = 0; i < kDrawn; ++i) {
      const std::size_t other = draw();
      if (pairs.gain(cases[other]) > pairs.gain(cases[best])) best = other;
    }
    if (pairs.gain(cases[best]) == 0) {
      const auto has_one = pairs.first_left();
      while (!has_one(cases[best])) best = (best + 1) % cases.size();
    }
    pairs.take(cases[best]);
    chosen.push_back(cases[best]);
  }
  return chosen;
}

inline Devices devices_of(const Case& of) {
  Devices all;
  all.ranks = of.ranks;
  all.topology = of.topology();
  const bool is_rdma = of.transport == Transport::kEager || of.transport == Transport::kRendezvous;
  all.network = network_of(is_rdma                           ? network::Protocol::kRdma
                           : of.transport == Transport::kTcp ? network::Protocol::kTcp
                                                             : network::Protocol::kUdp);
  if (of.transport == Transport::kRendezvous) all.engine.eager_bytes = 0;
  return all;
}

inline std::vector<Case> cases_of(const std::vector<Levels>& all) {
  std::vector<Case> made;
  for (const Levels& levels : all) made.push_back(case_of(levels));
  return made;
}

/// Cases that can share a network, `most` of them one after the other.
inline std::vector<std::vector<Case>> by_network(const std::vector<Case>& cases,
                                                 std::size_t most = static_cast<std::size_t>(-1)) {
  std::map<std::string, std::vector<std::vector<Case>>> found;
  for (const Case& one : cases) {
    auto& groups = found[fmt::format("{} {} {}", one.ranks, one.topology(), static_cast<int>(one.transport))];
    if (groups.empty() || groups.back().size() == most) groups.emplace_back();
    groups.back().push_back(one);
  }
  std::vector<std::vector<Case>> all;
  for (auto& [name, groups] : found) std::ranges::move(groups, std::back_inserter(all));
  return all;
}

}  // namespace fabricmark::accl::covering
