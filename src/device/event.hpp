#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace fabricmark::device {

/// When a command was queued, submitted to the device, started and ended [s], by the device's clock.
struct CommandTimes {
  double queued = 0;
  double submitted = 0;
  double started = 0;
  double ended = 0;
};

/// The end of a command on a device: of a kernel or a copy. An event of no command has ended. Copies share
/// it.
class Event {
 public:
  /// What a runtime keeps of a command.
  class State {
   public:
    virtual ~State() = default;
    State() = default;
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    [[nodiscard]] virtual bool has_ended() const = 0;
    virtual void wait() const = 0;
    [[nodiscard]] virtual CommandTimes times() const = 0;
  };

  Event() = default;
  explicit Event(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Does not wait. Throws Error (environment) when the command failed.
  [[nodiscard]] bool has_ended() const { return !state_ || state_->has_ended(); }
  void wait() const {
    if (state_) state_->wait();
  }
  /// Of a command that has ended, on a queue with profiling.
  [[nodiscard]] CommandTimes times() const { return state_ ? state_->times() : CommandTimes{}; }
  /// Null for an event of no command.
  [[nodiscard]] const State* state() const { return state_.get(); }

 private:
  std::shared_ptr<const State> state_;
};

using Events = std::vector<Event>;

}  // namespace fabricmark::device
