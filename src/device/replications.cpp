#include "device/replications.hpp"

#include <algorithm>

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

Replications::Replications(const Device& device, const cl::Program& program, const std::string& entry,
                           int count, Timeline& timeline)
    : entry_(entry), timeline_(timeline) {
  for (int i = 0; i < count; ++i) {
    kernels_.push_back(entry_point(program, entry));
    queues_.push_back(device.queue(timeline.enabled()));
  }
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
      enqueue(i, geometry, nullptr, nullptr);
    }
  }
}

cl::Event Replications::start(const std::string& operation, int replication, const Geometry& geometry,
                              const std::vector<cl::Event>& after) {
  cl::Event event;
  enqueue(replication, geometry, after.empty() ? nullptr : &after, &event);
  if (timeline_.enabled()) timeline_.add(operation, entry_, replication, event);
  return event;
}

void Replications::enqueue(int replication, const Geometry& geometry, const std::vector<cl::Event>* after,
                           cl::Event* event) {
  queue(replication)
      .enqueueNDRangeKernel(kernel(replication), cl::NullRange, cl::NDRange(geometry.global),
                            cl::NDRange(geometry.local), after, event);
  queue(replication).flush();
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
