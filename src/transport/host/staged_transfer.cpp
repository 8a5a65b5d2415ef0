#include "transport/host/staged_transfer.hpp"

#include <algorithm>
#include <thread>

namespace fabricmark::transport {

StagedTransfer::StagedTransfer(HostTransport& transport)
    : transport_(transport), messages_(transport.ranks(), transport.timeout_, transport.waiting_) {}

void StagedTransfer::cut(std::span<const Message> messages, std::vector<Chunk>& chunks) const {
  chunks.clear();
  transport_.for_each_piece(
      messages, [&](const Message& message, std::size_t base, std::size_t start, std::size_t bytes) {
        chunks.push_back({&message, start, bytes, base + start});
      });
}

void StagedTransfer::begin() {
  outgoing_.reserve(transport_.device_, total_bytes(sends()));
  incoming_.reserve(transport_.device_, total_bytes(receives()));
  cut(sends(), out_);
  cut(receives(), in_);
  sent_ = written_ = open_ = looked_at_ = 0;
  written_all_ = {};
  messages_.clear();
  for (const Chunk& chunk : in_) {
    messages_.receive(chunk.message->peer, {incoming_.data() + chunk.staged, chunk.bytes},
                      chunk.message->tag);
  }
  if (is_eager_) return send_at_once();
  copied_.assign(out_.size(), {});
  for (std::size_t i = 0; i < out_.size(); ++i) {
    const Chunk& chunk = out_[i];
    chunk.message->buffer->device().read(transport_.reads_, outgoing_.data() + chunk.staged, chunk.bytes,
                                         chunk.message->offset + chunk.start, &copied_[i]);
  }
  if (!out_.empty()) transport_.reads_.flush();
}

void StagedTransfer::send_at_once() {
  for (const Chunk& chunk : out_) {
    chunk.message->buffer->device().read(transport_.reads_, outgoing_.data() + chunk.staged, chunk.bytes,
                                         chunk.message->offset + chunk.start);
  }
  if (!out_.empty()) transport_.reads_.finish();
  for (; sent_ < out_.size(); ++sent_) {
    const Chunk& chunk = out_[sent_];
    messages_.send(chunk.message->peer, {outgoing_.data() + chunk.staged, chunk.bytes}, chunk.message->tag);
  }
}

bool StagedTransfer::advance() {
  for (; sent_ < out_.size() && copied_[sent_].has_ended(); ++sent_) {
    const Chunk& chunk = out_[sent_];
    messages_.send(chunk.message->peer, {outgoing_.data() + chunk.staged, chunk.bytes}, chunk.message->tag);
  }
  const std::size_t before = written_;
  for (; written_ < in_.size() && messages_.is_done(written_); ++written_) {
    const Chunk& chunk = in_[written_];
    const bool is_last = written_ + 1 == in_.size() && !is_eager_;
    chunk.message->buffer->device().write(transport_.writes_, incoming_.data() + chunk.staged, chunk.bytes,
                                          chunk.message->offset + chunk.start,
                                          is_last ? &written_all_ : nullptr);
  }
  if (written_ > before && !is_eager_) transport_.writes_.flush();
  if (sent_ < out_.size() || written_ < in_.size()) return false;
  for (open_ = std::max(open_, in_.size()); open_ < messages_.count(); ++open_) {
    if (!messages_.is_done(open_)) return false;
  }
  if (is_eager_ && !in_.empty()) transport_.writes_.finish();
  return written_all_.has_ended();
}

void StagedTransfer::idle() {
  // Between the ranks of a process a message moves when its receiver looks for it.
  if (written_ < in_.size()) messages_.is_done(written_ + looked_at_++ % (in_.size() - written_));
  if (sent_ < out_.size()) {
    // The threads of a CPU runtime copy on this core: let them, instead of asking whether they are done.
    if (transport_.shares_memory_) {
      copied_[sent_].wait();
    } else {
      std::this_thread::yield();
    }
  } else if (written_ < in_.size()) {
    messages_.check_deadline(written_);
  } else if (open_ < messages_.count()) {
    messages_.check_deadline(open_);
  } else {
    written_all_.wait();
  }
}

void StagedTransfer::give_up() noexcept {
  messages_.clear();
  // The copies that were queued still use the staging memory.
  try {
    transport_.reads_.finish();
    transport_.writes_.finish();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
}

}  // namespace fabricmark::transport
