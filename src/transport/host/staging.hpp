#pragma once

#include <atomic>
#include <memory>

#include "device/memory.hpp"
#include "transport/host/lane.hpp"
#include "transport/host/shared_pages.hpp"

namespace fabricmark::transport {

/// Staging memory of a sender that the receiver's device reaches as well: whether the receiver has it, the
/// states of lanes, and from the next page on the slots, which each side's runtime pins.
class SharedStaging {
 public:
  /// For so many lanes and bytes of slots. Throws Error (environment) where there is no room.
  static std::shared_ptr<SharedStaging> make(const device::Device& device, std::size_t lanes,
                                             std::size_t bytes);
  /// That of another rank, with so many lanes; null where its maker has given it up.
  static std::shared_ptr<SharedStaging> open(const device::Device& device, const SharedAddress& address,
                                             std::size_t lanes);

  [[nodiscard]] const SharedAddress& address() const { return pages_->address(); }
  [[nodiscard]] std::size_t lanes() const { return lanes_; }
  [[nodiscard]] std::span<std::byte> slots() const;
  [[nodiscard]] LaneState& lane(std::size_t number) const;
  /// The receiver's runtime has pinned it. Nothing may lie in it before: pinning may write to it.
  [[nodiscard]] bool is_taken() const;

 private:
  struct State {
    alignas(64) std::atomic<std::uint64_t> is_taken{0};
  };
  SharedStaging(const device::Device& device, std::shared_ptr<SharedPages> pages, std::size_t lanes);
  [[nodiscard]] State& state() const;

  std::shared_ptr<SharedPages> pages_;
  std::size_t lanes_;
  device::PinnedPages pinned_;
};

}  // namespace fabricmark::transport
