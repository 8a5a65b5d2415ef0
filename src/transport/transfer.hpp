#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/event.hpp"
#include "transport/memory.hpp"

namespace fabricmark::transport {

class Transfers;

/// Messages in flight, as the state of an event. They move on when somebody looks at the event, or waits for
/// one of their transport, and nowhere else. Errors of `has_ended` and `wait`: Error (environment) that names
/// the rank and the message that did not arrive in time, PeerFailure when another rank has failed.
class Transfer : public device::Event::State {
 public:
  /// Begins anew, once these have ended. Only when nothing is in progress.
  void start(std::span<const Message> sends, std::span<const Message> receives, const device::Events& after,
             bool is_timed);
  [[nodiscard]] bool has_ended() final;
  void wait() final;
  /// Messages that have not left or arrived never will.
  bool cancel() final;
  [[nodiscard]] device::CommandTimes times() final { return times_; }
  /// A moment's wait where it is in progress; throws when the time is over.
  void rest() {
    if (stage_ == Stage::kInFlight) idle();
  }

 protected:
  [[nodiscard]] std::span<const Message> sends() const { return sends_; }
  [[nodiscard]] std::span<const Message> receives() const { return receives_; }
  /// Starts what can be started. The messages stay until the end.
  virtual void begin() = 0;
  /// Does what can be done without waiting for others; true when all have left and arrived.
  [[nodiscard]] virtual bool advance() = 0;
  /// Nothing has moved: waits a moment. Throws when the time is over.
  virtual void idle() = 0;
  /// Gives up what is in progress, for another start.
  virtual void give_up() noexcept = 0;

 private:
  friend class Transfers;
  enum class Stage { kBefore, kInFlight, kEnded };
  void stamp(double& moment) const;

  Transfers* others_ = nullptr;  // of the transport, this one among them
  Stage stage_ = Stage::kEnded;
  std::vector<Message> sends_, receives_;
  device::Events after_;
  bool is_timed_ = false;
  device::CommandTimes times_;
};

/// The transfers of a transport, which outlives their events. One that has ended, and that nobody looks at
/// any more, is used again, so that starting one allocates nothing.
class Transfers {
 public:
  /// `make` makes another one where all of this kind are in use.
  template <typename Kind, typename Make>
  std::shared_ptr<Kind> free(Make&& make) {
    static constexpr char kKind = 0;  // its address tells one kind from another
    for (const auto& [transfer, kind] : all_) {
      if (kind == &kKind && transfer.use_count() == 1) return std::static_pointer_cast<Kind>(transfer);
    }
    std::shared_ptr<Kind> made = make();
    made->others_ = this;
    all_.emplace_back(made, &kKind);
    return made;
  }
  /// Moves all on that are in progress: who waits for one transfer may be waited for in another.
  void look() {
    for (const auto& [transfer, kind] : all_) {
      if (transfer.use_count() > 1) static_cast<void>(transfer->has_ended());
    }
  }
  [[nodiscard]] std::size_t size() const { return all_.size(); }

 private:
  std::vector<std::pair<std::shared_ptr<Transfer>, const char*>> all_;
};

}  // namespace fabricmark::transport
