#include "runtime/mailbox.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace fabricmark::runtime {

/// Either side's view of a message; a request's handle points to one.
struct Mailbox::Message {
  int from = 0;
  int tag = 0;
  std::size_t size = 0;
  std::size_t arrived = 0;            // of a wanted message that is taken: what was sent
  const std::byte* source = nullptr;  // sent message
  std::byte* destination = nullptr;   // wanted message
  Mailbox* home = nullptr;            // where a sent message is posted; null for a wanted one
  std::atomic<bool> taken = false;

  [[nodiscard]] bool is_like(const Message& other) const { return from == other.from && tag == other.tag; }
};

Request Mailbox::send(int from, std::span<const std::byte> bytes, int tag) {
  auto* message = new Message;
  message->from = from;
  message->tag = tag;
  message->size = bytes.size();
  message->source = bytes.data();
  message->home = this;
  const std::scoped_lock lock(mutex_);
  posted_.push_back(message);
  return {reinterpret_cast<std::uintptr_t>(message)};
}

Request Mailbox::receive(int from, std::span<std::byte> bytes, int tag) {
  auto* message = new Message;
  message->from = from;
  message->tag = tag;
  message->size = bytes.size();
  message->destination = bytes.data();
  wanted_.push_back(message);
  return {reinterpret_cast<std::uintptr_t>(message)};
}

bool Mailbox::test(Request& request) {
  auto* own = reinterpret_cast<Message*>(request.handle);
  if (own == nullptr) return true;
  if (own->home != nullptr) {
    if (!own->taken.load(std::memory_order_acquire)) return false;
    delete own;
    request = {};
    return true;
  }
  while (!own->taken.load(std::memory_order_relaxed)) {
    Message* const sent = take_posted(*own);
    if (sent == nullptr) return false;
    Message* const wanted = oldest_wanted(*own);
    wanted->arrived = sent->size;
    // Not memcpy, which takes no null pointers even for no bytes.
    std::copy_n(sent->source, std::min(sent->size, wanted->size), wanted->destination);
    sent->taken.store(true, std::memory_order_release);  // the sender deletes it from here on
    std::erase(wanted_, wanted);
    wanted->taken.store(true, std::memory_order_relaxed);
  }
  const int from = own->from;
  const std::size_t wanted = own->size;
  const std::size_t arrived = own->arrived;
  delete own;
  request = {};
  if (arrived != wanted) throw other_length(from, arrived, wanted);
  return true;
}

Mailbox::Message* Mailbox::oldest_wanted(const Message& like) const {
  return *std::ranges::find_if(wanted_, [&](const Message* message) { return message->is_like(like); });
}

Mailbox::Message* Mailbox::take_posted(const Message& like) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(posted_, [&](const Message* message) { return message->is_like(like); });
  if (found == posted_.end()) return nullptr;
  Message* const message = *found;
  posted_.erase(found);
  return message;
}

void Mailbox::cancel(Request& request) {
  auto* own = reinterpret_cast<Message*>(request.handle);
  if (own == nullptr) return;
  bool is_taken = false;
  if (own->home == nullptr) {
    std::erase(wanted_, own);
  } else {
    const std::scoped_lock lock(own->home->mutex_);
    is_taken = own->home->posted_.remove(own) == 0;
  }
  // A receiver that has just taken it out of the list still reads from it: wait until it has said so.
  while (is_taken && !own->taken.load(std::memory_order_acquire)) std::this_thread::yield();
  delete own;
  request = {};
}

}  // namespace fabricmark::runtime
