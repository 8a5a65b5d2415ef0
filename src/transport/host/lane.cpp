#include "transport/host/lane.hpp"

#include <algorithm>

namespace fabricmark::transport {

LanePlan LanePlan::of(std::size_t bytes, std::size_t piece_bytes, std::size_t most_slots) {
  LanePlan plan{.bytes = bytes, .chunk = piece_bytes == 0 ? bytes : std::min(piece_bytes, bytes)};
  plan.slots = most_slots == 0 ? plan.chunks() : std::min(most_slots, plan.chunks());
  return plan;
}

bool Lane::hand_over() {
  const std::size_t before = done_;
  while (done_ < started_ && copies_[done_ % plan_.slots].has_ended()) ++done_;
  if (done_ == before) return false;
  (side_ == Side::kSends ? state_->read : state_->written).store(done_, std::memory_order_release);
  return true;
}

bool Lane::start_one() {
  if (started_ == plan_.chunks()) return false;
  const std::size_t others =
      (side_ == Side::kSends ? state_->written : state_->read).load(std::memory_order_acquire);
  const std::size_t may_start = side_ == Side::kSends ? others + plan_.slots : others;
  if (started_ >= may_start) return false;
  const std::size_t start = started_ * plan_.chunk;
  const std::size_t bytes = std::min(plan_.chunk, plan_.bytes - start);
  std::byte* const slot = slots_ + started_ % plan_.slots * plan_.chunk;
  device::Buffer& memory = region_.buffer->device();
  device::Event& copied = copies_[started_ % plan_.slots];
  ++started_;
  if (side_ == Side::kSends) {
    memory.read(*queue_, slot, bytes, region_.offset + start, &copied);
  } else {
    memory.write(*queue_, slot, bytes, region_.offset + start, &copied);
  }
  return true;
}

bool Lane::has_ended() const {
  if (done_ < plan_.chunks()) return false;
  return side_ == Side::kReceives || state_->written.load(std::memory_order_acquire) == plan_.chunks();
}

std::size_t Lane::bytes_done() const { return std::min(done_ * plan_.chunk, plan_.bytes); }

bool Lane::wait_for_copy() {
  if (done_ == started_) return false;
  copies_[done_ % plan_.slots].wait();
  return true;
}

}  // namespace fabricmark::transport
