#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fabricmark::calibrate {

/// The most bytes a second, read and written together, that a working set of this size was moved at.
struct MemoryRate {
  std::string mix;          ///< "copy": one stream read, one written; "triad": two read, one written
  std::uint64_t bytes = 0;  ///< of all streams of all threads together
  double bytes_per_second = 0;
};

/// Operations a second in multiply-adds, two each.
struct ArithmeticRate {
  std::string data_type;
  double flops_per_second = 0;
};

/// Working sets in powers of two, up to some times what the caches hold; on a small machine less.
std::vector<std::uint64_t> working_sets(std::uint64_t smallest, std::uint64_t cache_bytes,
                                        std::uint64_t memory_bytes);

/// What the host's memory and caches do with all usable cores, each on a part of its own: the best of plain
/// stores, of stores that go past the caches, and of memcpy.
std::vector<MemoryRate> host_memory();

/// Bytes per second, read and written, of memcpy by so many threads on arrays of 256 MiB that no cache holds.
double host_copy(int threads);

/// What the multiply-add units of all usable cores do with the widest registers; empty where this file knows
/// no instructions for them.
std::vector<ArithmeticRate> host_arithmetic();

}  // namespace fabricmark::calibrate
