#include "benchmarks/common/stack.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include "base/error.hpp"

namespace fabricmark::common {

namespace {

/// Bytes of the stack that a runtime's threads have by default.
std::size_t thread_stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

}  // namespace

void require_stack(const runtime::Context& context, std::size_t local_bytes, const std::string& parameter) {
  const device::DeviceInfo& info = context.device().info();
  // Intel's emulator makes stacks as large as a kernel needs.
  if (info.device_class != device::DeviceClass::kCpu) return;
  constexpr std::size_t kForOthers = std::size_t{512} << 10U;  // what else is on the stack
  const std::size_t stack = thread_stack_bytes();
  if (local_bytes + kForOthers <= stack) return;
  throw bad_use(
      fmt::format("{} = {} needs {:.3g} MB of stack on {}, whose threads have {:.3g} MB", parameter,
                  context.parameters().count(parameter), static_cast<double>(local_bytes + kForOthers) / 1e6,
                  info.name, static_cast<double>(stack) / 1e6),
      fmt::format("choose a smaller {}", parameter));
}

}  // namespace fabricmark::common
