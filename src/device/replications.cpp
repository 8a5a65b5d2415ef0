#include "device/replications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"

namespace fabricmark::device {

namespace {

double seconds(const cl::Event& event, cl_profiling_info moment) {
  constexpr double kNanosecond = 1e-9;
  cl_ulong nanoseconds = 0;
  event.getProfilingInfo(moment, &nanoseconds);
  return kNanosecond * static_cast<double>(nanoseconds);
}

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
                   const cl::Event& event) {
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
    times.queued = seconds(pending.event, CL_PROFILING_COMMAND_QUEUED);
    times.submitted = seconds(pending.event, CL_PROFILING_COMMAND_SUBMIT);
    times.started = seconds(pending.event, CL_PROFILING_COMMAND_START);
    times.ended = seconds(pending.event, CL_PROFILING_COMMAND_END);
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

Replications::Replications(const Device& device, const cl::Program& program, const EntryPoint& entry,
                           int count, Timeline& timeline)
    : entry_(entry), timeline_(timeline) {
  for (int i = 0; i < count; ++i) {
    kernels_.push_back(entry_point(program, entry.name));
    queues_.push_back(device.queue(timeline.enabled()));
  }
  if (kernels_.empty()) return;
  const auto taken = kernels_.front().getInfo<CL_KERNEL_NUM_ARGS>();
  if (taken == entry.arguments.size()) return;
  throw bad_use(fmt::format("the kernel '{}' takes {} arguments, and kernel.toml declares {}", entry.name,
                            taken, entry.arguments.size()),
                "declare all of them, in order, in [variants.NAME.arguments]");
}

void Replications::set(int replication, NamedArguments values) {
  cl::Kernel& kernel = kernels_[static_cast<std::size_t>(replication)];
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(entry_.arguments, name, &Argument::name);
    if (found == entry_.arguments.end()) {
      throw std::logic_error(fmt::format("the kernel '{}' has no argument '{}'", entry_.name, name));
    }
    set_one(kernel, static_cast<cl_uint>(found - entry_.arguments.begin()), *found, value);
  }
}

void Replications::set_one(cl::Kernel& kernel, cl_uint index, const Argument& argument,
                           const ArgumentValue& value) const {
  const bool is_buffer = std::holds_alternative<const Buffer*>(value.held());
  const bool is_real = std::holds_alternative<double>(value.held());
  const bool takes_real = argument.kind == ArgumentKind::kFloat || argument.kind == ArgumentKind::kDouble;
  if (is_buffer != (argument.kind == ArgumentKind::kBuffer) || (is_real && !takes_real)) {
    throw std::logic_error(
        fmt::format("the argument '{}' of the kernel '{}' is of another kind", argument.name, entry_.name));
  }
  if (is_buffer) return std::get<const Buffer*>(value.held())->set_argument(kernel, index);
  if (takes_real) {
    const double number =
        is_real ? std::get<double>(value.held()) : static_cast<double>(std::get<std::uint64_t>(value.held()));
    argument.kind == ArgumentKind::kDouble ? kernel.setArg(index, cl_double{number})
                                           : kernel.setArg(index, static_cast<cl_float>(number));
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
    kernel.setArg(index, static_cast<Type>(number));
  };
  if (argument.kind == ArgumentKind::kUchar) return set_as(cl_uchar{});
  if (argument.kind == ArgumentKind::kUint) return set_as(cl_uint{});
  set_as(cl_ulong{});
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

cl::Event Replications::start(const std::string& operation, int replication, const Geometry& geometry,
                              const std::vector<cl::Event>& after) {
  cl::Event event;
  start_on(queue(replication), replication, geometry, after.empty() ? nullptr : &after, &event);
  queue(replication).flush();
  if (timeline_.enabled()) timeline_.add(operation, entry_.name, replication, event);
  return event;
}

void Replications::start_on(const cl::CommandQueue& queue, int replication, const Geometry& geometry,
                            const std::vector<cl::Event>* after, cl::Event* done) const {
  const cl::NDRange local =
      geometry.local == Geometry::kAnyLocal ? cl::NullRange : cl::NDRange(geometry.local);
  queue.enqueueNDRangeKernel(kernels_[static_cast<std::size_t>(replication)], cl::NullRange,
                             cl::NDRange(geometry.global), local, after, done);
}

void Replications::transfer(const std::function<void(int)>& enqueue) {
  for (int i = 0; i < count(); ++i) {
    enqueue(i);
    queue(i).flush();
  }
  finish();
}

void Replications::finish() {
  for (const cl::CommandQueue& queue : queues_) queue.finish();
}

}  // namespace fabricmark::device
