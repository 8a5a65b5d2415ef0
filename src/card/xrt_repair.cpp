// To be preloaded with Debian's XRT 2.13, whose files stay as they are. Faults of its shim for emulation:
// - What allocates room for messages (alloc_void) drops the result of realloc, and writes to what was
//   released. So a block that it allocates has room for all that follows, and its realloc never moves it.
// - A device that loads a bitstream (resetProgram) unmaps what the process has mapped of all its devices:
//   commands of another one then lay in one place, or in none. So it unmaps nothing.
// - Each device has a lock of its own, and all of a process share the number of the next buffer, the list of
//   what is mapped, and that of devices. So who takes a lock in the shim takes one of the whole process
//   before it; but for its schedulers, a thread of each device, which is waited for under that lock.
// - Each device that is closed shuts protobuf down, which others still use. So nothing shuts it down.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

extern "C" void* __libc_malloc(std::size_t bytes);                // NOLINT: glibc's names
extern "C" void* __libc_realloc(void* block, std::size_t bytes);  // NOLINT
extern "C" int __pthread_mutex_lock(pthread_mutex_t* mutex);      // NOLINT
extern "C" int __pthread_mutex_unlock(pthread_mutex_t* mutex);    // NOLINT

namespace {

// More than a message (SW_EMU_PACKET_SIZE, 8 MiB) and its fields; pages come when they are used.
constexpr std::size_t kRoom = std::size_t{64} << 20;
constexpr std::uintptr_t kLongestAllocation = 256;  // of the function's instructions
constexpr std::size_t kMostBlocks = 64;

std::array<std::atomic<void*>, kMostBlocks> blocks{};
std::atomic<std::size_t> count{0};

/// Addresses of instructions.
struct Code {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  [[nodiscard]] bool has(const void* address) const {
    const auto number = reinterpret_cast<std::uintptr_t>(address);
    return number >= begin.load(std::memory_order_relaxed) && number < end.load(std::memory_order_relaxed);
  }
  /// From one function of a library up to another one.
  void take(void* library, const char* first, const char* after) {
    begin = reinterpret_cast<std::uintptr_t>(dlsym(library, first));
    end = reinterpret_cast<std::uintptr_t>(dlsym(library, after));
  }
};
Code shim, allocation, schedulers, reset;
pthread_mutex_t of_process = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/// Locks of the shim that this thread holds: an unlock may be the last jump of a function, after which nobody
/// knows who asked for it.
constexpr std::size_t kMostHeld = 16;
thread_local std::array<pthread_mutex_t*, kMostHeld> held{};
thread_local std::size_t held_count = 0;

int note_code(dl_phdr_info* object, std::size_t /*bytes*/, void* base) {
  if (object->dlpi_addr != reinterpret_cast<std::uintptr_t>(base)) return 0;
  for (const auto& part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    shim.begin = object->dlpi_addr + part.p_vaddr;
    shim.end = shim.begin + part.p_memsz;
  }
  return 1;
}

}  // namespace

extern "C" void* dlopen(const char* name, int flags) noexcept {
  static auto* const next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  void* const library = next(name, flags);
  if (library == nullptr || name == nullptr || std::strstr(name, "emu") == nullptr) return library;
  for (const char* symbol :
       {"_ZN12xclcpuemhal29CpuemShim10alloc_voidEm", "_ZN11xclhwemhal28HwEmShim10alloc_voidEm"}) {
    void* const found = dlsym(library, symbol);
    if (found == nullptr) continue;
    allocation.begin = reinterpret_cast<std::uintptr_t>(found);
    allocation.end = allocation.begin + kLongestAllocation;
    schedulers.take(library, "_ZN12xclcpuemhal210xocl_schedC1EPNS_11SWSchedulerE",
                    "_ZN12xclcpuemhal211SWSchedulerC1EPNS_9CpuemShimE");
    reset.take(library, "_ZN12xclcpuemhal29CpuemShim12resetProgramEb",
               "_ZN12xclcpuemhal29CpuemShim13xclLoadXclBinEPK4axlf");
    Dl_info where{};
    if (dladdr(found, &where) != 0) dl_iterate_phdr(note_code, where.dli_fbase);
  }
  return library;
}

extern "C" void* malloc(std::size_t bytes) noexcept {
  if (!allocation.has(__builtin_return_address(0))) return __libc_malloc(bytes);
  void* const block = __libc_malloc(bytes > kRoom ? bytes : kRoom);
  if (const std::size_t place = count++; place < kMostBlocks) blocks[place] = block;
  return block;
}

extern "C" void* realloc(void* block, std::size_t bytes) noexcept {
  const std::size_t known = count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < known && i < kMostBlocks; ++i) {
    if (blocks[i] == block && block != nullptr && bytes <= kRoom) return block;
  }
  return __libc_realloc(block, bytes);
}

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const void* const caller = __builtin_return_address(0);
  if (!shim.has(caller) || schedulers.has(caller) || held_count == kMostHeld)
    return __pthread_mutex_lock(mutex);
  __pthread_mutex_lock(&of_process);
  const int status = __pthread_mutex_lock(mutex);
  if (status == 0)
    held[held_count++] = mutex;
  else
    __pthread_mutex_unlock(&of_process);
  return status;
}

extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const int status = __pthread_mutex_unlock(mutex);
  for (std::size_t i = held_count; i-- > 0;) {
    if (held[i] != mutex) continue;
    for (--held_count; i < held_count; ++i) held[i] = held[i + 1];
    __pthread_mutex_unlock(&of_process);
    break;
  }
  return status;
}

extern "C" int munmap(void* address, std::size_t bytes) noexcept {
  if (reset.has(__builtin_return_address(0))) return 0;
  return static_cast<int>(syscall(SYS_munmap, address, bytes));
}

namespace google::protobuf {
void ShutdownProtobufLibrary() {}
}  // namespace google::protobuf
