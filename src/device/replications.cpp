#include "device/replications.hpp"

#include "device/program.hpp"

namespace fabricmark::device {

void Timeline::add(const std::string& operation, const std::string& kernel, int replication,
                   const cl::Event& event) {
  KernelTimes times;
  times.operation = operation;
  times.kernel = kernel;
  times.repetition = repetition_;
  times.replication = replication;
  pending_.push_back({times, event});
}

void Timeline::collect(bool keep) {
  if (!keep) pending_.clear();
  constexpr double kNanosecond = 1e-9;
  for (Pending& pending : pending_) {
    KernelTimes& times = pending.times;
    times.queued =
        kNanosecond * static_cast<double>(pending.event.getProfilingInfo<CL_PROFILING_COMMAND_QUEUED>());
    times.submitted =
        kNanosecond * static_cast<double>(pending.event.getProfilingInfo<CL_PROFILING_COMMAND_SUBMIT>());
    times.started =
        kNanosecond * static_cast<double>(pending.event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
    times.ended =
        kNanosecond * static_cast<double>(pending.event.getProfilingInfo<CL_PROFILING_COMMAND_END>());
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
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Geometry& geometry = geometries[i];
    if (geometry.global == 0) continue;
    cl::Event event;
    queues_[i].enqueueNDRangeKernel(kernels_[i], cl::NullRange, cl::NDRange(geometry.global),
                                    cl::NDRange(geometry.local), nullptr,
                                    timeline_.enabled() ? &event : nullptr);
    queues_[i].flush();
    if (timeline_.enabled()) timeline_.add(operation, entry_, static_cast<int>(i), event);
  }
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
