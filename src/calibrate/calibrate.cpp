// fm_calibrate: the limits of this machine that models and efficiencies refer to. Measures how fast the host
// copies memory with one and with all cores, and on one device how long a launch takes, how fast copies go,
// how many operations it does and how many random updates.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "calibrate/kernels.hpp"
#include "calibrate/timing.hpp"
#include "device/atomic_file.hpp"
#include "device/error.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "harness/agreement.hpp"
#include "harness/host.hpp"
#include "harness/statistics.hpp"

namespace fabricmark {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kHostBytes = std::size_t{256}
                                   << 20;  // well above any last-level cache's share of a core
constexpr std::size_t kTransferBytes = std::size_t{64} << 20;
constexpr int kCopies = 25;  // neighbours on a shared machine slow some of them down
constexpr int kLaunches = 200;

/// Bytes per second, read and written, of memcpy on `threads` parts at the same time.
double host_copy(int threads, const device::HostArray<std::byte>& source,
                 device::HostArray<std::byte>& target) {
  const std::size_t part = source.size() / static_cast<std::size_t>(threads);
  const double seconds = calibrate::best_seconds(kCopies, [&] {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; std::cmp_less(i, threads); ++i) {
      workers.emplace_back([&, i] { std::memcpy(&target[i * part], &source[i * part], part); });
    }
    for (std::thread& worker : workers) worker.join();
  });
  return 2 * static_cast<double>(part * static_cast<std::size_t>(threads)) / seconds;
}

Json measure_host_copy() {
  device::HostArray<std::byte> source(kHostBytes);
  device::HostArray<std::byte> target(kHostBytes);
  std::memset(source.data(), 1, source.size());
  std::memset(target.data(), 2, target.size());
  const int cores = device::usable_cores();
  Json copies = Json::array();
  for (int threads = 1; threads <= cores;
       threads = threads < cores ? std::min(threads * 2, cores) : cores + 1) {
    copies.push_back({{"threads", threads}, {"bytes_per_second", host_copy(threads, source, target)}});
  }
  return copies;
}

/// Median seconds from the start of an empty kernel until the host knows that it has ended.
double launch_seconds(const device::Device& device) {
  const std::string source = "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void nothing() {}";
  const cl::Program program = device::build_from_source(device, source, "nothing.cl", {}).program;
  const cl::Kernel kernel = device::entry_point(program, "nothing");
  const cl::CommandQueue queue = device.queue();
  std::vector<double> seconds;
  for (int i = 0; i < kLaunches; ++i) {
    seconds.push_back(calibrate::seconds_of([&] {
      queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1), cl::NDRange(1));
      queue.finish();
    }));
  }
  return harness::statistics(seconds).median;
}

Json measure_device(const device::FoundDevice& found) {
  const device::Device device(found);
  const std::size_t bytes = std::min<std::size_t>(kTransferBytes, device.info().max_allocation_bytes / 4);
  const cl::CommandQueue queue = device.queue();
  device::HostArray<std::byte> host(bytes);
  std::memset(host.data(), 3, bytes);
  device::Buffer buffer(device, bytes);
  const cl::Buffer from(device.context(), CL_MEM_READ_WRITE, bytes);
  const cl::Buffer to(device.context(), CL_MEM_READ_WRITE, bytes);
  queue.enqueueWriteBuffer(from, CL_TRUE, 0, bytes, host.data());
  const auto rate = [&](double moved, const std::function<void()>& enqueue) {
    return moved / calibrate::best_seconds(kCopies, [&] {
             enqueue();
             queue.finish();
           });
  };
  const auto size = static_cast<double>(bytes);
  Json figures;
  figures["device"] = {{"platform", device.info().platform},
                       {"name", device.info().name},
                       {"driver", device.info().driver},
                       {"class", device::class_name(device.info().device_class)}};
  figures["launch_seconds"] = launch_seconds(device);
  figures["device_copy_bytes_per_second"] =
      rate(2 * size, [&] { queue.enqueueCopyBuffer(from, to, 0, 0, bytes); });
  figures["write_bytes_per_second"] = rate(size, [&] { buffer.write(queue, host.data(), bytes); });
  figures["read_bytes_per_second"] = rate(size, [&] { buffer.read(queue, host.data(), bytes); });
  figures["peak"] = Json::array();
  figures["random_updates"] = Json::array();
  const device::DeviceClass kind = device.info().device_class;
  if (kind != device::DeviceClass::kCpu && kind != device::DeviceClass::kGpu) return figures;
  for (const calibrate::Peak& entry : calibrate::peaks(device)) {
    figures["peak"].push_back({{"data_type", entry.data_type}, {"flops_per_second", entry.flops_per_second}});
  }
  for (const calibrate::RandomUpdates& entry : calibrate::random_updates(device)) {
    figures["random_updates"].push_back(
        {{"table_bytes", entry.table_bytes}, {"updates_per_second", entry.updates_per_second}});
  }
  return figures;
}

void write_calibration(const device::Selection& selection, const std::string& file) {
  const std::vector<device::FoundDevice> found = device::require_devices(selection);
  const harness::Host host = harness::describe_host();
  Json document;
  document["schema"] = "fabricmark-calibration/2";
  document["created"] = harness::time_now();
  document["host"] = {{"name", host.name}, {"cpu", host.cpu}, {"logical_cores", host.logical_cores}};
  document["host_copy"] = measure_host_copy();
  document.update(measure_device(found.front()));
  const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (file == "-") {
    std::cout << text;
  } else {
    write_atomically(file, text);
  }
}

}  // namespace

}  // namespace fabricmark

int main(int argc, char** argv) {
  CLI::App app("Measures the limits that models and efficiencies refer to");
  std::string platform;
  std::string device;
  std::string file = "-";
  app.add_option("--platform", platform, "OpenCL platform: index or part of its name");
  app.add_option("--device", device, "device: index or part of its name");
  app.add_option("--json", file, "file to write, - for standard output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::cerr << "fm_calibrate: error: " << error.what() << "; see fm_calibrate --help" << '\n';
    return static_cast<int>(fabricmark::ExitCode::kBadUse);
  }
  fabricmark::device::Selection selection;
  if (!platform.empty()) selection.platform = platform;
  if (!device.empty()) selection.device = device;
  const auto failure = fabricmark::harness::attempt([&] { fabricmark::write_calibration(selection, file); });
  if (!failure) return static_cast<int>(fabricmark::ExitCode::kValid);
  std::cerr << "fm_calibrate: error: " << failure->message << '\n';
  return static_cast<int>(failure->code);
}
