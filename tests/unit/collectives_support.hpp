#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random_bits.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/elements.hpp"
#include "collectives/operation.hpp"
#include "collectives/reference.hpp"
#include "local_ranks.hpp"

/// Calls of all ranks in one process, and what came of them.
namespace fabricmark::collectives {

using test::LocalRanks;
using test::Sends;

inline constexpr std::byte kGuard{0x5C};

/// The memory of a rank: an operand between guards, on no element's boundary.
class Operand {
 public:
  Operand(std::size_t count, Type type)
      : count_(count), type_(type), bytes_(count * bytes_of(type) + 2 * kRoom, kGuard) {}
  [[nodiscard]] View view() { return {bytes_.data() + kRoom, count_, type_}; }
  [[nodiscard]] bool is_guarded() const {
    const auto is_guard = [](std::byte one) { return one == kGuard; };
    return std::all_of(bytes_.begin(), bytes_.begin() + kRoom, is_guard) &&
           std::all_of(bytes_.end() - kRoom, bytes_.end(), is_guard);
  }

 private:
  static constexpr std::ptrdiff_t kRoom = 9;
  std::size_t count_;
  Type type_;
  std::vector<std::byte> bytes_;
};

/// A call of all ranks.
struct Case {
  const Algorithm* algorithm = nullptr;
  int ranks = 1;
  Call call{};
  Type type = Type::kInt32;
  bool is_in_place = false;
  Inputs inputs{};
  LocalRanks::Settings settings{};

  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} of {} {} {} on {} ranks, root {}, {}{}", algorithm->name,
                       name_of(algorithm->operation), call.count, name_of(type), name_of(call.reduction),
                       ranks, call.root, is_in_place ? "in place, " : "",
                       settings.sends == Sends::kEager ? "eager" : "rendezvous");
  }
};

/// Where the smaller operand lies in the larger one, in place.
inline std::optional<int> place_in_larger(Operation operation, int rank, int root) {
  switch (operation) {
    case Operation::kScatter:
    case Operation::kGather:
      return rank == root ? std::optional(root) : std::nullopt;
    case Operation::kBroadcast:
    case Operation::kReduce:
      return rank == root ? std::optional(0) : std::nullopt;
    case Operation::kAllGather:
    case Operation::kReduceScatter:
      return rank;
    case Operation::kAllReduce:
    case Operation::kAllToAll:
      return 0;
    case Operation::kBarrier:
      break;
  }
  return std::nullopt;
}

/// One rank's operands, its call with them, and what was there before.
struct Local {
  Local(const Case& of, int rank)
      : own(own_count(of.call.operation, rank, of.call.root, of.ranks, of.call.count), of.type),
        result(result_count(of.call.operation, rank, of.call.root, of.ranks, of.call.count), of.type),
        call(of.call) {
    call.own = own.view();
    call.result = result.view();
    const auto place = place_in_larger(of.call.operation, rank, of.call.root);
    if (of.is_in_place && place) {
      const std::size_t first = static_cast<std::size_t>(*place) * call.count;
      if (call.own.count > call.result.count) {
        call.result = call.own.part(first, call.count);
      } else {
        call.own = call.result.part(first, call.own.count);
      }
      is_own_kept = false;
    }
    fill_input(of.inputs, rank, call.own);
    before.assign(call.own.data, call.own.data + call.own.bytes());
  }
  Operand own;
  Operand result;
  Call call;
  bool is_own_kept = true;
  std::vector<std::byte> before;
};

struct Outcome {
  std::vector<std::vector<std::byte>> results;  ///< by rank
  std::set<std::pair<int, int>> talked{};
  std::string wrong{};  ///< empty: all is as it has to be
};

/// Does the call on all ranks and compares all elements.
inline Outcome outcome_of(const Case& of) {
  LocalRanks::Settings settings = of.settings;
  settings.reduction = of.call.reduction;
  LocalRanks ranks(of.ranks, of.type, settings);
  std::vector<Local> locals;
  locals.reserve(static_cast<std::size_t>(of.ranks));
  for (int rank = 0; rank < of.ranks; ++rank) locals.emplace_back(of, rank);
  Outcome made;
  int entered = 0;
  try {
    ranks.run([&](Moves& moves) {
      ++entered;
      run(*of.algorithm, moves, locals[static_cast<std::size_t>(moves.rank())].call);
      if (of.call.operation == Operation::kBarrier && entered != of.ranks)
        throw std::logic_error("a rank has left the barrier before all had come");
    });
  } catch (const std::exception& error) {
    made.wrong = error.what();
    return made;
  }
  made.talked = ranks.talked();
  for (int rank = 0; rank < of.ranks; ++rank) {
    const Local& local = locals[static_cast<std::size_t>(rank)];
    const Comparison compared = compare(of.inputs, local.call, rank, of.ranks);
    if (compared.wrong != 0) {
      made.wrong = fmt::format("rank {} has {} wrong elements of {}, the worst number {}: {} for {}", rank,
                               compared.wrong, compared.checked, compared.worst_index, compared.actual,
                               compared.expected);
    }
    if (!local.own.is_guarded() || !local.result.is_guarded()) made.wrong = "written beyond an operand";
    if (local.is_own_kept && !std::equal(local.before.begin(), local.before.end(), local.call.own.data))
      made.wrong = fmt::format("rank {} has changed its own elements", rank);
    made.results.emplace_back(local.call.result.data, local.call.result.data + local.call.result.bytes());
  }
  return made;
}

/// As square as it goes, lying or upright.
inline Shape torus_of(int ranks, bool is_upright) {
  int rows = 1;
  for (int divisor = 1; divisor * divisor <= ranks; ++divisor) {
    if (ranks % divisor == 0) rows = divisor;
  }
  if (is_upright) rows = ranks / rows;
  return {Wiring::kTorus, rows, ranks / rows};
}

/// The wiring for which an algorithm was made.
inline Shape shape_for(const Algorithm& algorithm, int ranks, bool is_upright) {
  if (algorithm.reach == Reach::kTorus) return torus_of(ranks, is_upright);
  if (algorithm.reach == Reach::kRing) return {.wiring = Wiring::kRing, .only_neighbours_talk = true};
  return {};
}

inline bool are_neighbours(const Shape& shape, int ranks, int a, int b) {
  const auto next = [](int one, int other, int size) {
    return (one + 1) % size == other || (other + 1) % size == one;
  };
  if (shape.wiring == Wiring::kRing) return next(a, b, ranks);
  if (shape.wiring == Wiring::kAnyToAny) return true;
  const bool same_row = a / shape.columns == b / shape.columns;
  const bool same_column = a % shape.columns == b % shape.columns;
  return (same_row && next(a % shape.columns, b % shape.columns, shape.columns)) ||
         (same_column && next(a / shape.columns, b / shape.columns, shape.rows));
}

/// Calls `visit` with cases of all algorithms, ranks that they fit, counts, roots, in place or not; types,
/// reductions, sizes of segments and the rest go round so that each meets each.
template <typename Visit>
void with_cases(const std::vector<int>& all_ranks, const std::vector<std::size_t>& counts,
                const Visit& visit) {
  unsigned number = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const int ranks : all_ranks) {
      for (const std::size_t count : counts) {
        for (const int root : std::set{0, ranks / 2, ranks - 1}) {
          for (const bool is_in_place : {false, true}) {
            for (const Sends sends : {Sends::kEager, Sends::kRendezvous}) {
              const unsigned turn = ++number;
              const std::uint32_t drawn = mixed_bits_32(number);
              Case made{.algorithm = &algorithm, .ranks = ranks, .is_in_place = is_in_place};
              made.type = kTypes[turn % kTypes.size()];
              made.call = {.operation = algorithm.operation, .root = root, .count = count};
              made.call.reduction = kReductions[turn / 5 % kReductions.size()];
              made.call.shape = shape_for(algorithm, ranks, turn / 15 % 2 == 0);
              made.call.segment_bytes = std::vector<std::size_t>{0, 1, 512, 65536}[drawn % 4];
              made.call.fan = 1 + drawn / 4 % 4;
              made.call.buffers = std::vector<ReceiveBuffers>{{}, {1, 4096}, {16, 512}}[drawn / 16 % 3];
              made.settings.sends = sends;
              made.settings.order = number;
              const Problem problem{algorithm.operation, ranks, count * bytes_of(made.type), made.call.shape};
              if (algorithm.fits(problem)) visit(made);
            }
          }
        }
      }
    }
  }
}

}  // namespace fabricmark::collectives
