#include "transport/host/host_steps.hpp"

namespace fabricmark::transport {

namespace {

/// Calls `action(message, place)` for messages that lie one behind the other from `staged` on.
template <typename Action>
void each_staged(std::span<const Message> messages, std::size_t staged, Action&& action) {
  for (const Message& message : messages) {
    if (message.bytes > 0) action(message, staged);
    staged += message.bytes;
  }
}

}  // namespace

std::vector<Steps::Step> HostSteps::steps() const {
  return {{"read", Place::kSent}, {"message", Place::kReceived}, {"write", Place::kArrived}};
}

void HostSteps::take(std::size_t step, std::span<const Message> sends, std::span<const Message> receives,
                     std::size_t staged) {
  if (step == 0) read(sends, staged);
  if (step == 1) message(sends, receives, staged);
  if (step == 2) write(receives, staged);
}

std::span<std::byte> HostSteps::staged(Place place, std::size_t bytes) {
  device::PinnedMemory& memory = place == Place::kSent ? outgoing_ : incoming_;
  memory.reserve(transport_.device_, bytes);
  return {memory.data(), bytes};
}

void HostSteps::read(std::span<const Message> sends, std::size_t staged) {
  outgoing_.reserve(transport_.device_, staged + total_bytes(sends));
  each_staged(sends, staged, [&](const Message& message, std::size_t place) {
    message.buffer->device().read(transport_.reads_, outgoing_.data() + place, message.bytes, message.offset);
  });
  transport_.reads_.finish();
}

void HostSteps::message(std::span<const Message> sends, std::span<const Message> receives,
                        std::size_t staged) {
  outgoing_.reserve(transport_.device_, staged + total_bytes(sends));
  incoming_.reserve(transport_.device_, staged + total_bytes(receives));
  Messages messages(transport_.ranks(), transport_.timeout_, transport_.waiting_);
  each_staged(receives, staged, [&](const Message& message, std::size_t place) {
    messages.receive(message.peer, {incoming_.data() + place, message.bytes}, message.tag);
  });
  each_staged(sends, staged, [&](const Message& message, std::size_t place) {
    messages.send(message.peer, {outgoing_.data() + place, message.bytes}, message.tag);
  });
  messages.wait_all();
}

void HostSteps::write(std::span<const Message> receives, std::size_t staged) {
  incoming_.reserve(transport_.device_, staged + total_bytes(receives));
  each_staged(receives, staged, [&](const Message& message, std::size_t place) {
    message.buffer->device().write(transport_.writes_, incoming_.data() + place, message.bytes,
                                   message.offset);
  });
  transport_.writes_.finish();
}

}  // namespace fabricmark::transport
