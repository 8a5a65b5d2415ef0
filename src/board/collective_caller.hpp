#pragma once

#include <memory>
#include <string>

#include "base/interface.hpp"
#include "board/board.hpp"
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

/// Collective. `board` has to stay as long. Throws Error (bad use) for streaming, as operands of calls are in
/// memory, and for links that are wired in a way that no algorithm knows.
std::unique_ptr<CollectiveCaller> make_collective_caller(Board& board);

}  // namespace fabricmark::board
