#include "transport/host/staging.hpp"

#include <utility>

namespace fabricmark::transport {

namespace {

/// What lies before the slots; whole pages.
std::size_t states_bytes(std::size_t lanes) { return device::whole_pages((1 + lanes) * sizeof(LaneState)); }

}  // namespace

SharedStaging::SharedStaging(const device::Device& device, std::shared_ptr<SharedPages> pages,
                             std::size_t lanes)
    : pages_(std::move(pages)), lanes_(lanes), pinned_(device, slots()) {}

std::shared_ptr<SharedStaging> SharedStaging::make(const device::Device& device, std::size_t lanes,
                                                   std::size_t bytes) {
  auto pages = SharedPages::make(states_bytes(lanes) + device::whole_pages(bytes));
  // All zero, which is what the states begin with.
  return std::shared_ptr<SharedStaging>(new SharedStaging(device, std::move(pages), lanes));
}

std::shared_ptr<SharedStaging> SharedStaging::open(const device::Device& device, const SharedAddress& address,
                                                   std::size_t lanes) {
  auto pages = SharedPages::open(address);
  if (!pages) return nullptr;
  std::shared_ptr<SharedStaging> staging(new SharedStaging(device, std::move(pages), lanes));
  staging->state().is_taken.store(1, std::memory_order_release);
  return staging;
}

SharedStaging::State& SharedStaging::state() const {
  return *reinterpret_cast<State*>(pages_->span().data());
}

LaneState& SharedStaging::lane(std::size_t number) const {
  return reinterpret_cast<LaneState*>(pages_->span().data())[1 + number];
}

std::span<std::byte> SharedStaging::slots() const { return pages_->span().subspan(states_bytes(lanes_)); }

bool SharedStaging::is_taken() const { return state().is_taken.load(std::memory_order_acquire) != 0; }

}  // namespace fabricmark::transport
