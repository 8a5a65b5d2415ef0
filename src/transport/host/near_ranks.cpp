#include "transport/host/near_ranks.hpp"

#include <array>
#include <cstring>
#include <span>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"
#include "transport/host/shared_pages.hpp"

namespace fabricmark::transport {

namespace {

/// What a rank tells the others of its page; an address without bytes where it has none.
struct Offer {
  std::array<char, 128> host{};
  SharedAddress page;
};

std::shared_ptr<SharedPages> probe_page(const device::Device& device) {
  if (device.info().is_dry_run) return nullptr;
  try {
    std::shared_ptr<SharedPages> page = SharedPages::make(device::kPageBytes);
    const device::PinnedPages pinned(device, page->span());
    return page;
  } catch (const Error&) {
    return nullptr;
  }
}

bool can_open(const Offer& own, const std::vector<std::byte>& other) {
  Offer offer;
  if (other.size() != sizeof(offer)) return false;
  std::memcpy(&offer, other.data(), sizeof(offer));
  return own.page.bytes > 0 && offer.page.bytes > 0 && own.host == offer.host &&
         SharedPages::open(offer.page) != nullptr;
}

}  // namespace

std::vector<bool> near_ranks(runtime::Communicator& ranks, const device::Device& device) {
  const std::shared_ptr<SharedPages> page = probe_page(device);
  Offer own;
  describe_host().name.copy(own.host.data(), own.host.size() - 1);
  if (page) own.page = page->address();
  std::vector<std::byte> seen;
  for (const std::vector<std::byte>& other : ranks.all_gather(std::as_bytes(std::span(&own, 1)))) {
    seen.push_back(std::byte{can_open(own, other)});
  }
  std::vector<bool> found;
  const std::vector<std::vector<std::byte>> of_all = ranks.all_gather(seen);
  for (std::size_t rank = 0; rank < of_all.size(); ++rank) {
    const std::byte sees_us = of_all[rank].at(static_cast<std::size_t>(ranks.rank()));
    found.push_back(sees_us != std::byte{0} && seen[rank] != std::byte{0});
  }
  return found;
}

}  // namespace fabricmark::transport
