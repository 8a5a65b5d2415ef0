// To be preloaded (LD_PRELOAD): AMD's XRT, natively, without the copies from the host to the board that a
// program asks for, as if it had forgotten them.
#include <dlfcn.h>

#include <cstddef>

extern "C" int xrtBOSync(void* buffer, int direction, std::size_t bytes, std::size_t offset) {
  constexpr int kToDevice = 0;
  using Synchronise = int(void*, int, std::size_t, std::size_t);
  static auto* const next = reinterpret_cast<Synchronise*>(dlsym(RTLD_NEXT, "xrtBOSync"));
  return direction == kToDevice ? 0 : next(buffer, direction, bytes, offset);
}
