#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/modelled_time.hpp"
#include "runtime/activity.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// What takes time on the simulated clock of a rank in its timed regions, one part after the other: the clock
/// begins each at zero, the timeline where the slowest rank ended the one before.
class ModelledTimeline final : public ClockWitness {
 public:
  explicit ModelledTimeline(const Communicator& ranks);

  void took(CostKind kind, const std::string& lane, const std::string& what, double from, double to) override;
  /// Of the part in progress what another log has of it, whose time `begin` is that of `seconds` on the
  /// simulated clock. What was before is left out.
  void add(ActivityLog::Part part, modelled::Time begin, double seconds);
  void end_part(const std::string& name, double slowest_seconds);
  /// Collective: that of all ranks, on the root; null on others.
  [[nodiscard]] std::shared_ptr<const ActivityLog> gathered(Communicator& ranks) const;

 private:
  int rank_;
  ActivityLog log_;
  modelled::Time offset_ = 0;  // of the part in progress
};

}  // namespace fabricmark::runtime
