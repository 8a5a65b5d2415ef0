#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/interface.hpp"

namespace fabricmark::device {

/// When a command was queued, submitted, started and ended [s]: of a device's by the device's clock, of a
/// transfer by the host's.
struct CommandTimes {
  double queued = 0;
  double submitted = 0;
  double started = 0;
  double ended = 0;
};

/// The end of what was started: of a kernel, a copy, a transfer between ranks or a collective of them. An
/// event of nothing has ended. Copies share it. Transfers move on in `has_ended` and `wait` of any event of
/// them, and nowhere else.
class Event {
 public:
  /// What a runtime or a transport keeps of it.
  class State : public Interface {
   public:
    [[nodiscard]] virtual bool has_ended() = 0;
    virtual void wait() = 0;
    virtual bool cancel() { return false; }
    [[nodiscard]] virtual CommandTimes times() = 0;
    /// When it ends on the simulated clock of its rank, where that is known; zero where nothing is simulated.
    [[nodiscard]] virtual double modelled_end() const { return 0; }
  };

  Event() = default;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  /// Does not wait. Throws Error (environment) when it failed, PeerFailure when another rank has.
  [[nodiscard]] bool has_ended() const { return !state_ || state_->has_ended(); }
  void wait() const {
    if (state_) state_->wait();
  }
  /// Gives it up where it can be withdrawn, as messages can; false for a kernel or a copy, which runs on.
  /// What was given up has ended.
  bool cancel() const { return !state_ || state_->cancel(); }
  /// Of what has ended, on a queue or a transport with profiling.
  [[nodiscard]] CommandTimes times() const { return state_ ? state_->times() : CommandTimes{}; }
  /// See State.
  [[nodiscard]] double modelled_end() const { return state_ ? state_->modelled_end() : 0; }
  /// Null for an event of nothing.
  [[nodiscard]] State* state() const { return state_.get(); }

 private:
  std::shared_ptr<State> state_;
};

using Events = std::vector<Event>;

}  // namespace fabricmark::device
