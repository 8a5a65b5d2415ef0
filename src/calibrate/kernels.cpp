#include "calibrate/kernels.hpp"

#include <algorithm>
#include <cstddef>

#include "base/host.hpp"
#include "calibrate/timing.hpp"
#include "device/memory.hpp"
#include "device/program.hpp"
#include "device/replications.hpp"

namespace fabricmark::calibrate {

namespace {

using Kind = device::ArgumentKind;

constexpr int kKernelRuns = 4;
constexpr int kAccumulators = 12;  // hide the latency of two units at once
constexpr std::size_t kGpuGroup = 256;
constexpr std::size_t kGpuGroupsPerUnit = 16;
constexpr std::size_t kCpuVectors = 64;         // of an item, as kMove says
constexpr std::size_t kCpuItemsPerUnit = 1024;  // PoCL hands out 32 or more at a time

// Twelve chains of multiply-adds that do not depend on each other.
constexpr const char* kMultiplyAdd = R"(
#if defined(FM_NEEDS_HALF)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#if defined(FM_NEEDS_DOUBLE)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
__kernel void multiply_add(__global VECTOR* restrict results, const uint rounds, const float start) {
  const VECTOR factor = (VECTOR)((TYPE)start);
  VECTOR a = factor, b = a + a, c = b + a, d = c + a, e = d + a, f = e + a;
  VECTOR g = f + a, h = g + a, i = h + a, j = i + a, k = j + a, l = k + a;
  for (uint round = 0; round < rounds; ++round) {
    a = fma(a, factor, a); b = fma(b, factor, b); c = fma(c, factor, c); d = fma(d, factor, d);
    e = fma(e, factor, e); f = fma(f, factor, f); g = fma(g, factor, g); h = fma(h, factor, h);
    i = fma(i, factor, i); j = fma(j, factor, j); k = fma(k, factor, k); l = fma(l, factor, l);
  }
  results[get_global_id(0)] = a + b + c + d + e + f + g + h + i + j + k + l;
}
)";

// One stream read and one written, or two read; a CPU's item takes neighbours, a GPU's items lie side by
// side.
constexpr const char* kMove = R"(
#define STORE(place, value) (place) = (value)
#if defined(FM_CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#undef STORE
#define STORE(place, value) __builtin_nontemporal_store(value, &(place))
#endif
#endif
__kernel void move(__global const VECTOR* restrict first, __global const VECTOR* restrict second,
                   __global VECTOR* restrict result, const ulong vectors, const uint reads_two) {
#if defined(FM_CPU)
  const size_t start = get_global_id(0) * 64, end = min(start + 64, (size_t)vectors), step = 1;
#else
  const size_t start = get_global_id(0), end = vectors, step = get_global_size(0);
#endif
  if (reads_two) {
    for (size_t i = start; i < end; i += step) STORE(result[i], 3.0f * first[i] + second[i]);
  } else {
    for (size_t i = start; i < end; i += step) STORE(result[i], 3.0f * first[i]);
  }
}
)";

// LANES sequences side by side; a CPU is told of each word some time before it is updated.
constexpr const char* kUpdate = R"(
#define AHEAD(word)
#if defined(FM_CPU) && defined(__has_builtin)
#if __has_builtin(__builtin_prefetch)
#undef AHEAD
#define AHEAD(word) __builtin_prefetch((const void*)(size_t)&(word), 1)
#endif
#endif
__kernel void update(__global ulong* restrict table, const ulong mask, const uint rounds) {
  ulong state[LANES];
  for (uint lane = 0; lane < LANES; ++lane)
    state[lane] = (get_global_id(0) * LANES + lane + 1) * 0x9E3779B97F4A7C15UL;
  for (uint round = 0; round < rounds; ++round) {
    for (uint lane = 0; lane < LANES; ++lane) {
      const ulong next = (state[lane] << 1) ^ ((0 - (state[lane] >> 63)) & 7);
      AHEAD(table[next & mask]);
      table[state[lane] & mask] ^= state[lane];
      state[lane] = next;
    }
  }
}
)";

struct Type {
  const char* name;
  std::size_t bytes;
};
constexpr Type kTypes[] = {{"half", 2}, {"float", 4}, {"double", 8}};

bool is_gpu(const device::Device& device) { return device.info().device_class == device::DeviceClass::kGpu; }

std::size_t global_size(const device::Device& device) {
  const std::size_t units = std::max<std::size_t>(1, device.info().compute_units);
  return units * (is_gpu(device) ? kGpuGroupsPerUnit * kGpuGroup : kCpuItemsPerUnit);
}

std::size_t local_size(const device::Device& device) {
  const std::size_t most = device.info().max_work_group_size;
  return is_gpu(device) ? std::min(kGpuGroup, most) : std::size_t{1};
}

/// One of the kernels above, on a queue of its own.
class Kernel {
 public:
  Kernel(const device::Device& device, const char* source, const device::Definitions& definitions,
         const device::EntryPoint& entry)
      : device_(device),
        kernel_(device, device::build_from_source(device, source, entry.name + ".cl", definitions).program,
                entry, 1, timeline_) {}
  void set(device::NamedArguments values) { kernel_.set(0, values); }
  /// Best seconds of `launches` in a row with so many work-items.
  double seconds(std::size_t items, int launches = 1) {
    const device::Geometry geometry{items, local_size(device_)};
    return best_seconds(kKernelRuns, [&] {
      for (int i = 0; i < launches; ++i) kernel_.start_on(kernel_.queue(0), 0, geometry, nullptr, nullptr);
      kernel_.finish();
    });
  }

 private:
  const device::Device& device_;
  device::Timeline timeline_{false};
  device::Replications kernel_;
};

/// Memory of the device that has been written once: it is there.
device::Buffer zeros(const device::Device& device, std::size_t bytes) {
  device::Buffer memory(device, bytes);
  const device::Queue queue = device.queue();
  memory.fill(queue, std::byte{0});
  queue.finish();
  return memory;
}

/// Work-items for so many vectors: on a GPU as many as it has at a time, or one for each.
std::vector<std::size_t> item_counts(const device::Device& device, std::size_t vectors) {
  if (!is_gpu(device)) return {(vectors + kCpuVectors - 1) / kCpuVectors};
  const std::size_t group = local_size(device);
  const std::size_t each = (vectors + group - 1) / group * group;
  return {std::min<std::size_t>(global_size(device) / 2, each), each};
}

/// Operations a second with vectors of `width` elements.
double peak(const device::Device& device, const Type& type, int width) {
  constexpr std::uint32_t kRounds = 1000;
  const std::string scalar = type.name;
  device::Definitions definitions{{"TYPE", scalar},
                                  {"VECTOR", width == 1 ? scalar : scalar + std::to_string(width)}};
  if (scalar == "half") definitions["FM_NEEDS_HALF"] = "1";
  if (scalar == "double") definitions["FM_NEEDS_DOUBLE"] = "1";
  Kernel kernel(
      device, kMultiplyAdd, definitions,
      {"multiply_add", {{"results", Kind::kBuffer}, {"rounds", Kind::kUint}, {"start", Kind::kFloat}}});
  const std::size_t items = global_size(device);
  const device::Buffer results(device, items * type.bytes * static_cast<std::size_t>(width));
  // A start of zero stays zero: no overflow, no denormal numbers.
  kernel.set({{"results", results}, {"rounds", kRounds}, {"start", 0.0}});
  const double operations = 2.0 * kAccumulators * width * kRounds * static_cast<double>(items);
  return operations / kernel.seconds(items);
}

}  // namespace

std::vector<ArithmeticRate> peaks(const device::Device& device) {
  std::vector<ArithmeticRate> found;
  for (const Type& type : kTypes) {
    const bool is_half = type.bytes == 2;
    if ((is_half && !device.info().has_half) || (type.bytes == 8 && !device.info().has_double)) continue;
    // The registers of a CPU have 256 or 512 bits; OpenCL's vectors at most 16 elements.
    double best = peak(device, type, is_gpu(device) ? (is_half ? 2 : 1) : 8);
    if (!is_gpu(device) && type.bytes < 8) best = std::max(best, peak(device, type, 16));
    found.push_back({type.name, best});
  }
  return found;
}

std::vector<MemoryRate> device_memory(const device::Device& device) {
  constexpr std::uint64_t kSmallest = std::uint64_t{1} << 16;
  // By the launches of one run: a start takes as long as a small set.
  const double moved_in_a_run = is_gpu(device) ? 8e9 : 64e6;
  const std::size_t lanes = is_gpu(device) ? 4 : 16;
  const std::size_t vector_bytes = lanes * sizeof(float);
  device::Definitions definitions{{"VECTOR", "float" + std::to_string(lanes)}};
  if (!is_gpu(device)) definitions["FM_CPU"] = "1";
  Kernel kernel(device, kMove, definitions,
                {"move",
                 {{"first", Kind::kBuffer},
                  {"second", Kind::kBuffer},
                  {"result", Kind::kBuffer},
                  {"vectors", Kind::kUlong},
                  {"reads_two", Kind::kUint}}});
  const std::vector<std::uint64_t> sets =
      working_sets(kSmallest, static_cast<std::uint64_t>(device::last_cache_bytes(device.info())),
                   std::min(device.info().global_memory_bytes, 8 * device.info().max_allocation_bytes));
  if (sets.empty()) return {};
  const std::size_t most = sets.back() / 2;
  const device::Buffer arrays[] = {zeros(device, most), zeros(device, most), zeros(device, most)};
  std::vector<MemoryRate> found;
  for (const std::uint64_t bytes : sets) {
    for (const std::size_t streams : {std::size_t{2}, std::size_t{3}}) {
      const std::size_t vectors = bytes / streams / vector_bytes;
      const auto moved = static_cast<double>(vectors * vector_bytes * streams);
      const int launches = std::clamp(static_cast<int>(moved_in_a_run / moved), 1, 64);
      kernel.set({{"first", arrays[0]},
                  {"second", arrays[1]},
                  {"result", arrays[2]},
                  {"vectors", vectors},
                  {"reads_two", streams == 3 ? 1U : 0U}});
      double seconds = 0;
      for (const std::size_t items : item_counts(device, vectors)) {
        const double taken = kernel.seconds(items, launches);
        seconds = seconds == 0 ? taken : std::min(seconds, taken);
      }
      found.push_back({streams == 2 ? "copy" : "triad", bytes, moved * launches / seconds});
    }
  }
  return found;
}

std::vector<RandomUpdates> random_updates(const device::Device& device) {
  constexpr std::uint64_t kSmallest = std::uint64_t{1} << 20;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 29;
  constexpr std::uint64_t kStep = 4;
  const std::uint64_t wanted = std::uint64_t{1} << (is_gpu(device) ? 25 : 21);
  const std::uint64_t room =
      std::min(device.info().max_allocation_bytes, device.info().global_memory_bytes / 4);
  const std::uint64_t lanes = is_gpu(device) ? 4 : 64;
  device::Definitions definitions{{"LANES", std::to_string(lanes)}};
  if (!is_gpu(device)) definitions["FM_CPU"] = "1";
  Kernel kernel(device, kUpdate, definitions,
                {"update", {{"table", Kind::kBuffer}, {"mask", Kind::kUlong}, {"rounds", Kind::kUint}}});
  const std::uint64_t items = global_size(device);
  const auto rounds = static_cast<std::uint32_t>(std::max<std::uint64_t>(wanted / (items * lanes), 1));
  std::vector<RandomUpdates> found;
  for (std::uint64_t bytes = kSmallest; bytes <= std::min(kLargest, room); bytes *= kStep) {
    const device::Buffer table = zeros(device, bytes);
    kernel.set({{"table", table}, {"mask", bytes / sizeof(std::uint64_t) - 1}, {"rounds", rounds}});
    const auto updates = static_cast<double>(items * lanes * rounds);
    found.push_back({bytes, updates / kernel.seconds(items)});
  }
  return found;
}

}  // namespace fabricmark::calibrate
