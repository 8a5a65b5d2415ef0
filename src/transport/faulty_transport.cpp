#include "transport/faulty_transport.hpp"

namespace fabricmark::transport {

namespace {

std::vector<Message> halved(std::span<const Message> messages) {
  std::vector<Message> halves(messages.begin(), messages.end());
  for (Message& message : halves) message.bytes /= 2;
  return halves;
}

}  // namespace

FaultyTransport::FaultyTransport(std::unique_ptr<Transport> transport, const runtime::Fault& fault,
                                 const int* repetition)
    : Transport(transport->ranks()),
      transport_(std::move(transport)),
      kind_(fault.kind),
      is_everywhere_(!fault.rank),
      only_in_(fault.repetition),
      repetition_(repetition) {}

void FaultyTransport::send_copies(std::vector<Message>& messages, const device::Events& after,
                                  network::MessageFault fault) {
  for (const device::Event& event : after) event.wait();
  const std::size_t all = total_bytes(messages);
  if (copies_bytes_ < all) {
    copies_ = transport_->allocate(all);
    copies_bytes_ = all;
  }
  std::size_t offset = 0;
  for (Message& message : messages) {
    std::vector<std::byte> copy(message.bytes);
    if (!copy.empty()) {
      message.buffer->read(message.offset, copy);
      network::corrupt(copy, {}, fault);
      copies_->write(offset, copy);
    }
    message.buffer = copies_.get();
    message.offset = offset;
    offset += message.bytes;
  }
}

device::Event FaultyTransport::start(std::span<const Message> sends, std::span<const Message> receives,
                                     const device::Events& after) {
  if (only_in_ && (repetition_ == nullptr || *repetition_ != *only_in_)) {
    return transport_->start(sends, receives, after);
  }
  std::vector<Message> corrupted(sends.begin(), sends.end());
  const bool halves_receives = kind_ == runtime::Fault::Kind::kHalf && is_everywhere_;
  if (corrupted.empty() && !halves_receives) return transport_->start(sends, receives, after);
  switch (kind_) {
    case runtime::Fault::Kind::kLost:
      corrupted.pop_back();
      break;
    case runtime::Fault::Kind::kLate:
      // Messages of a series lie one behind the other: the one before was sent earlier.
      if (corrupted.back().offset >= corrupted.back().bytes) {
        corrupted.back().offset -= corrupted.back().bytes;
      } else if (corrupted.size() > 1 && corrupted[corrupted.size() - 2].bytes == corrupted.back().bytes) {
        corrupted.back().buffer = corrupted[corrupted.size() - 2].buffer;
        corrupted.back().offset = corrupted[corrupted.size() - 2].offset;
      }
      break;
    case runtime::Fault::Kind::kSwapped:
      std::swap(corrupted.front().offset, corrupted.back().offset);
      std::swap(corrupted.front().buffer, corrupted.back().buffer);
      break;
    case runtime::Fault::Kind::kBlank:
    case runtime::Fault::Kind::kFlipped:
      send_copies(corrupted, after, *network::message_fault({.kind = kind_}));
      break;
    case runtime::Fault::Kind::kHalf:
      if (is_everywhere_) return transport_->start(halved(sends), halved(receives), after);
      send_copies(corrupted, after, network::MessageFault::kHalf);
      break;
    case runtime::Fault::Kind::kDead:
      corrupted.clear();
      break;
    default:
      break;
  }
  return transport_->start(corrupted, receives, after);
}

}  // namespace fabricmark::transport
