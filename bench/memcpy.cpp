// The peer of fm_host_transfer on a CPU: memcpy of 64 MiB between page-aligned arrays.
// Usage: bench_memcpy REPETITIONS; prints the best rate in GB/s (bytes copied) as JSON.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

int main(int argc, char** argv) {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  using Array = std::unique_ptr<char, decltype(&std::free)>;
  const Array from(static_cast<char*>(std::aligned_alloc(4096, kBytes)), &std::free);
  const Array to(static_cast<char*>(std::aligned_alloc(4096, kBytes)), &std::free);
  std::memset(from.get(), 1, kBytes);
  std::memset(to.get(), 2, kBytes);
  double best = 0;
  for (int i = 0; i < repetitions; ++i) {
    // As many pages are touched before each copy as fm_host_transfer marks.
    for (std::size_t at = 0; at < kBytes; at += 4096) from.get()[at] = static_cast<char>(i);
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.get(), from.get(), kBytes);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(kBytes) / elapsed.count() / 1e9);
  }
  std::printf("{\"memcpy\": %.6g}\n", best);
  return 0;
}
