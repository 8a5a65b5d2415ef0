#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "board/dataflow/fabric.hpp"
#include "device/event.hpp"

namespace fabricmark::dataflow {

/// What a device costs, from its system file.
struct DeviceCost {
  double clock_hz = 0;                 ///< of the kernels
  double launch_seconds = 0;           ///< from the host's start to the kernel's
  double memory_bytes_per_second = 0;  ///< of all banks; 0: never waited for

  [[nodiscard]] double memory_seconds(double bytes) const {
    return memory_bytes_per_second > 0 ? bytes / memory_bytes_per_second : 0;
  }
};

/// What a kernel's entry declares of its cost, and what it waits for.
struct Start {
  double interval = 1;        ///< initiation interval of its loop [cycles]
  double depth = 0;           ///< of its pipeline [cycles]
  bool stands_still = false;  ///< its pipeline, while it waits for a word (KernelCost)
  double memory_bytes = 0;    ///< that it moves from and to the device's memory
  device::Events after{};     ///< events of this host's kernels
  /// Computes for long, and uses no streams: it runs once no other kernel can, and beside others of its kind
  /// (FabricSettings::threads). Modelled time does not depend on it.
  bool is_long = false;
};

/// From the first start of kernels to the last end, in modelled time.
struct Span {
  Time first_start = 0;
  Time last_end = 0;
};

/// The host's side of one device: one thread starts its kernels and waits for them, at a clock of its own.
class Host {
 public:
  /// `ranks`: those for which this host may wait, too: kernels run meanwhile.
  Host(std::shared_ptr<Fabric> fabric, int device, const DeviceCost& cost,
       runtime::Communicator* ranks = nullptr);
  /// The others go on without it.
  ~Host();

  /// Starts `function(arguments...)` as a kernel after the launch latency. Returns at once; the kernel runs
  /// while hosts wait. Streams are passed by reference, all else is copied.
  template <typename Function, typename... Arguments>
  device::Event start(const std::string& name, const Start& how, Function function,
                      Arguments&&... arguments) {
    std::vector<std::shared_ptr<Channel>> streams;
    (note(streams, arguments), ...);
    return start_kernel(
        name, how, std::move(streams),
        [function = std::move(function), held = std::tuple<Held<Arguments>...>(std::forward<Arguments>(
                                             arguments)...)]() mutable { std::apply(function, held); });
  }
  template <typename T>
  Link<T> open(int port) {
    return fabric_->open<T>({device_, port});
  }
  /// Until all of its kernels have ended, and those of all other hosts, which do the same. Throws what they
  /// throw, and Error (1) for a deadlock and for words left over.
  void finish();
  /// Of the kernels that the last `finish` waited for, which leaves out what their starts took; empty where
  /// there were none.
  [[nodiscard]] const std::optional<Span>& finished() const { return finished_; }
  /// Modelled time of this host: it grows when it waits.
  [[nodiscard]] Time now() const { return now_; }
  /// Lets time pass: until others may have told it something, say.
  void pass_until(Time time) { now_ = std::max(now_, time); }
  /// After a wait with a time-out that passed: what has ended later has not been seen.
  void set_back(Time until) { now_ = until; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const DeviceCost& cost() const { return cost_; }

 private:
  class Running;
  class Passing;
  template <typename Argument>
  using Held = std::conditional_t<std::is_base_of_v<AnyStream, std::decay_t<Argument>>, Argument&,
                                  std::decay_t<Argument>>;
  template <typename Argument>
  static void note(std::vector<std::shared_ptr<Channel>>& streams, Argument& argument) {
    if constexpr (std::is_base_of_v<AnyStream, std::decay_t<Argument>>) {
      streams.push_back(static_cast<const AnyStream&>(argument).shared());
    }
  }
  device::Event start_kernel(const std::string& name, const Start& how,
                             std::vector<std::shared_ptr<Channel>> streams, std::function<void()> kernel);

  std::shared_ptr<Fabric> fabric_;
  int device_;
  DeviceCost cost_;
  Time now_ = 0;
  std::vector<std::shared_ptr<Running>> started_;
  std::optional<Span> finished_;
  int exceptions_ = std::uncaught_exceptions();  // when it was made
  runtime::Communicator* ranks_;
  std::unique_ptr<runtime::Pastime> passing_;
};

}  // namespace fabricmark::dataflow
