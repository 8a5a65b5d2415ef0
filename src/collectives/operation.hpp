#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/collective_operation.hpp"
#include "collectives/moves.hpp"

namespace fabricmark::collectives {

inline constexpr std::array kOperations{
    Operation::kBroadcast,     Operation::kScatter,  Operation::kGather,
    Operation::kAllGather,     Operation::kReduce,   Operation::kAllReduce,
    Operation::kReduceScatter, Operation::kAllToAll, Operation::kBarrier};

/// "broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all",
/// "barrier".
[[nodiscard]] std::string_view name_of(Operation operation);
/// Throws Error (bad use) with the names that there are.
Operation operation_named(const std::string& name);
/// Broadcast, scatter, gather and reduce.
[[nodiscard]] bool has_root(Operation operation);
/// Reduce, all_reduce and reduce_scatter.
[[nodiscard]] bool reduces(Operation operation);

enum class Wiring : std::uint8_t {
  kAnyToAny,  ///< a switch or a full mesh: all ways are alike
  kRing,      ///< rank r has cables to r - 1 and r + 1
  kTorus,     ///< rank r is in row r / columns; cables to both neighbours in its row and in its column
};

/// How the ranks of a call are wired.
struct Shape {
  Wiring wiring = Wiring::kAnyToAny;
  int rows = 1;     ///< of a torus
  int columns = 1;  ///< of a torus
  /// Circuits: who has no cable to a rank cannot send to it. Otherwise devices in between pass messages on.
  bool only_neighbours_talk = false;
  auto operator<=>(const Shape&) const = default;
};

/// Memory of a rank for messages that come before they are received.
struct ReceiveBuffers {
  std::size_t count = std::numeric_limits<std::size_t>::max();
  std::size_t bytes =
      std::numeric_limits<std::size_t>::max();  ///< of each; a message takes as many as it needs
  /// Longer messages wait for their receiver, and need none.
  std::size_t longest = std::numeric_limits<std::size_t>::max();

  auto operator<=>(const ReceiveBuffers&) const = default;
  /// That so many messages of so many bytes need.
  [[nodiscard]] std::size_t needed(std::size_t messages, std::size_t message_bytes) const {
    if (message_bytes > longest) return 0;
    return messages * std::max<std::size_t>(1, message_bytes / bytes + (message_bytes % bytes != 0 ? 1 : 0));
  }
};

/// What one rank of a collective operation has. With `count` elements a rank and n ranks:
///
///   operation       own                       result               in place (own, result overlap only so)
///   broadcast       root: count               count                root: own is result
///   scatter         root: n * count           count                root: result is part `root` of own
///   gather          count                     root: n * count      root: own is part `root` of result
///   all_gather      count                     n * count            own is part `rank` of result
///   reduce          count                     root: count          root: own is result
///   all_reduce      count                     count                own is result
///   reduce_scatter  n * count                 count                result is any part of own
///   all_to_all      n * count                 n * count            own is result
///   barrier         -                         -                    -
///
/// Part p of a view are the `count` elements from p * count on: what goes to, or comes from, rank p. Where
/// nothing stands a rank has no such operand, and what is there is not looked at. Nothing of `own` is changed
/// but where `result` lies.
struct Call {
  Operation operation = Operation::kBarrier;
  int root = 0;
  std::size_t count = 0;
  Reduction reduction = Reduction::kSum;
  View own{};
  View result{};
  Shape shape{};
  /// Algorithms that pass on what they have while the rest is on its way do so in pieces of so many bytes; 0:
  /// as a whole.
  std::size_t segment_bytes = std::size_t{64} * 1024;
  /// The most messages that a root has in flight at a time.
  std::size_t fan = 4;
  /// Of each rank. Who passes on pieces sends no more than fit there, however late they are received.
  ReceiveBuffers buffers{};
};

/// Elements of the operands of a rank; 0 where it has none.
[[nodiscard]] std::size_t own_count(Operation operation, int rank, int root, int ranks, std::size_t count);
[[nodiscard]] std::size_t result_count(Operation operation, int rank, int root, int ranks, std::size_t count);

/// Of the elements that move: of whichever operand this rank has.
[[nodiscard]] Type type_of(const Call& call, int rank, int ranks);

/// Throws Error (bad use) for a root that is no rank, and operands of another size or type than said above.
void check(const Call& call, int rank, int ranks);

/// Bytes whose quotient by the time of the call can be compared with the rate of one link in one direction,
/// whatever the operation: the "bus bandwidth" of NVIDIA's nccl-tests (doc/PERFORMANCE.md). `bytes`: those of
/// `count` elements. 0 for a barrier.
[[nodiscard]] double bus_bytes(Operation operation, int ranks, std::size_t bytes);

}  // namespace fabricmark::collectives
