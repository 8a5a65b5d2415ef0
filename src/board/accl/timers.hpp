#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "board/dataflow/worker.hpp"
#include "network/time.hpp"

namespace fabricmark::accl {

/// What a device does later, at its modelled time.
class Timers final : public dataflow::Decision {
 public:
  using What = std::function<void(network::Time)>;
  /// Of what may be cancelled.
  using Alarm = dataflow::Due;

  Timers(dataflow::Worker& worker, int device) : worker_(worker), device_(device) {}

  void at(network::Time time, What what) {
    const std::uint64_t number = number_++;
    due_.emplace(std::pair(time, number), std::move(what));
    worker_.decide_at({time, device_, dataflow::kFirstEnding - 1, number}, *this);
  }
  /// The same for what will mostly be cancelled.
  Alarm alarm_at(network::Time time, What what) {
    const Alarm alarm{time, device_, dataflow::kFirstEnding - 1, number_++};
    alarms_.due.emplace(alarm, std::move(what));
    worker_.alarm_at(alarm, alarms_);
    return alarm;
  }
  /// Nothing happens where it is past.
  void cancel(const Alarm& alarm) {
    worker_.cancel_alarm(alarm);
    alarms_.due.erase(alarm);
  }
  void decide(network::Time /*now*/) override {
    auto first = due_.extract(due_.begin());
    first.mapped()(first.key().first);
  }

 private:
  struct Alarms final : dataflow::Decision {
    void decide(network::Time now) override {
      auto first = due.extract(due.begin());
      first.mapped()(now);
    }
    std::map<Alarm, What> due;
  };

  dataflow::Worker& worker_;
  int device_;
  std::uint64_t number_ = 0;
  std::map<std::pair<network::Time, std::uint64_t>, What> due_;
  Alarms alarms_;
};

}  // namespace fabricmark::accl
