#include "harness/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "device/error.hpp"

namespace fabricmark::harness {

/// Either side's view of a message; a request's handle points to one.
struct Mailbox::Message {
  int from = 0;
  int tag = 0;
  std::size_t size = 0;
  const std::byte* source = nullptr;  // sent message
  std::byte* destination = nullptr;   // wanted message
  Mailbox* home = nullptr;            // where a sent message is posted
  std::atomic<bool> taken = false;
};

Request Mailbox::send(int from, std::span<const std::byte> bytes, int tag) {
  auto* message = new Message;
  message->from = from;
  message->tag = tag;
  message->size = bytes.size();
  message->source = bytes.data();
  message->home = this;
  const std::lock_guard lock(mutex_);
  posted_.push_back(message);
  return {reinterpret_cast<std::uintptr_t>(message)};
}

Request Mailbox::receive(int from, std::span<std::byte> bytes, int tag) {
  auto* message = new Message;
  message->from = from;
  message->tag = tag;
  message->size = bytes.size();
  message->destination = bytes.data();
  return {reinterpret_cast<std::uintptr_t>(message)};
}

bool Mailbox::test(Request& request) {
  auto* own = reinterpret_cast<Message*>(request.handle);
  if (own == nullptr) return true;
  if (own->source != nullptr) {
    if (!own->taken.load(std::memory_order_acquire)) return false;
    delete own;
    request = {};
    return true;
  }
  Message* sent = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Message* message) {
      return message->from == own->from && message->tag == own->tag;
    });
    if (found == posted_.end()) return false;
    sent = *found;
    posted_.erase(found);
  }
  const std::size_t arrived = sent->size;
  std::memcpy(own->destination, sent->source, std::min(arrived, own->size));
  sent->taken.store(true, std::memory_order_release);  // the sender deletes it from here on
  const int from = own->from;
  const std::size_t wanted = own->size;
  delete own;
  request = {};
  if (arrived != wanted) {
    throw environment_failure(
        fmt::format("rank {} sent {} bytes where {} were expected", from, arrived, wanted),
        "start all ranks with the same options");
  }
  return true;
}

void Mailbox::cancel(Request& request) {
  auto* own = reinterpret_cast<Message*>(request.handle);
  if (own == nullptr) return;
  if (own->home != nullptr) {
    const std::lock_guard lock(own->home->mutex_);
    own->home->posted_.remove(own);
  }
  // A receiver that has just taken it out of the list still reads from it: wait until it has said so.
  const bool is_being_read = own->home != nullptr && !own->taken.load(std::memory_order_acquire);
  if (!is_being_read) delete own;  // otherwise it is left to the end of the process, as the run is over
  request = {};
}

}  // namespace fabricmark::harness
