#pragma once

#include <memory>
#include <utility>

#include "base/watchdog.hpp"
#include "device/backend.hpp"

namespace fabricmark::device {

/// Commands to a device, which run in order, but for those of Device::unordered_queue. Copies share it; one
/// made without a device has no commands.
class Queue {
 public:
  Queue() = default;
  explicit Queue(std::shared_ptr<backend::Queue> queue) : queue_(std::move(queue)) {}
  /// Lets the device begin.
  void flush() const { queue_->flush(); }
  /// Waits until all commands have ended, or gives up (base/watchdog.hpp).
  void finish() const {
    const Watched watched(Awaiting::kDevice);
    queue_->finish();
  }
  /// What is queued from here on begins after these have ended.
  void begin_after(const Events& events) const { queue_->begin_after(events); }
  [[nodiscard]] backend::Queue& implementation() const { return *queue_; }

 private:
  std::shared_ptr<backend::Queue> queue_;
};

}  // namespace fabricmark::device
