#include "transport/mpi/lending.hpp"

#include <algorithm>

namespace fabricmark::transport {

namespace {

constexpr std::size_t kPiece = runtime::Communicator::kLongestPiece;

std::span<std::byte> bytes_at(void* address, std::size_t bytes) {
  return {static_cast<std::byte*>(address), bytes};
}

}  // namespace

void Lending::lend(std::span<const Message> messages) {
  messages_.clear();
  if (transport_.passing_ == Passing::kHandle) {
    give_handles(messages);
    return;
  }
  if (transport_.passing_ == Passing::kMapped) {
    map(messages);
    return;
  }
  for (const Message& message : messages) {
    auto* const first = static_cast<std::byte*>(message.buffer->device().address());
    messages_.push_back({bytes_at(first + message.offset, message.bytes), message.peer, message.tag});
  }
}

void Lending::map(std::span<const Message> messages) {
  runs_.clear();
  std::vector<std::size_t> run_of;
  for (const Message& message : messages) {
    const bool goes_on = !runs_.empty() && runs_.back().buffer == message.buffer &&
                         runs_.back().offset + runs_.back().bytes == message.offset;
    if (!goes_on) runs_.push_back({{message.buffer, message.offset, 0}});
    runs_.back().bytes += message.bytes;
    run_of.push_back(runs_.size() - 1);
  }
  for (Run& run : runs_) {
    if (run.bytes > 0) run.data = run.buffer->device().map(queue_, for_writing_, run.bytes, run.offset);
  }
  queue_.finish();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const Run& run = runs_[run_of[i]];
    std::byte* const first = message.bytes == 0 ? nullptr : run.data + (message.offset - run.offset);
    messages_.push_back({bytes_at(first, message.bytes), message.peer, message.tag});
  }
}

bool Lending::can_begin_at(std::size_t offset) const {
  return offset % transport_.device_.info().sub_buffer_alignment_bytes == 0;
}

template <typename View>
void Lending::give_views(const Message& message, const View& of) {
  for (std::size_t start = 0; start < message.bytes; start += kPiece) {
    const std::size_t bytes = std::min(kPiece, message.bytes - start);
    views_.push_back(of(start, bytes));
    messages_.push_back({bytes_at(views_.back().address(), bytes), message.peer, message.tag});
  }
  if (message.bytes == 0) messages_.push_back({{}, message.peer, message.tag});
}

void Lending::give_handles(std::span<const Message> messages) {
  views_.clear();
  moved_.clear();
  std::size_t room = 0;
  const std::size_t step = transport_.device_.info().sub_buffer_alignment_bytes;
  for (const Message& message : messages) {
    if (message.bytes == 0 || can_begin_at(message.offset)) continue;
    moved_.push_back({message, room});
    room += (message.bytes + step - 1) / step * step;
  }
  if (room > 0 && (!aside_ || aside_->bytes() < room)) {
    aside_.emplace(transport_.device_, room, transport_.memory_);
  }
  auto next = moved_.begin();
  for (const Message& message : messages) {
    if (message.bytes == 0 || can_begin_at(message.offset)) {
      give_views(message, [&](std::size_t start, std::size_t bytes) {
        const std::size_t offset = message.offset + start;
        return offset == 0 ? message.buffer->device() : message.buffer->part(offset, bytes);
      });
      continue;
    }
    const std::size_t place = next->place;
    ++next;
    if (!for_writing_) {
      message.buffer->device().copy_to(queue_, aside_->device(), message.bytes, message.offset, place);
    }
    give_views(message,
               [&](std::size_t start, std::size_t bytes) { return aside_->part(place + start, bytes); });
  }
  if (!for_writing_ && !moved_.empty()) queue_.finish();
}

void Lending::unmap() {
  for (const Run& run : runs_) {
    if (run.data != nullptr) run.buffer->device().unmap(queue_, run.data);
  }
  if (!runs_.empty()) queue_.finish();
  runs_.clear();
}

void Lending::take_back() {
  unmap();
  for (const Moved& moved : moved_) {
    if (!for_writing_) break;
    const Message& message = moved.message;
    aside_->device().copy_to(queue_, message.buffer->device(), message.bytes, moved.place, message.offset);
  }
  if (for_writing_ && !moved_.empty()) queue_.finish();
  moved_.clear();
  views_.clear();
}

void Lending::give_up() {
  unmap();
  moved_.clear();
  views_.clear();
}

}  // namespace fabricmark::transport
