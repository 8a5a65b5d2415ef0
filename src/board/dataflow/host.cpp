#include "board/dataflow/host.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::dataflow {

/// A kernel as its host sees it.
class Host::Running final : public device::Event::State {
 public:
  Running(Host& host, std::shared_ptr<const Outcome> outcome, Time queued)
      : host_(host), outcome_(std::move(outcome)), queued_(queued) {}
  bool has_ended() override { return host_.fabric_->has_ended(*outcome_); }
  void wait() override {
    host_.fabric_->barrier_.wait([this] { return outcome_->has_ended; });
    host_.now_ = std::max(host_.now_, outcome_->ended);
    if (outcome_->failure) std::rethrow_exception(outcome_->failure);
  }
  device::CommandTimes times() override {
    const double started = network::seconds(outcome_->started);
    return {network::seconds(queued_), network::seconds(queued_), started, network::seconds(outcome_->ended)};
  }
  [[nodiscard]] const std::shared_ptr<const Outcome>& outcome() const { return outcome_; }
  /// Of what has ended.
  [[nodiscard]] Span span() const { return {outcome_->started, outcome_->ended}; }

 private:
  Host& host_;
  std::shared_ptr<const Outcome> outcome_;
  Time queued_;
};

/// While the host waits for another rank.
class Host::Passing final : public runtime::Pastime {
 public:
  explicit Passing(Host& host) : host_(host) {}
  void pass() override {
    Fabric& fabric = *host_.fabric_;
    if (fabric.peers_) fabric.peers_->pass(host_.ranks_->take_awaited());
    fabric.barrier_.pass(host_.device_);
  }
  void stop() noexcept override {
    Fabric& fabric = *host_.fabric_;
    if (fabric.peers_) fabric.peers_->pass(std::nullopt);
    fabric.barrier_.stop_passing(host_.device_);
  }

 private:
  Host& host_;
};

Host::Host(std::shared_ptr<Fabric> fabric, int device, const DeviceCost& cost, runtime::Communicator* ranks)
    : fabric_(std::move(fabric)), device_(device), cost_(cost), ranks_(ranks) {
  if (ranks_ == nullptr) return;
  passing_ = std::make_unique<Passing>(*this);
  ranks_->set_pastime(passing_.get());
}

Host::~Host() {
  if (ranks_ != nullptr) ranks_->set_pastime(nullptr);
  fabric_->barrier_.leave(device_, std::uncaught_exceptions() > exceptions_);
}

device::Event Host::start_kernel(const std::string& name, const Start& how,
                                 std::vector<std::shared_ptr<Channel>> streams,
                                 std::function<void()> kernel) {
  Fabric::Begin begin{.at = network::later(now_, network::from_seconds(cost_.launch_seconds)),
                      .is_long = how.is_long};
  if (const auto& log = fabric_->settings().log) {
    log->add({device_, "host", now_, begin.at, runtime::ActivityKind::kLaunch, name, ""});
  }
  for (const device::Event& event : how.after) {
    auto* const other = dynamic_cast<Running*>(event.state());
    if (other != nullptr) {
      begin.after.push_back(other->outcome());
    } else {
      event.wait();
    }
  }
  const double memory = cost_.memory_seconds(how.memory_bytes);
  auto outcome = fabric_->start(device_, name, std::move(begin),
                                {cost_.clock_hz, how.interval, how.depth, memory, how.stands_still},
                                std::move(streams), std::move(kernel));
  started_.push_back(std::make_shared<Running>(*this, std::move(outcome), now_));
  return device::Event(started_.back());
}

void Host::finish() {
  finished_.reset();
  for (const auto& running : std::exchange(started_, {})) {
    running->wait();
    const Span own = running->span();
    if (!finished_) finished_ = own;
    finished_ = {std::min(finished_->first_start, own.first_start),
                 std::max(finished_->last_end, own.last_end)};
  }
  fabric_->finish();
  fabric_->check_leftovers(device_);
}

}  // namespace fabricmark::dataflow
