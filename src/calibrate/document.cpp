// What fm_calibrate measures, in parts that can be measured alone.
#include "calibrate/document.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.hpp"
#include "base/host.hpp"
#include "calibrate/host.hpp"
#include "calibrate/kernels.hpp"
#include "calibrate/latencies.hpp"
#include "calibrate/timing.hpp"
#include "device/memory.hpp"
#include "runtime/asked_for.hpp"

namespace fabricmark::calibrate {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kTransferBytes = std::size_t{64} << 20;
constexpr int kCopies = 8;

Json measure_host_copy() {
  const int cores = usable_cores();
  Json copies = Json::array();
  for (int threads = 1; threads <= cores;
       threads = threads < cores ? std::min(threads * 2, cores) : cores + 1) {
    copies.push_back({{"threads", threads}, {"bytes_per_second", host_copy(threads)}});
  }
  return copies;
}

Json as_json(const std::vector<MemoryRate>& rates) {
  Json found = Json::array();
  for (const MemoryRate& entry : rates) {
    found.push_back(
        {{"mix", entry.mix}, {"bytes", entry.bytes}, {"bytes_per_second", entry.bytes_per_second}});
  }
  return found;
}

Json as_json(const std::vector<ArithmeticRate>& rates) {
  Json found = Json::array();
  for (const ArithmeticRate& entry : rates) {
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

/// The most that the link to the device's memory carries in one direction, from memory that it reaches
/// itself.
Json link_rates(const device::Device& device, device::Buffer& buffer) {
  const device::Queue queue = device.queue();
  const device::PinnedMemory memory(device, buffer.bytes());
  std::memset(memory.data(), 4, memory.bytes());
  Json found;
  for (const bool writing : {true, false}) {
    const double seconds = best_seconds(kCopies, [&] {
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
  const device::Queue queue = device.queue();
  device::HostArray<std::byte> host(device, bytes);
  std::memset(host.data(), 3, bytes);
  device::Buffer buffer(device, bytes);
  device::Buffer from(device, bytes);
  device::Buffer to(device, bytes);
  from.write(queue, host.data(), bytes);
  queue.finish();
  const auto rate = [&](double moved, const std::function<void()>& enqueue) {
    return moved / best_seconds(kCopies, [&] {
             enqueue();
             queue.finish();
           });
  };
  const auto size = static_cast<double>(bytes);
  Json found;
  found["device_copy_bytes_per_second"] = rate(2 * size, [&] { from.copy_to(queue, to); });
  found["write_bytes_per_second"] = rate(size, [&] { buffer.write(queue, host.data(), bytes); });
  found["read_bytes_per_second"] = rate(size, [&] { buffer.read(queue, host.data(), bytes); });
  found["link"] = link_rates(device, buffer);
  return found;
}

bool has_kernels(const device::Device& device) {
  const device::DeviceClass kind = device.info().device_class;
  return kind == device::DeviceClass::kCpu || kind == device::DeviceClass::kGpu;
}

Json measure_memory(const device::Device& device) {
  Json found;
  found["host_copy"] = measure_host_copy();
  found["host_memory"] = as_json(host_memory());
  found["device_memory"] = has_kernels(device) ? as_json(device_memory(device)) : Json::array();
  return found;
}

Json measure_arithmetic(const device::Device& device) {
  Json found;
  found["host_arithmetic"] = as_json(host_arithmetic());
  found["peak"] = has_kernels(device) ? as_json(peaks(device)) : Json::array();
  return found;
}

Json measure_transfers(const device::Device& device) {
  Json found;
  const WallClock clock;
  found["launch_seconds"] = invocation_seconds(device, clock);
  found.update(measure_copies(device));
  const std::size_t bytes = std::min<std::size_t>(kTransferBytes, device.info().max_allocation_bytes / 4);
  const DeviceCopy copy = device_copy(device, clock, bytes);
  found["device_copy"] = {{"seconds", copy.seconds}};
  if (copy.bytes_per_second > 0) found["device_copy"]["bytes_per_second"] = copy.bytes_per_second;
  return found;
}

Json measure_updates(const device::Device& device) {
  Json found;
  found["random_updates"] = Json::array();
  if (!has_kernels(device)) return found;
  for (const RandomUpdates& entry : random_updates(device)) {
    found["random_updates"].push_back(
        {{"table_bytes", entry.table_bytes}, {"updates_per_second", entry.updates_per_second}});
  }
  return found;
}

Json measure(const device::Device& device, const std::vector<std::string>& parts) {
  const std::pair<const char*, Json (*)(const device::Device&)> all[] = {{"memory", measure_memory},
                                                                         {"arithmetic", measure_arithmetic},
                                                                         {"transfers", measure_transfers},
                                                                         {"updates", measure_updates}};
  Json found;
  for (const auto& [name, measure_part] : all) {
    if (parts.empty() || std::ranges::find(parts, name) != parts.end()) found.update(measure_part(device));
  }
  return found;
}

}  // namespace

const std::vector<std::string>& part_names() {
  static const std::vector<std::string> names = {"memory", "arithmetic", "transfers", "updates"};
  return names;
}

std::string document(const device::Selection& selection, const std::vector<std::string>& parts, int passes) {
  const std::vector<device::FoundDevice> found = device::require_devices(selection);
  runtime::check_device(found.front().info);
  const Host& host = describe_host();
  const device::Device device(found.front());
  Json document;
  document["schema"] = "fabricmark-calibration/3";
  document["created"] = time_now();
  document["passes"] = passes;
  document["host"] = {{"name", host.name}, {"cpu", host.cpu}, {"logical_cores", host.logical_cores}};
  document["device"] = {{"platform", device.info().platform},
                        {"name", device.info().name},
                        {"driver", device.info().driver},
                        {"class", device::class_name(device.info().device_class)}};
  Json best = measure(device, parts);
  for (int pass = 1; pass < passes; ++pass) keep_best(best, measure(device, parts));
  document.update(best);
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace fabricmark::calibrate
