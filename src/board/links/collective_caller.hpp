#pragma once

#include "base/interface.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"
#include "collectives/replay/choice.hpp"

namespace fabricmark::board {

/// Makes collective calls of all boards: their engines of messages do, or kernels over their direct links.
/// Calls are made within Board::run, by all ranks in the same order; its end is theirs, and it throws for
/// those that failed.
class CollectiveCaller : public Interface {
 public:
  /// All elements have this type: what they mean is the benchmark's matter.
  static constexpr collectives::Type kType = collectives::Type::kInt32;

  /// Starts this rank's part. Operands are memory that stays as long as this.
  virtual void call(const collectives::Call& call) = 0;
  /// What does it there, and why. Throws Error (bad use) where nothing does.
  [[nodiscard]] virtual collectives::Choice chosen(const collectives::Call& call) const = 0;
};

}  // namespace fabricmark::board
