#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"

namespace fabricmark::device {

class Device;
class GuardZone;

/// Bytes around a buffer that something has changed.
struct BrokenGuard {
  std::string buffer;        ///< "'result' of the kernel multiply", or how large it is
  bool is_behind = false;    ///< else before it
  std::size_t nearest = 0;   ///< bytes between the buffer and the nearest of them
  std::size_t farthest = 0;  ///< and the farthest
  std::size_t changed = 0;
  unsigned char expected = 0;  ///< of the nearest
  unsigned char found = 0;
  /// "4 bytes behind 'result' of the kernel multiply, 0 to 3 bytes away from it".
  [[nodiscard]] std::string place() const;
};

/// Zones with a pattern before and behind each buffer of a device, which kernels have to leave as they are.
/// They are a part of the buffer's memory, so that what runs over an end meets them first, and not another
/// buffer or the runtime's own data.
class Guards {
 public:
  /// What a buffer is made of; `zone` is null where it has none.
  struct Guarded {
    std::shared_ptr<backend::Memory> memory;
    std::shared_ptr<GuardZone> zone;
  };
  /// Memory with zones around it. Without where the device has no room for them, or where it is a board of
  /// which nobody knows how it takes parts of a memory.
  Guarded allocate(const Device& device, std::size_t bytes, MemoryKind kind, const Placement& placement);
  /// From now on zones are made.
  void begin() { are_on_ = true; }
  /// After the last look: buffers that are released from here on are not looked at, as nobody would hear of
  /// it.
  void end();
  /// Looks at all zones, those of buffers that were released since then among them, and mends what is
  /// broken. No command may be in progress.
  std::vector<BrokenGuard> broken();
  /// Bytes that are looked at, and buffers that have no zones.
  [[nodiscard]] std::size_t checked_bytes() const;
  [[nodiscard]] std::size_t without() const { return without_; }

  /// What zones share, and what outlives them: findings in released ones.
  struct Findings;

 private:
  bool are_on_ = false;
  std::size_t without_ = 0;
  std::vector<std::weak_ptr<GuardZone>> zones_;
  std::shared_ptr<Findings> findings_;
};

/// Tells the buffer's zone which argument of a kernel it is. Null: nothing.
void name_guarded(const std::shared_ptr<GuardZone>& zone, const std::string& kernel,
                  const std::string& argument);

}  // namespace fabricmark::device
