#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/arguments.hpp"
#include "device/device.hpp"

namespace fabricmark::device {

/// One execution of a kernel by one replication, or what the host did in the meantime; seconds of the
/// device's clock.
struct KernelTimes : CommandTimes {
  std::string operation;
  std::string kernel;
  int repetition = 0;
  int replication = 0;
};

/// Collects the times of kernels while it is switched on.
class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Timeline(bool enabled) : enabled_(enabled) {}
  [[nodiscard]] bool enabled() const { return enabled_; }
  void start_repetition(int repetition) { repetition_ = repetition; }
  /// To be called right after the command was queued.
  void add(const std::string& operation, const std::string& kernel, int replication, const Event& event);
  /// What the host did meanwhile, by its own clock. Left out as long as no command was added, as nothing
  /// tells then what time the device had.
  void add_host_span(const std::string& operation, Clock::time_point begin, Clock::time_point end);
  /// Reads the times of all events added so far, or with `keep` false drops them; outside any timing.
  void collect(bool keep);
  [[nodiscard]] const std::vector<KernelTimes>& entries() const { return entries_; }

 private:
  struct Pending {
    KernelTimes times;
    Event event;
    double added = 0;  ///< by the host's clock
  };
  [[nodiscard]] KernelTimes named(const std::string& operation, const std::string& kernel,
                                  int replication) const;
  void collect_commands();
  void collect_host_spans();

  bool enabled_;
  int repetition_ = 0;
  std::vector<Pending> pending_;
  std::vector<KernelTimes> host_spans_;  ///< by the host's clock
  std::optional<double> host_ahead_;     ///< of the device's clock [s]
  std::vector<KernelTimes> entries_;
};

/// `count` replicas of a kernel that run at the same time, each on a queue of its own.
class Replications {
 public:
  /// Throws Error (bad use) where the program has no such kernel, or one with another number of arguments.
  Replications(const Device& device, const Program& program, const EntryPoint& entry, int count,
               Timeline& timeline);

  [[nodiscard]] int count() const { return static_cast<int>(kernels_.size()); }
  /// Sets arguments of one replication by their names; they stay until they are set again. Throws Error (bad
  /// use) for a number that the declared type does not hold, and std::logic_error for a name that is not
  /// declared or memory in place of a number.
  void set(int replication, NamedArguments values);
  [[nodiscard]] const Queue& queue(int replication) const {
    return queues_[static_cast<std::size_t>(replication)];
  }
  /// Starts every replication whose geometry is not empty and waits for all. `operation` names it in the
  /// timeline.
  void run(const std::string& operation, const std::vector<Geometry>& geometries);
  /// The same without waiting; what is started next begins after it. `finish` waits for all.
  void start(const std::string& operation, const std::vector<Geometry>& geometries);
  void finish();
  /// Starts one replication after the commands of `after` have ended; returns the event of its end at once.
  /// Those of one replication run one after the other.
  Event start(const std::string& operation, int replication, const Geometry& geometry,
              const Events& after = {});
  /// The same on a queue other than its own, without a flush; `after` and `done` may be null.
  void start_on(const Queue& queue, int replication, const Geometry& geometry, const Events* after,
                Event* done) const;
  /// From now on what is started follows what `other` has started, on its queue: cheaper than an event, and
  /// on NVIDIA's GPUs the only order that does not wait for kernels of third queues too. Of single replicas.
  void follow(const Replications& other) { queues_.front() = other.queues_.front(); }
  /// Calls `enqueue(replication)`, which queues copies, for all replications and waits for all.
  void transfer(const std::function<void(int)>& enqueue);

 private:
  void set_one(backend::Kernel& kernel, unsigned index, const Argument& argument,
               const ArgumentValue& value) const;
  EntryPoint entry_;
  const char* name_;  ///< its name, for as long as the process lives
  std::vector<std::unique_ptr<backend::Kernel>> kernels_;
  std::vector<Queue> queues_;
  Timeline& timeline_;
};

/// One kernel of a group, with its replica.
struct GroupMember {
  Replications* kernels = nullptr;
  int replica = 0;
  Geometry geometry{};
};

/// Starts kernels that wait for each other, as those that talk over channels do, and so have to run at the
/// same time; returns the events of their ends. Throws Error (bad use) where the device does not promise
/// that, and std::logic_error for a replica that is there twice.
Events start_group(const DeviceInfo& info, const std::string& operation,
                   const std::vector<GroupMember>& members, const Events& after = {});

}  // namespace fabricmark::device
