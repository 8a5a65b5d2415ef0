#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/algorithm.hpp"
#include "collectives/operation.hpp"

namespace fabricmark::collectives {

/// What of an operand there is on which rank.
enum class Has : std::uint8_t { kNothing, kCount, kCountOnRoot, kAll, kAllOnRoot };

/// Of whose input, and of which of its elements, a result's element is made.
struct Origin {
  int rank = 0;  ///< where nothing is reduced
  std::size_t index = 0;
};

/// All of an operation, as its file in operations/ says it.
struct OperationKind {
  std::string_view name;
  Has own = Has::kNothing;
  Has result = Has::kNothing;
  bool reduces = false;
  /// See collectives::bus_bytes; `of_one`: bytes of `count` elements.
  double (*bus_bytes)(double of_one, int ranks) = nullptr;
  /// Of element `index` of a rank's result.
  Origin (*origin)(const Call& call, int rank, std::size_t index) = nullptr;
  std::span<const Algorithm> algorithms{};  ///< in the order of their names
};

[[nodiscard]] const OperationKind& kind_of(Operation operation);

/// Each in its file in operations/.
namespace kinds {
extern const OperationKind broadcast, scatter, gather, all_gather, reduce, all_reduce, reduce_scatter,
    all_to_all, barrier;
}

/// What several operations have for `bus_bytes`: all are passed on once, or those of all other ranks are.
inline double bytes_once(double of_one, int /*ranks*/) { return of_one; }
inline double bytes_of_others(double of_one, int ranks) { return of_one * (ranks - 1); }
/// And for `origin`: the same element of all ranks, or the parts of all ranks in turn.
inline Origin of_all(const Call& /*call*/, int /*rank*/, std::size_t index) { return {0, index}; }
inline Origin in_turn(const Call& call, int /*rank*/, std::size_t index) {
  return {static_cast<int>(index / call.count), index % call.count};
}

}  // namespace fabricmark::collectives
