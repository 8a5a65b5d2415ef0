#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "fabric/dataflow/worker.hpp"
#include "fabric/time.hpp"

namespace fabricmark::engine {

/// What a device does later, at its modelled time.
class Timers final : public dataflow::Decision {
 public:
  Timers(dataflow::Worker& worker, int device) : worker_(worker), device_(device) {}

  void at(fabric::Time time, std::function<void(fabric::Time)> what) {
    const std::uint64_t number = number_++;
    due_.emplace(std::pair(time, number), std::move(what));
    worker_.decide_at({time, device_, dataflow::kFirstEnding - 1, number}, *this);
  }
  void decide(fabric::Time /*now*/) override {
    auto first = due_.extract(due_.begin());
    first.mapped()(first.key().first);
  }

 private:
  dataflow::Worker& worker_;
  int device_;
  std::uint64_t number_ = 0;
  std::map<std::pair<fabric::Time, std::uint64_t>, std::function<void(fabric::Time)>> due_;
};

}  // namespace fabricmark::engine
