#include "base/stack_room.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <thread>

namespace fabricmark {

namespace {

constexpr std::size_t kUsualBytes = std::size_t{8} << 20;
constexpr rlim_t kLeastBytes = rlim_t{1} << 20;

void widen_threads() {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return;
  std::size_t bytes = 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  if (bytes < kUsualBytes && pthread_attr_setstacksize(&attributes, kUsualBytes) == 0)
    pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

/// Whether this thread's stack may grow as far as programs need.
bool has_room() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kLeastBytes) return true;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, kUsualBytes);
  return setrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= kLeastBytes;
}

}  // namespace

int with_room_on_stack(const std::function<int()>& body) {
  widen_threads();
  if (has_room()) return body();
  int code = 0;
  std::thread([&] { code = body(); }).join();
  return code;
}

}  // namespace fabricmark
