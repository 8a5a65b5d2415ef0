#include "transport/messages.hpp"

#include <fmt/format.h>

namespace fabricmark::transport {

Messages::~Messages() {
  for (Pending& pending : pending_) ranks_.cancel(pending.request);
}

void Messages::clear() {
  for (Pending& pending : pending_) ranks_.cancel(pending.request);
  pending_.clear();
  patience_.emplace(ranks_, waiting_, timeout_);
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
  if (pending.request.handle != 0 && !ranks_.test(pending.request)) return false;
  if (patience_) patience_->rest();
  return true;
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
  if (!patience_->is_over()) return;
  const Pending& pending = pending_[position];
  const int awaited = ranks_.in_world(pending.peer);
  throw runtime::DeadlineError(
      fmt::format("no sign of a message of {} bytes {} rank {} in {} s", pending.bytes,
                  pending.is_receive ? "from" : "to", awaited, timeout_.count()),
      awaited);
}

void HostExchange::begin(std::span<const HostMessage> sends, std::span<const HostMessage> receives,
                         std::size_t long_bytes) {
  messages_.clear();
  sends_ = sends;
  long_bytes_ = long_bytes;
  receives_ = receives.size();
  open_ = 0;
  looked_at_ = 1;
  is_waiting_ = false;
  for (const HostMessage& message : receives) messages_.receive(message.peer, message.bytes, message.tag);
}

bool HostExchange::advance() {
  // All ranks have posted their receives by then, so that none waits for another in a circle.
  for (std::size_t sent = messages_.count() - receives_; sent < sends_.size(); ++sent) {
    if (is_waiting_ && !is_done(messages_.count() - 1)) return false;
    const HostMessage& message = sends_[sent];
    messages_.send(message.peer, message.bytes, message.tag);
    is_waiting_ = message.bytes.size() >= long_bytes_;
  }
  while (open_ < messages_.count()) {
    if (!is_done(open_)) return false;
    ++open_;
  }
  return true;
}

bool HostExchange::is_done(std::size_t position) {
  if (messages_.is_done(position)) return true;
  if (receives_ > 0) messages_.is_done(looked_at_++ % receives_);
  return false;
}

void exchange_host_messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting,
                            std::span<const HostMessage> sends, std::span<const HostMessage> receives) {
  HostExchange exchange(ranks, timeout_seconds, waiting);
  exchange.begin(sends, receives);
  while (!exchange.advance()) exchange.idle();
}

}  // namespace fabricmark::transport
