#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/host.hpp"
#include "calibrate/host.hpp"
#include "calibrate/timing.hpp"
#include "device/device.hpp"
#include "device/memory.hpp"
#if defined(__x86_64__)
#include <emmintrin.h>
#define FM_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FM_WIDEST
#endif

namespace fabricmark::calibrate {

namespace {

constexpr std::uint64_t kSmallest = std::uint64_t{1} << 14;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;
constexpr std::uint64_t kUncached = std::uint64_t{1} << 28;  // above a core's share of any last-level cache
constexpr std::size_t kCopyBytes = kUncached;
constexpr double kMovedBytes = 64e6;  // by each thread in a run on a small working set
constexpr int kMemoryRuns = 2;
constexpr int kCopies = 4;
constexpr std::size_t kLine = 16;           // floats of a line of the caches
constexpr std::size_t kApart = 17 * kLine;  // streams do not begin in the same set of a cache

/// One thread's part of the streams; `second` is null where one stream is read.
struct Part {
  const float* first;
  const float* second;
  float* result;
  std::size_t count;
};

using Move = void (*)(const Part&);

FM_WIDEST void add(const float* __restrict first, const float* __restrict second, float* __restrict result,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = first[i] + second[i];
}

FM_WIDEST void scale(const float* __restrict first, float* __restrict result, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = 3.0F * first[i];
}

void plain(const Part& part) {
  if (part.second != nullptr) {
    add(part.first, part.second, part.result, part.count);
  } else {
    scale(part.first, part.result, part.count);
  }
}

void library(const Part& part) { std::memcpy(part.result, part.first, part.count * sizeof(float)); }

#if defined(__x86_64__)
/// Stores that do not fetch the line first; all x86-64 processors have them.
void past_caches(const Part& part) {
  constexpr std::size_t kLanes = 4;
  for (std::size_t i = 0; i + kLanes <= part.count; i += kLanes) {
    const __m128 first = _mm_load_ps(part.first + i);
    const __m128 other = part.second != nullptr ? _mm_load_ps(part.second + i) : first;
    _mm_stream_ps(part.result + i, _mm_add_ps(first, other));
  }
  _mm_sfence();
}
#endif

std::vector<Move> ways(bool reads_two) {
  std::vector<Move> found{plain};
#if defined(__x86_64__)
  found.push_back(past_caches);
#endif
  if (!reads_two) found.push_back(library);
  return found;
}

/// Bytes a second of the fastest instructions that move `streams` arrays that have `bytes` together.
double rate(std::uint64_t bytes, std::size_t streams, int threads, device::HostArray<float>& memory) {
  const auto parts = static_cast<std::size_t>(threads) * streams;
  const std::size_t count = bytes / sizeof(float) / parts / kLine * kLine;
  if (count == 0) return 0;
  const auto moved = static_cast<double>(count * streams * sizeof(float));
  const int rounds = std::max(1, static_cast<int>(kMovedBytes / moved));
  double best = 0;
  for (const Move move : ways(streams == 3)) {
    const auto work = [&](int thread) {
      const std::size_t stride = count + kApart;
      float* const own = memory.data() + static_cast<std::size_t>(thread) * streams * stride;
      const Part part{own, streams == 3 ? own + stride : nullptr, own + (streams - 1) * stride, count};
      for (int round = 0; round < rounds; ++round) move(part);
    };
    for (int run = 0; run < kMemoryRuns; ++run) {
      best = std::max(best, moved * rounds * threads / seconds_together(threads, work));
    }
  }
  return best;
}

}  // namespace

std::vector<std::uint64_t> working_sets(std::uint64_t smallest, std::uint64_t cache_bytes,
                                        std::uint64_t memory_bytes) {
  const std::uint64_t largest = std::clamp(std::bit_ceil(4 * cache_bytes), kUncached, kLargest);
  std::vector<std::uint64_t> found;
  for (std::uint64_t bytes = smallest; bytes <= std::min(largest, memory_bytes / 8); bytes *= 2) {
    found.push_back(bytes);
  }
  return found;
}

std::vector<MemoryRate> host_memory() {
  const int threads = usable_cores();
  const auto sets = working_sets(kSmallest, last_level_cache_bytes(), describe_host().memory_bytes);
  if (sets.empty()) return {};
  static device::HostArray<float> memory;  // of all passes: it takes long to get
  if (memory.size() == 0) {
    memory = device::HostArray<float>(sets.back() / sizeof(float) +
                                      3 * kApart * static_cast<std::size_t>(threads));
    std::fill_n(memory.data(), memory.size(), 1.0F);
  }
  std::vector<MemoryRate> found;
  for (const std::uint64_t bytes : sets) {
    const double copied = rate(bytes, 2, threads, memory);
    const double added = rate(bytes, 3, threads, memory);
    if (copied > 0 && added > 0)
      found.insert(found.end(), {{"copy", bytes, copied}, {"triad", bytes, added}});
  }
  return found;
}

double host_copy(int threads) {
  static device::HostArray<std::byte> source;
  static device::HostArray<std::byte> target;
  if (source.size() == 0) {
    source = device::HostArray<std::byte>(kCopyBytes);
    target = device::HostArray<std::byte>(kCopyBytes);
    std::memset(source.data(), 1, source.size());
    std::memset(target.data(), 2, target.size());
  }
  const std::size_t part = kCopyBytes / static_cast<std::size_t>(threads);
  double best = 0;
  for (int run = 0; run < kCopies; ++run) {
    const double seconds = seconds_together(threads, [&](int thread) {
      const std::size_t start = static_cast<std::size_t>(thread) * part;
      std::memcpy(&target[start], &source[start], part);
    });
    best = std::max(best, 2.0 * static_cast<double>(part) * threads / seconds);
  }
  return best;
}

}  // namespace fabricmark::calibrate
