#pragma once

#include <string>

#include "base/interface.hpp"
#include "collectives/algorithm.hpp"
#include "collectives/costs.hpp"
#include "collectives/operation.hpp"
#include "collectives/replay/choice.hpp"

namespace fabricmark::collectives {

/// Where a rank makes collective calls: which of the ranks it is, how they are wired, and what moves take.
struct Place {
  int rank = 0;
  int ranks = 1;
  Shape shape{};
  ReceiveBuffers buffers{};
  Costs costs{};

  /// What does a call here, and why: the algorithm of that name, or the one that takes least. Throws as
  /// `choose`.
  [[nodiscard]] Choice chosen(const Call& call, const std::string& algorithm = {}) const;
};

/// Makes the collective calls of a rank at one place: between the memories of a transport, by kernels over
/// direct links, or by an engine of messages. All ranks make the same calls, in the same order.
class Caller : public Interface {
 public:
  /// Collective: what moves take may have to be measured.
  [[nodiscard]] virtual const Place& place() = 0;
  /// Operands lie in memory that the place reaches. Returns when this rank's result is there. Throws Error
  /// (bad use) for operands that do not fit the operation, and what the place throws.
  virtual void run(const Algorithm& algorithm, const Call& call) = 0;
  /// With the algorithm that takes least.
  void run(const Call& call) { run(*place().chosen(call).algorithm, call); }
};

}  // namespace fabricmark::collectives
