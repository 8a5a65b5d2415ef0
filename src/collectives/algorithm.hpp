#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/costs.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"

namespace fabricmark::collectives {

/// Which ranks send each other messages.
enum class Reach : std::uint8_t {
  kAll,    ///< any two
  kRing,   ///< r and r + 1, the last and the first
  kTorus,  ///< neighbours in a row or a column
};

/// A way to do an operation: a part of the operation's file in operations/. Most are those of Thakur,
/// Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005).
struct Algorithm {
  Operation operation = Operation::kBarrier;  ///< that of its list, which `algorithms` fills in
  std::string_view name{};                    ///< among those of the operation
  Reach reach = Reach::kAll;
  /// Whether its program works for so many ranks, and is meant for so many bytes; what its reach asks for is
  /// not looked at. Null: always.
  bool (*is_meant_for)(const Problem& problem) = nullptr;
  /// Receive buffers that a rank has to have for messages that come at the same time, whether it receives
  /// them or not. Null: for one of all bytes.
  std::size_t (*buffers)(const CostModel& model) = nullptr;
  /// What each rank does, of two or more, with one element or more.
  void (*program)(Moves& moves, const Call& call) = nullptr;

  [[nodiscard]] bool fits(const Problem& problem) const;
  /// Receive buffers that a rank has to have where all begin at the same time.
  [[nodiscard]] std::size_t needed_buffers(const CostModel& model) const;
};

/// All, those of an operation in the order of their names.
[[nodiscard]] std::span<const Algorithm> algorithms();

/// Does the call of one rank: all ranks of `moves` make it with the same algorithm, operation, root, count,
/// reduction, type, shape and sizes. Throws Error (bad use) for operands that do not fit the operation, and
/// what the moves throw. Returns when the operands of this rank may be used.
void run(const Algorithm& algorithm, Moves& moves, const Call& call);

}  // namespace fabricmark::collectives
