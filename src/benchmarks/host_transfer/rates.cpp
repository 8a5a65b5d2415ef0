#include "benchmarks/host_transfer/rates.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/host.hpp"
#include "device/memory.hpp"

namespace fabricmark::host_transfer {

namespace {

/// Bytes per second of the host's own copies of this size, on all cores; out of its caches where they fit.
double host_copy_rate(std::size_t bytes) {
  constexpr int kCopies = 20;
  const device::HostArray<std::byte> from(bytes);
  device::HostArray<std::byte> to(bytes);
  std::memset(to.data(), 1, bytes);
  std::memcpy(const_cast<std::byte*>(from.data()), to.data(), bytes);
  double best = 0;
  for (int i = 0; i < kCopies; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), bytes);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    best = std::max(best, static_cast<double>(bytes) / std::max(elapsed.count(), 1e-9));
  }
  return best * usable_cores();
}

}  // namespace

void Rates::measure(const std::vector<std::size_t>& sizes) {
  if (link_bytes_per_second_ > 0) return;
  for (const std::size_t bytes : sizes) host_[bytes] = host_copy_rate(bytes);
}

double Rates::limit(const Case& one, double rate, double threshold) {
  if (link_bytes_per_second_ > 0) return static_cast<double>(one.ways()) * link_bytes_per_second_;
  constexpr int kTries = 3;
  double& known = host_.at(one.bytes);
  for (int i = 0; i < kTries && rate > threshold * known; ++i) {
    known = std::max(known, host_copy_rate(one.bytes));
  }
  return known;
}

}  // namespace fabricmark::host_transfer
