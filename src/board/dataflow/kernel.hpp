#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "board/dataflow/fiber.hpp"
#include "board/dataflow/trace.hpp"
#include "network/time.hpp"

namespace fabricmark::dataflow {

using network::Time;

class Channel;
class Worker;

/// What a kernel's loop costs in modelled time, as its entry declares it. One word goes through each port of
/// a pipelined loop every `interval` cycles, and leaves it `depth` cycles after the words that it is made of
/// came in. The trip count is that of the words that really pass.
struct KernelCost {
  double clock_hz = 0;
  double interval = 1;        ///< initiation interval [cycles]
  double depth = 0;           ///< of the pipeline [cycles]
  double memory_seconds = 0;  ///< the device's memory takes so long for what the kernel moves, at least
  /// Its pipeline moves on only when a word comes in, until its loop ends (`end_loop`), as in Vitis HLS with
  /// `style=stp`. Otherwise words in it move on while the next one is waited for.
  bool stands_still = false;
};

/// One kernel in progress: its fiber and its logical clock.
class Kernel {
 public:
  enum class Waits {
    kNot,         ///< runs, or is ready to
    kForWord,     ///< of `waits_on`
    kForSpace,    ///< in `waits_on`
    kForTime,     ///< until all that happens before its clock is known
    kForRanks,    ///< a host, for other ranks
    kForMessage,  ///< of another device
  };
  /// `number`: of the kernels of its device, in the order of their starts.
  Kernel(std::string name, int device, int number, Time start, const KernelCost& cost, Worker& worker,
         Stacks& stacks, std::function<void()> body);

  /// Where it is in modelled time; it only grows.
  Time clock;
  const Time cycle;         ///< of its clock
  const Time interval;      ///< between two words of one port
  const Time depth;         ///< from a word in to a word out
  const bool stands_still;  ///< its pipeline, while it waits for a word

  [[nodiscard]] std::size_t words_in_pipeline() const {
    return static_cast<std::size_t>((depth + interval - 1) / interval);
  }

  /// Stops until somebody makes it ready.
  void wait(Waits what, Channel* on);
  /// Its clock moves on to when a message was there; `what`: the message, for who asks what it waited for.
  void wait_until(Time message, const std::string& what);
  /// The same to when it got something to do.
  void idle_until(Time work);
  /// By its channels: keeps them until it has ended.
  void use(std::shared_ptr<Channel> channel) { channels_.push_back(std::move(channel)); }
  [[nodiscard]] const std::vector<std::shared_ptr<Channel>>& channels() const { return channels_; }
  /// The streams among its arguments, whether it has used them or not.
  void hold(std::vector<std::shared_ptr<Channel>> streams) { held_ = std::move(streams); }
  [[nodiscard]] const std::vector<std::shared_ptr<Channel>>& held() const { return held_; }
  /// Before it runs: what it does is to be told there, in a lane of this name.
  void tell(std::shared_ptr<runtime::ActivityLog> log, const std::string& lane);
  /// Null where nobody is to be told.
  [[nodiscard]] Trace* trace() const { return trace_.get(); }
  /// By its fabric, once it has ended.
  void tell_end();
  /// By its worker: until it waits or ends.
  void resume();
  void cancel();

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] Worker& worker() const { return *worker_; }
  [[nodiscard]] Waits waits() const { return waits_; }
  [[nodiscard]] Channel* waits_on() const { return waits_on_; }
  [[nodiscard]] bool has_ended() const { return fiber_.has_ended(); }
  [[nodiscard]] Time started() const { return started_; }
  /// When its last word has left its pipeline, or later where its memory takes longer.
  [[nodiscard]] Time ended() const;
  [[nodiscard]] std::exception_ptr failure() const { return failure_; }

 private:
  std::string name_;
  int device_;
  int number_;
  Time started_;
  Time memory_time_;
  Worker* worker_;
  Waits waits_ = Waits::kNot;
  Channel* waits_on_ = nullptr;
  std::vector<std::shared_ptr<Channel>> channels_;
  std::vector<std::shared_ptr<Channel>> held_;
  std::exception_ptr failure_;
  std::unique_ptr<Trace> trace_;
  Fiber fiber_;  // the last: its body uses the others
};

/// The kernel that runs in this thread. Throws Error (bad use) outside of kernels.
Kernel& current_kernel();
/// Null outside of kernels.
Kernel* kernel_here();

/// What a loop without streams takes: the clock of the kernel that calls it moves on by so many cycles.
void spend_cycles(std::int64_t cycles);
/// The pipelined loop of the kernel that calls it has ended: what is in the pipeline leaves it.
void end_loop();

}  // namespace fabricmark::dataflow
