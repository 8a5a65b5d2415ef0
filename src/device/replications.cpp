#include "device/replications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/replicas.hpp"

namespace fabricmark::device {

namespace {

double seconds(Timeline::Clock::time_point moment) {
  return std::chrono::duration<double>(moment.time_since_epoch()).count();
}

}  // namespace

KernelTimes Timeline::named(const std::string& operation, const std::string& kernel, int replication) const {
  KernelTimes times;
  times.operation = operation;
  times.kernel = kernel;
  times.repetition = repetition_;
  times.replication = replication;
  return times;
}

void Timeline::add(const std::string& operation, const std::string& kernel, int replication,
                   const Event& event) {
  pending_.push_back({named(operation, kernel, replication), event, seconds(Clock::now())});
}

void Timeline::add_host_span(const std::string& operation, Clock::time_point begin, Clock::time_point end) {
  KernelTimes times = named(operation, "host", 0);
  times.queued = times.submitted = times.started = seconds(begin);
  times.ended = seconds(end);
  host_spans_.push_back(times);
}

void Timeline::collect(bool keep) {
  if (keep) {
    collect_commands();
    collect_host_spans();
  }
  pending_.clear();
  host_spans_.clear();
}

// Not by markers in a queue: some runtimes give them no times.
void Timeline::collect_commands() {
  if (!pending_.empty()) host_ahead_.reset();
  for (Pending& pending : pending_) {
    KernelTimes& times = pending.times;
    static_cast<CommandTimes&>(times) = pending.event.times();
    // Added after it was queued: the smallest difference is nearest to that of the clocks.
    const double difference = pending.added - times.queued;
    host_ahead_ = std::min(difference, host_ahead_.value_or(difference));
    entries_.push_back(times);
  }
}

void Timeline::collect_host_spans() {
  if (!host_ahead_) return;
  for (KernelTimes times : host_spans_) {
    for (double* moment : {&times.queued, &times.submitted, &times.started, &times.ended}) {
      *moment -= *host_ahead_;
    }
    entries_.push_back(times);
  }
}

Replications::Replications(const Device& device, const Program& program, const EntryPoint& entry, int count,
                           Timeline& timeline)
    : entry_(entry), name_(lasting_name(entry.name)), timeline_(timeline) {
  const std::vector<std::string> names = replica_names(entry, replicas_of(device.info()), count);
  for (int i = 0; i < count; ++i) {
    kernels_.push_back(entry_point(program, names[static_cast<std::size_t>(i) % names.size()]));
    kernels_.back()->set_replica(i);
    queues_.push_back(device.queue(timeline.enabled()));
  }
  if (kernels_.empty()) return;
  const std::optional<std::size_t> taken = kernels_.front()->argument_count();
  if (!taken || *taken == entry.arguments.size()) return;
  throw bad_use(fmt::format("the kernel '{}' takes {} arguments, and kernel.toml declares {}", entry.name,
                            *taken, entry.arguments.size()),
                "declare all of them, in order, in [variants.NAME.arguments]");
}

void Replications::set(int replication, NamedArguments values) {
  backend::Kernel& kernel = *kernels_[static_cast<std::size_t>(replication)];
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(entry_.arguments, name, &Argument::name);
    if (found == entry_.arguments.end()) {
      throw std::logic_error(fmt::format("the kernel '{}' has no argument '{}'", entry_.name, name));
    }
    set_one(kernel, static_cast<unsigned>(found - entry_.arguments.begin()), *found, value);
  }
}

void Replications::set_one(backend::Kernel& kernel, unsigned index, const Argument& argument,
                           const ArgumentValue& value) const {
  const bool is_buffer = std::holds_alternative<const Buffer*>(value.held());
  const bool is_real = std::holds_alternative<double>(value.held());
  const bool takes_real = argument.kind == ArgumentKind::kFloat || argument.kind == ArgumentKind::kDouble;
  if (is_buffer != (argument.kind == ArgumentKind::kBuffer) || (is_real && !takes_real)) {
    throw std::logic_error(
        fmt::format("the argument '{}' of the kernel '{}' is of another kind", argument.name, entry_.name));
  }
  if (is_buffer) {
    const Buffer& buffer = *std::get<const Buffer*>(value.held());
    buffer.name_for_guard(entry_.name, argument.name);
    return kernel.set_memory(index, buffer.implementation());
  }
  const auto set_number = [&](auto number) { kernel.set_number(index, &number, sizeof(number)); };
  if (takes_real) {
    const double number =
        is_real ? std::get<double>(value.held()) : static_cast<double>(std::get<std::uint64_t>(value.held()));
    argument.kind == ArgumentKind::kDouble ? set_number(number) : set_number(static_cast<float>(number));
    return;
  }
  const std::uint64_t number = std::get<std::uint64_t>(value.held());
  const auto set_as = [&](auto zero) {
    using Type = decltype(zero);
    if (number > std::numeric_limits<Type>::max()) {
      throw bad_use(fmt::format("the argument '{}' of the kernel '{}' cannot be {}, only up to {}",
                                argument.name, entry_.name, number, std::numeric_limits<Type>::max()),
                    "choose a smaller size");
    }
    set_number(static_cast<Type>(number));
  };
  if (argument.kind == ArgumentKind::kUchar) return set_as(std::uint8_t{});
  if (argument.kind == ArgumentKind::kUint) return set_as(std::uint32_t{});
  set_as(std::uint64_t{});
}

void Replications::run(const std::string& operation, const std::vector<Geometry>& geometries) {
  start(operation, geometries);
  finish();
}

void Replications::start(const std::string& operation, const std::vector<Geometry>& geometries) {
  for (int i = 0; i < count(); ++i) {
    const Geometry& geometry = geometries[static_cast<std::size_t>(i)];
    if (geometry.global == 0) continue;
    if (timeline_.enabled()) {
      start(operation, i, geometry);
    } else {
      start_on(queue(i), i, geometry, nullptr, nullptr);
      queue(i).flush();
    }
  }
}

Event Replications::start(const std::string& operation, int replication, const Geometry& geometry,
                          const Events& after) {
  Event event;
  start_on(queue(replication), replication, geometry, after.empty() ? nullptr : &after, &event);
  queue(replication).flush();
  if (timeline_.enabled()) timeline_.add(operation, entry_.name, replication, event);
  return event;
}

void Replications::start_on(const Queue& queue, int replication, const Geometry& geometry,
                            const Events* after, Event* done) const {
  note_start(name_);
  kernels_[static_cast<std::size_t>(replication)]->start(queue.implementation(), geometry, after, done);
}

void Replications::transfer(const std::function<void(int)>& enqueue) {
  for (int i = 0; i < count(); ++i) {
    enqueue(i);
    queue(i).flush();
  }
  finish();
}

void Replications::finish() {
  for (const Queue& queue : queues_) queue.finish();
}

Events start_group(const DeviceInfo& info, const std::string& operation,
                   const std::vector<GroupMember>& members, const Events& after) {
  if (members.size() > info.kernels_at_once()) {
    throw bad_use(
        fmt::format("{} does not promise that {} kernels that wait for each other run at the same time",
                    info.name, members.size()),
        "use an FPGA, or its emulator with a larger CL_CONFIG_CPU_TBB_NUM_WORKERS");
  }
  std::set<std::pair<const Replications*, int>> seen;
  for (const GroupMember& member : members) {
    if (!seen.emplace(member.kernels, member.replica).second)
      throw std::logic_error("a replica runs once at a time");
  }
  Events ends;
  for (const GroupMember& member : members) {
    ends.push_back(member.kernels->start(operation, member.replica, member.geometry, after));
  }
  return ends;
}

}  // namespace fabricmark::device
