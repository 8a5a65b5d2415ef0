#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/context.hpp"
#include "stencil/execution.hpp"

namespace fabricmark::stencil {

/// The entry point that makes steps.
constexpr std::size_t kAdvance = 0;

/// The buffer of one of its arguments, as kernel.toml plans it.
inline device::Buffer of_advance(const runtime::Context& context, const char* argument) {
  return std::move(context.buffers(kAdvance, argument).front());
}

/// Two states on a device, of which each launch reads one and writes the other, and what kernels say of
/// trouble.
class DeviceStates {
 public:
  explicit DeviceStates(const runtime::Context& context)
      : queue_(context.device().queue(/*profiling=*/context.timeline().enabled())),
        states_{of_advance(context, "state"), of_advance(context, "updated")},
        trouble_(of_advance(context, "trouble")),
        kernels_{context.replications(1), context.replications(1)} {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      kernels_[i].set(0, {{"state", states_[i]}, {"updated", states_[1 - i]}, {"trouble", trouble_}});
    }
  }

  [[nodiscard]] const device::Queue& queue() const { return queue_; }
  [[nodiscard]] device::Buffer& now() { return states_[current_]; }
  /// The kernel that begins from it.
  [[nodiscard]] device::Replications& kernel() { return kernels_[current_]; }
  /// Sets arguments of both.
  void set(const device::NamedArguments& values) {
    for (device::Replications& kernel : kernels_) kernel.set(0, values);
  }
  /// What follows begins with a state that `now` has; the other one gets what no run leaves.
  void begin(std::uint32_t offset) {
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    trouble_.write(queue_, &kNone, sizeof kNone);
    states_[1 - current_].poison(queue_);
    queue_.finish();
    offset_ = offset;
    launches_.clear();
  }
  /// To kernels, the number of a state.
  [[nodiscard]] std::uint64_t told(std::int64_t state) const {
    return static_cast<std::uint64_t>(state) + offset_;
  }
  /// A launch from one state to another was started.
  void launched(std::int64_t from, std::int64_t to) {
    state_ = to;
    launches_.push_back(from);
    current_ = 1 - current_;
  }
  /// As Execution has it.
  std::optional<std::int64_t> trouble() {
    std::int32_t told = 0;
    trouble_.read(queue_, &told, sizeof told);
    queue_.finish();
    if (told == std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    const std::int64_t found = told - static_cast<std::int64_t>(offset_);
    while (!launches_.empty() && launches_.back() >= found) back();
    if (!launches_.empty()) back();
    return found;
  }
  [[nodiscard]] std::int64_t state() const { return state_; }
  void set_state(std::int64_t state) { state_ = state; }

 private:
  void back() {
    state_ = launches_.back();
    launches_.pop_back();
    current_ = 1 - current_;
  }

  device::Queue queue_;
  std::array<device::Buffer, 2> states_;
  device::Buffer trouble_;
  std::array<device::Replications, 2> kernels_;
  std::size_t current_ = 0;
  std::uint32_t offset_ = 0;
  std::int64_t state_ = 0;
  std::vector<std::int64_t> launches_;  ///< what each began with
};

}  // namespace fabricmark::stencil
