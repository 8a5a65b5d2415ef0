#include "microbench/omb/watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::microbench::omb {

Watch::Watch(double timeout_seconds, int rank, std::string program)
    : timeout_(timeout_seconds), rank_(rank), program_(std::move(program)), thread_([this] { run(); }) {}

Watch::~Watch() {
  {
    const std::scoped_lock lock(mutex_);
    has_ended_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void Watch::run() {
  const auto look = std::chrono::duration<double>(std::min(timeout_.count() / 8, 0.5));
  // One rank is to speak: the launcher ends the others meanwhile.
  const auto patience = timeout_ + std::chrono::duration<double>(std::min(3 * rank_, 30));
  std::uint64_t seen = 0;
  auto since = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, look, [this] { return has_ended_; })) {
    const std::uint64_t now = steps_.load(std::memory_order_relaxed);
    if (now != seen || now % 2 == 0) {
      seen = now;
      since = std::chrono::steady_clock::now();
    } else if (std::chrono::steady_clock::now() - since > patience) {
      std::cerr << fmt::format(
          "{}: error: a call of MPI on rank {} has not returned in {:g} s; see whether the library delivers "
          "messages, or wait longer with --timeout\n",
          program_, rank_, timeout_.count());
      _exit(static_cast<int>(ExitCode::kEnvironment));
    }
  }
}

}  // namespace fabricmark::microbench::omb
