#include "base/blas_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"

namespace fabricmark {

namespace {
constexpr std::size_t kMegabyte = std::size_t{1} << 20;
// OpenBLAS's BUFFER_SIZE on x86-64, the largest of all, and room for what else is allocated meanwhile.
constexpr std::size_t kBytesPerThread = 128 * kMegabyte;
constexpr std::size_t kRoom = 16 * kMegabyte;
}  // namespace

void require_blas_memory(int threads) {
  thread_local bool has_had_enough = false;
  if (has_had_enough) return;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    const std::size_t bytes = static_cast<std::size_t>(std::max(1, threads)) * kBytesPerThread + kRoom;
    void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw environment_failure(
          fmt::format(
              "OpenBLAS needs {} MiB of address space for its products on {}, and the limit of {} MiB leaves "
              "less",
              bytes / kMegabyte, threads > 1 ? fmt::format("{} threads", threads) : "one thread",
              limit.rlim_cur / kMegabyte),
          threads > 1 ? "raise it with ulimit -v, or set OPENBLAS_NUM_THREADS=1" : "raise it with ulimit -v");
    }
    munmap(memory, bytes);
  }
  has_had_enough = true;
}

}  // namespace fabricmark
