#pragma once

#include <memory>
#include <string>
#include <utility>

#include "network/time.hpp"
#include "runtime/activity.hpp"

namespace fabricmark::dataflow {

using network::Time;

/// Tells a log what one kernel does: it waits, and computes in between. A log counts femtoseconds, as the
/// fabric does. Used by one thread at a time.
class Trace {
 public:
  using Line = runtime::ActivityLog::Line;

  Trace(std::shared_ptr<runtime::ActivityLog> log, int device, std::string lane, Time start);

  /// What the kernel waits for in a line of its own.
  [[nodiscard]] Line line(runtime::ActivityKind kind, const std::string& what, const std::string& whom) const;
  /// The words of a link that it writes.
  [[nodiscard]] Line wire(const std::string& link) const;
  /// It computed, and from `from` on waited. Times grow from call to call.
  void waited(Line line, Time from, Time to) {
    log_->add(computed_, told_, from);
    log_->add(line, from, to);
    told_ = to;
  }
  /// The same, and from `from` on had nothing to do, which is told nowhere.
  void idled(Time from, Time to) {
    log_->add(computed_, told_, from);
    told_ = to;
  }
  void carried(Line wire, Time from, Time to) { log_->add(wire, from, to); }
  /// It computed until `computed`, and waited for its memory until `to`.
  void ended(Time computed, Time to);
  [[nodiscard]] const std::string& lane() const { return lane_; }

 private:
  std::shared_ptr<runtime::ActivityLog> log_;
  int device_;
  std::string lane_;
  Line computed_;
  Time told_;  // so far
};

}  // namespace fabricmark::dataflow
