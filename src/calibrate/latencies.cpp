// What the host waits for a kernel that does nothing, and for a copy of next to nothing.
#include "calibrate/latencies.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/replications.hpp"

namespace fabricmark::calibrate {

namespace {

constexpr int kTimes = 200;
constexpr int kLargeCopies = 8;

/// Of so many times one after the other; one more before them is not counted, as it may set something up.
Statistics timed(const Clock& clock, int times, const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  for (int i = 0; i < times; ++i) {
    const double start = clock.seconds();
    work();
    seconds.push_back(clock.seconds() - start);
  }
  return statistics(seconds);
}

}  // namespace

double invocation_seconds(const device::Device& device, const Clock& clock) {
  // With an argument: what NVIDIA's compiler (driver 580) says of those of a kernel without any, its own
  // assembler refuses.
  const std::string source =
      "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nothing(const uint unused) {}";
  const device::Program program = device::build_from_source(device, source, "nothing.cl", {}).program;
  device::Timeline timeline(false);
  device::Replications kernel(device, program, {"nothing", {{"unused", device::ArgumentKind::kUint}}}, 1,
                              timeline);
  kernel.set(0, {{"unused", std::uint32_t{0}}});
  return timed(clock, kTimes, [&] { kernel.run("launch", {{}}); }).median;
}

DeviceCopy device_copy(const device::Device& device, const Clock& clock, std::size_t most) {
  const std::size_t bytes = std::max(most, 2 * kFewBytes);
  const device::Queue queue = device.queue();
  device::Buffer from(device, bytes);
  device::Buffer to(device, bytes);
  for (device::Buffer* const each : {&from, &to}) each->fill(queue, std::byte{1});
  queue.finish();
  const auto copy = [&](std::size_t count) {
    from.copy_to(queue, to, count, 0, 0);
    queue.finish();
  };
  DeviceCopy found;
  found.seconds = timed(clock, kTimes, [&] { copy(kFewBytes); }).median;
  const double large = timed(clock, kLargeCopies, [&] { copy(bytes); }).minimum;
  // A clock that cannot tell them apart says nothing of the rate.
  if (large > found.seconds) {
    found.bytes_per_second = static_cast<double>(bytes - kFewBytes) / (large - found.seconds);
  }
  return found;
}

}  // namespace fabricmark::calibrate
