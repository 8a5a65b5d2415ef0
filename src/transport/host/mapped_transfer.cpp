#include "transport/host/mapped_transfer.hpp"

#include <algorithm>

namespace fabricmark::transport {

void Mapping::map(std::span<const Message> messages) {
  runs_.clear();
  data_.clear();
  messages_.clear();
  std::vector<std::size_t> run_of;
  for (const Message& message : messages) {
    const bool goes_on = !runs_.empty() && runs_.back().buffer == message.buffer &&
                         runs_.back().offset + runs_.back().bytes == message.offset;
    if (!goes_on) runs_.push_back({message.buffer, message.offset, 0});
    runs_.back().bytes += message.bytes;
    run_of.push_back(runs_.size() - 1);
  }
  for (const Region& run : runs_) {
    data_.push_back(run.bytes == 0 ? nullptr
                                   : run.buffer->device().map(queue_, for_writing_, run.bytes, run.offset));
  }
  queue_.finish();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    if (message.bytes == 0) continue;
    std::byte* const data = data_[run_of[i]] + (message.offset - runs_[run_of[i]].offset);
    const std::size_t step = transport_.piece_bytes(message);
    for (std::size_t at = 0; at < message.bytes; at += step) {
      messages_.push_back({{data + at, std::min(step, message.bytes - at)}, message.peer, message.tag});
    }
  }
}

void Mapping::unmap() {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (data_[i] != nullptr) runs_[i].buffer->device().unmap(queue_, data_[i]);
  }
  runs_.clear();
  queue_.finish();
}

MappedTransfer::MappedTransfer(HostTransport& transport)
    : exchange_(transport.ranks(), transport.timeout_, transport.waiting_),
      out_(transport, transport.reads_, /*for_writing=*/false),
      in_(transport, transport.writes_, /*for_writing=*/true) {}

void MappedTransfer::begin() {
  out_.map(sends());
  in_.map(receives());
  exchange_.begin(out_.messages(), in_.messages());
}

bool MappedTransfer::advance() {
  if (!exchange_.advance()) return false;
  out_.unmap();
  in_.unmap();
  return true;
}

void MappedTransfer::give_up() noexcept {
  exchange_.give_up();
  try {
    out_.unmap();
    in_.unmap();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
}

}  // namespace fabricmark::transport
