// fm_calibrate: the limits of this machine that models and efficiencies refer to, each the best of several
// passes. Measures what the host's memory, caches and arithmetic do, and of one device how long a launch
// takes, how fast copies go, what its memory and caches move, how many operations it does and how many random
// updates.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/host.hpp"
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

constexpr std::size_t kTransferBytes = std::size_t{64} << 20;
constexpr int kCopies = 8;
constexpr int kLaunches = 200;
constexpr int kPasses = 3;  // neighbours on a shared machine slow some of them down

Json measure_host_copy() {
  const int cores = device::usable_cores();
  Json copies = Json::array();
  for (int threads = 1; threads <= cores;
       threads = threads < cores ? std::min(threads * 2, cores) : cores + 1) {
    copies.push_back({{"threads", threads}, {"bytes_per_second", calibrate::host_copy(threads)}});
  }
  return copies;
}

Json as_json(const std::vector<calibrate::MemoryRate>& rates) {
  Json found = Json::array();
  for (const calibrate::MemoryRate& entry : rates) {
    found.push_back(
        {{"mix", entry.mix}, {"bytes", entry.bytes}, {"bytes_per_second", entry.bytes_per_second}});
  }
  return found;
}

Json as_json(const std::vector<calibrate::ArithmeticRate>& rates) {
  Json found = Json::array();
  for (const calibrate::ArithmeticRate& entry : rates) {
    found.push_back({{"data_type", entry.data_type}, {"flops_per_second", entry.flops_per_second}});
  }
  return found;
}

/// The larger of each rate in two documents of the same machine; of all else what `best` says.
void keep_best(Json& best, const Json& other) {
  for (auto& [key, value] : best.items()) {
    const Json* const found = best.is_array()       ? &other.at(std::stoul(key))
                              : other.contains(key) ? &other.at(key)
                                                    : nullptr;
    if (found == nullptr) continue;
    if (value.is_structured()) {
      keep_best(value, *found);
    } else if (key.ends_with("_per_second")) {
      value = std::max(value.get<double>(), found->get<double>());
    }
  }
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

/// The most that the link to the device's memory carries in one direction, from memory that it reaches
/// itself.
Json link_rates(const device::Device& device, device::Buffer& buffer) {
  const cl::CommandQueue queue = device.queue();
  const device::PinnedMemory memory(device, buffer.bytes());
  std::memset(memory.data(), 4, memory.bytes());
  Json found;
  for (const bool writing : {true, false}) {
    const double seconds = calibrate::best_seconds(kCopies, [&] {
      if (writing) {
        buffer.write(queue, memory.data(), memory.bytes());
      } else {
        buffer.read(queue, memory.data(), memory.bytes());
      }
      queue.finish();
    });
    found[writing ? "to_device_bytes_per_second" : "from_device_bytes_per_second"] =
        static_cast<double>(memory.bytes()) / seconds;
  }
  return found;
}

Json measure_copies(const device::Device& device) {
  const std::size_t bytes = std::min<std::size_t>(kTransferBytes, device.info().max_allocation_bytes / 4);
  const cl::CommandQueue queue = device.queue();
  device::HostArray<std::byte> host(device, bytes);
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
  Json found;
  found["device_copy_bytes_per_second"] =
      rate(2 * size, [&] { queue.enqueueCopyBuffer(from, to, 0, 0, bytes); });
  found["write_bytes_per_second"] = rate(size, [&] { buffer.write(queue, host.data(), bytes); });
  found["read_bytes_per_second"] = rate(size, [&] { buffer.read(queue, host.data(), bytes); });
  found["link"] = link_rates(device, buffer);
  return found;
}

/// One pass over all limits.
Json measure(const device::Device& device) {
  const device::DeviceClass kind = device.info().device_class;
  const bool has_kernels = kind == device::DeviceClass::kCpu || kind == device::DeviceClass::kGpu;
  Json found;
  found["host_copy"] = measure_host_copy();
  found["host_memory"] = as_json(calibrate::host_memory());
  found["host_arithmetic"] = as_json(calibrate::host_arithmetic());
  found["launch_seconds"] = launch_seconds(device);
  found.update(measure_copies(device));
  found["device_memory"] = Json::array();
  found["peak"] = Json::array();
  found["random_updates"] = Json::array();
  if (!has_kernels) return found;
  found["device_memory"] = as_json(calibrate::device_memory(device));
  found["peak"] = as_json(calibrate::peaks(device));
  for (const calibrate::RandomUpdates& entry : calibrate::random_updates(device)) {
    found["random_updates"].push_back(
        {{"table_bytes", entry.table_bytes}, {"updates_per_second", entry.updates_per_second}});
  }
  return found;
}

void write_calibration(const device::Selection& selection, int passes, const std::string& file) {
  const std::vector<device::FoundDevice> found = device::require_devices(selection);
  const harness::Host& host = harness::describe_host();
  Json document;
  document["schema"] = "fabricmark-calibration/3";
  document["created"] = harness::time_now();
  document["passes"] = passes;
  document["host"] = {{"name", host.name}, {"cpu", host.cpu}, {"logical_cores", host.logical_cores}};
  const device::Device device(found.front());
  document["device"] = {{"platform", device.info().platform},
                        {"name", device.info().name},
                        {"driver", device.info().driver},
                        {"class", device::class_name(device.info().device_class)}};
  Json best = measure(device);
  for (int pass = 1; pass < passes; ++pass) keep_best(best, measure(device));
  document.update(best);
  const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (file == "-") {
    write_standard_output(text);
  } else {
    write_atomically(file, text);
  }
}

}  // namespace

}  // namespace fabricmark

int main(int argc, char** argv) {
  fabricmark::occupy_closed_streams();
  CLI::App app("Measures the limits that models and efficiencies refer to");
  std::string platform;
  std::string device;
  std::string file = "-";
  int passes = fabricmark::kPasses;
  app.add_option("--platform", platform, "OpenCL platform: index or part of its name");
  app.add_option("--device", device, "device: index or part of its name");
  app.add_option("--passes", passes, "how often to measure all; the best of each counts")
      ->check(CLI::Range(1, 1000));
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
  const auto failure =
      fabricmark::harness::attempt([&] { fabricmark::write_calibration(selection, passes, file); });
  if (!failure) return static_cast<int>(fabricmark::ExitCode::kValid);
  std::cerr << "fm_calibrate: error: " << failure->message << '\n';
  return static_cast<int>(failure->code);
}
