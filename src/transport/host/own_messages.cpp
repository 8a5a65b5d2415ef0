#include "transport/host/own_messages.hpp"

#include <algorithm>

namespace fabricmark::transport {

namespace {

bool may_be_copied(const Message& from, const Message& to) {
  if (from.buffer->space() != to.buffer->space()) return false;
  const bool overlaps =
      from.buffer == to.buffer && from.offset < to.offset + to.bytes && to.offset < from.offset + from.bytes;
  return !overlaps;
}

}  // namespace

std::vector<std::pair<const Message*, const Message*>> message_pairs(std::span<const Message> sends,
                                                                     std::span<const Message> receives) {
  std::vector<std::pair<const Message*, const Message*>> pairs;
  if (sends.size() != receives.size()) return {};
  std::vector<bool> is_taken(receives.size());
  for (const Message& send : sends) {
    std::size_t i = 0;
    while (i < receives.size() && (is_taken[i] || receives[i].tag != send.tag)) ++i;
    if (i == receives.size() || receives[i].bytes != send.bytes) return {};
    is_taken[i] = true;
    pairs.emplace_back(&send, &receives[i]);
  }
  return pairs;
}

OwnMessages::Split OwnMessages::split(std::span<const Message> sends, std::span<const Message> receives) {
  const auto is_own = [&](const Message& message) { return message.peer == rank_; };
  if (std::ranges::none_of(sends, is_own) && std::ranges::none_of(receives, is_own)) return {};
  Split split;
  for (const Message& message : sends) (is_own(message) ? split.sends : split.other_sends).push_back(message);
  for (const Message& message : receives)
    (is_own(message) ? split.receives : split.other_receives).push_back(message);
  const auto pairs = message_pairs(split.sends, split.receives);
  const bool are_copied = !pairs.empty() && std::ranges::all_of(pairs, [&](const auto& pair) {
    const auto open = open_.find(pair.first->tag);
    return (open == open_.end() || open->second == 0) && may_be_copied(*pair.first, *pair.second);
  });
  if (are_copied) return split;
  for (const Message& message : split.sends) open_[message.tag] += message.bytes > 0 ? 1 : 0;
  for (const Message& message : split.receives) open_[message.tag] -= message.bytes > 0 ? 1 : 0;
  return {};
}

void OwnTransfer::begin() {
  for (const auto& [from, to] : message_pairs(sends(), receives())) {
    if (from->bytes == 0) continue;
    from->buffer->device().copy_to(queue_, to->buffer->device(), from->bytes, from->offset, to->offset);
  }
  queue_.flush();
}

bool OwnTransfer::advance() {
  queue_.finish();
  return true;
}

void OwnTransfer::give_up() noexcept {
  try {
    queue_.finish();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
}

}  // namespace fabricmark::transport
