#include "fabric/messages.hpp"

#include <fmt/format.h>

namespace fabricmark::fabric {

namespace {
constexpr std::size_t kLongMessage = std::size_t{32} << 10;
}  // namespace

Messages::~Messages() {
  for (Pending& pending : pending_) ranks_.cancel(pending.request);
}

std::size_t Messages::send(int to, std::span<const std::byte> bytes, int tag) {
  pending_.push_back({ranks_.start_send(to, bytes, tag), to, bytes.size(), false});
  return pending_.size() - 1;
}

std::size_t Messages::receive(int from, std::span<std::byte> bytes, int tag) {
  pending_.push_back({ranks_.start_receive(from, bytes, tag), from, bytes.size(), true});
  return pending_.size() - 1;
}

bool Messages::is_done(std::size_t position) {
  Pending& pending = pending_[position];
  return pending.request.handle == 0 || ranks_.test(pending.request);
}

void Messages::wait(std::size_t position) {
  while (!is_done(position)) {
    // Between the ranks of a process a message moves when its receiver looks for it: ranks that only looked
    // after their own sends would wait for each other for ever.
    for (std::size_t i = 0; !pending_[position].is_receive && i < pending_.size(); ++i) {
      if (pending_[i].is_receive) is_done(i);
    }
    check_deadline(position);
  }
}

void Messages::wait_all() {
  for (std::size_t i = 0; i < pending_.size(); ++i) wait(i);
}

void Messages::check_deadline(std::size_t position) {
  if (!patience_.is_over()) return;
  const Pending& pending = pending_[position];
  throw runtime::DeadlineError(fmt::format("no sign of a message of {} bytes {} rank {} in {} s",
                                           pending.bytes, pending.is_receive ? "from" : "to", pending.peer,
                                           timeout_.count()));
}

void exchange_host_messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting,
                            std::span<const HostMessage> sends, std::span<const HostMessage> receives) {
  Messages messages(ranks, timeout_seconds, waiting);
  messages.reserve(sends.size() + receives.size());
  for (const HostMessage& message : receives) messages.receive(message.peer, message.bytes, message.tag);
  for (const HostMessage& message : sends) {
    const std::size_t position = messages.send(message.peer, message.bytes, message.tag);
    // Long messages leave one after the other: side by side they only take the memory from each other. All
    // ranks have posted their receives by then, so that none waits for another in a circle.
    if (message.bytes.size() >= kLongMessage) messages.wait(position);
  }
  messages.wait_all();
}

}  // namespace fabricmark::fabric
