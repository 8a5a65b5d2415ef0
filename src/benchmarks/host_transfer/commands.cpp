#include "benchmarks/host_transfer/commands.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace fabricmark::host_transfer {

namespace {

constexpr const char* kKernel = "kernel";
constexpr const char* kWrite = "write";
constexpr const char* kRead = "read";
constexpr const char* kToDevice = "migrate to device";
constexpr const char* kToHost = "migrate to host";
constexpr const char* kMap = "map";
constexpr const char* kUnmap = "unmap";

struct Part {
  const char* name;
  double device::CommandTimes::*start;
  double device::CommandTimes::*end;
};
/// What lies between the moments of a command.
constexpr std::array kParts{
    Part{"queued", &device::CommandTimes::queued, &device::CommandTimes::submitted},
    Part{"submitted", &device::CommandTimes::submitted, &device::CommandTimes::started},
    Part{"running", &device::CommandTimes::started, &device::CommandTimes::ended},
};

std::string region_of(const std::string& command, std::size_t bytes, const char* part) {
  return "command/" + command + "/" + std::to_string(bytes) + "/" + part;
}

bool is_ordered(const device::CommandTimes& times) {
  return times.queued <= times.submitted && times.submitted <= times.started && times.started <= times.ended;
}

/// Some runtimes give the same moment four times for commands that they do not time (NVIDIA's for
/// migrations).
bool has_times(const device::CommandTimes& times) { return times.ended > times.queued; }

std::size_t largest_of(const std::vector<std::size_t>& sizes) {
  return std::max(device::kPageBytes, std::ranges::max(sizes));
}

}  // namespace

Commands::Commands(const runtime::Context& context, const std::vector<std::size_t>& sizes,
                   WorkItems work_items, const device::Placement& place, bool in_place)
    : queue_(context.device().queue(/*profiling=*/true)),
      host_(largest_of(sizes)),
      buffer_(context.device(), largest_of(sizes), device::MemoryKind::kBuffer, place),
      marks_(context, work_items),
      kernel_(context.replications(1, kTouch)),
      work_items_(work_items) {
  std::memset(host_.data(), 1, host_.size());
  commands_.push_back({kKernel, 0});
  for (const std::size_t bytes : sizes) {
    for (const char* name : {kWrite, kRead}) commands_.push_back({name, bytes});
    if (!in_place) continue;
    device::HostArray<std::byte> host(bytes);
    std::memset(host.data(), 1, bytes);
    const device::Buffer over = device::buffer_over(context.device(), host.span(), place);
    in_place_.push_back({std::move(host), over});
    for (const char* name : {kToDevice, kToHost, kMap, kUnmap}) {
      commands_.push_back({name, bytes, in_place_.size() - 1});
    }
  }
  if (!context.computes()) return;
  std::vector<Command> timed;
  for (const Command& one : commands_) {
    const bool is_timed = context.ranks().all_reduce_min(has_times(times_of(one)) ? 1 : 0) == 1;
    if (is_timed) {
      timed.push_back(one);
    } else if (std::ranges::find(without_times_, one.name) == without_times_.end()) {
      without_times_.push_back(one.name);
    }
  }
  commands_ = std::move(timed);
}

bool Commands::times_migrations() const {
  return std::ranges::none_of(without_times_,
                              [](const std::string& name) { return name == kToDevice || name == kToHost; });
}

double Commands::device_bytes(const std::vector<std::size_t>& sizes, bool in_place) {
  auto bytes = static_cast<double>(largest_of(sizes));
  for (const std::size_t one : sizes) bytes += in_place ? static_cast<double>(one) : 0;
  return bytes;
}

device::CommandTimes Commands::of_copy(const Command& command) {
  device::Event done;
  if (command.name == kWrite) {
    buffer_.write(queue_, host_.data(), command.bytes, 0, &done);
  } else {
    buffer_.read(queue_, host_.data(), command.bytes, 0, &done);
  }
  queue_.finish();
  return done.times();
}

device::CommandTimes Commands::of_migration(device::Buffer& buffer, bool to_host) {
  // From where it is not: kernels work on the device's side.
  marks_.put(buffer, 1);
  if (!to_host) {
    buffer.migrate(queue_, /*to_host=*/true);
    queue_.finish();
  }
  device::Event done;
  device::migrate(queue_, {&buffer, 1}, to_host, &done);
  queue_.finish();
  return done.times();
}

device::CommandTimes Commands::of_map(device::Buffer& buffer) {
  marks_.put(buffer, 1);
  device::Event done;
  std::byte* const view = buffer.map(queue_, /*for_writing=*/false, buffer.bytes(), 0, &done);
  queue_.finish();
  buffer.unmap(queue_, view);
  queue_.finish();
  return done.times();
}

device::CommandTimes Commands::of_unmap(device::Buffer& buffer) {
  std::byte* const view = buffer.map(queue_, /*for_writing=*/true, buffer.bytes());
  put_marks(view, buffer.bytes(), 1);
  device::Event done;
  buffer.unmap(queue_, view, &done);
  queue_.finish();
  return done.times();
}

device::CommandTimes Commands::of_kernel() {
  const std::uint32_t one = 1;
  kernel_.set(0, {{"memory", buffer_}, {"pages", one}, {"mark_bytes", one}, {"value", one}});
  device::Event done;
  kernel_.start_on(queue_, 0, geometry_of(work_items_, one), /*after=*/nullptr, &done);
  queue_.finish();
  return done.times();
}

device::CommandTimes Commands::times_of(const Command& command) {
  if (command.name == kKernel) return of_kernel();
  if (command.name == kWrite || command.name == kRead) return of_copy(command);
  device::Buffer& buffer = in_place_[command.object].buffer;
  if (command.name == kMap) return of_map(buffer);
  if (command.name == kUnmap) return of_unmap(buffer);
  return of_migration(buffer, command.name == kToHost);
}

void Commands::run(runtime::TimedRegions& regions) {
  disordered_ = 0;
  worst_.clear();
  for (const Command& one : commands_) {
    device::CommandTimes times;
    regions.aside([&] { times = times_of(one); });
    if (!is_ordered(times)) {
      if (disordered_ == 0) worst_ = one.name + "/" + std::to_string(one.bytes);
      ++disordered_;
    }
    for (const Part& part : kParts) {
      // Events count nanoseconds: what shows none took less than one, and no time is nothing.
      constexpr double kResolution = 1e-9;
      const double seconds = std::max(times.*part.end - times.*part.start, kResolution);
      regions.keep(region_of(one.name, one.bytes, part.name), seconds);
    }
  }
}

std::vector<runtime::Metric> Commands::metrics() const {
  std::vector<runtime::Metric> metrics;
  for (const Command& one : commands_) {
    for (const Part& part : kParts) {
      std::vector<runtime::Axis> axes{{"command", one.name}, {"part", std::string(part.name)}};
      if (one.bytes > 0) axes.push_back({"bytes", static_cast<std::int64_t>(one.bytes)});
      metrics.push_back(runtime::duration(one.bytes > 0 ? "command_time" : "kernel_time", axes,
                                          region_of(one.name, one.bytes, part.name), "us", 1e6));
    }
  }
  return metrics;
}

}  // namespace fabricmark::host_transfer
