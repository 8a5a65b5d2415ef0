#include "device/replications.hpp"

#include "device/program.hpp"

namespace fabricmark::device {

namespace {

double seconds(const cl::Event& event, cl_profiling_info moment) {
  constexpr double kNanosecond = 1e-9;
  cl_ulong nanoseconds = 0;
  event.getProfilingInfo(moment, &nanoseconds);
  return kNanosecond * static_cast<double>(nanoseconds);
}

}  // namespace

void Timeline::add(const std::string& operation, const std::string& kernel, int replication,
                   const cl::Event& event) {
  KernelTimes times;
  times.operation = operation;
  times.kernel = kernel;
  times.repetition = repetition_;
  times.replication = replication;
  pending_.push_back({times, event});
}

void Timeline::add_host_span(const std::string& operation, const cl::Event& begin, const cl::Event& end) {
  add(operation, "host", 0, begin);
  pending_.back().end = end;
}

void Timeline::collect(bool keep) {
  if (!keep) pending_.clear();
  for (Pending& pending : pending_) {
    KernelTimes& times = pending.times;
    times.queued = seconds(pending.event, CL_PROFILING_COMMAND_QUEUED);
    if (pending.end() != nullptr) {
      times.submitted = times.started = times.queued;
      times.ended = seconds(pending.end, CL_PROFILING_COMMAND_QUEUED);
    } else {
      times.submitted = seconds(pending.event, CL_PROFILING_COMMAND_SUBMIT);
      times.started = seconds(pending.event, CL_PROFILING_COMMAND_START);
      times.ended = seconds(pending.event, CL_PROFILING_COMMAND_END);
    }
    entries_.push_back(times);
  }
  pending_.clear();
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
