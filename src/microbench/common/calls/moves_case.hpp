#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "collectives/algorithm.hpp"
#include "collectives/moves.hpp"
#include "collectives/operation.hpp"
#include "collectives/reference.hpp"
#include "collectives/replay/caller.hpp"
#include "microbench/common/calls/options.hpp"

namespace fabricmark::microbench {

/// What one rank does for one size where an algorithm's moves are all there is: a collective, or the exchange
/// of a message between ranks 0 and 1.
class MovesCase {
 public:
  /// Throws Error (bad use) where no algorithm does it.
  MovesCase(const Options& options, std::size_t bytes, const collectives::Place& place);

  [[nodiscard]] const collectives::Algorithm& algorithm() const { return algorithm_; }
  /// Its operands have no memory before `allocate`, which is given elements and their type.
  [[nodiscard]] const collectives::Call& call() const { return call_; }
  void allocate(const std::function<collectives::View(std::size_t, collectives::Type)>& allocate);
  /// Inputs that no other repetition has; what nobody writes must not pass for a result.
  void prepare(int repetition);
  /// All elements of this rank; `with_fault` makes the last one wrong before.
  [[nodiscard]] collectives::Comparison check(int repetition, bool with_fault) const;
  /// Whether a result is expected on this rank.
  [[nodiscard]] bool has_result() const { return expected_.result.count > 0; }
  /// Empty for messages.
  [[nodiscard]] std::string name() const { return name_; }
  [[nodiscard]] std::string reason() const { return reason_; }

 private:
  int rank_;
  int ranks_;
  collectives::Algorithm algorithm_;
  collectives::Call call_;
  collectives::Call expected_;  // messages: as if they were a broadcast of the other rank
  bool is_of_messages_ = false;
  std::string name_;
  std::string reason_;
};

}  // namespace fabricmark::microbench
