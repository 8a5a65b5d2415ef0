#include "transport/nvlink/nvlink_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricmark::transport {

namespace {

constexpr int kGrantTag = 1 << 14;  // added to the message's, above all of them
constexpr std::byte kDone{0xD0};    // what the word says

device::cuda::PeerMemory memory_of(const Message& message) {
  device::cuda::PeerMemory memory = message.buffer->device().peer();
  memory.offset += message.offset;
  return memory;
}

/// Both ends cut a message in the same way, whatever memory theirs is.
template <typename Piece>
void add_pieces(std::span<const Message> messages, std::vector<Piece>& pieces) {
  for (const Message& message : messages) {
    for (std::size_t start = 0; start < message.bytes; start += Windows::kSlotBytes) {
      Message& piece = pieces.emplace_back().piece;
      piece = message;
      piece.offset += start;
      piece.bytes = std::min(Windows::kSlotBytes, message.bytes - start);
    }
  }
}

}  // namespace

void NvlinkTransfer::begin() {
  runtime::Communicator& ranks = transport_.ranks();
  in_.clear();
  out_.clear();
  // All pieces at once: the communicator keeps the addresses of what is granted and told.
  add_pieces(receives(), in_);
  add_pieces(sends(), out_);
  for (In& in : in_) receive(in);
  for (Out& out : out_) {
    out.request = ranks.start_receive(out.piece.peer, std::as_writable_bytes(std::span(&out.grant, 1)),
                                      out.piece.tag + kGrantTag);
  }
  patience_.emplace(ranks, transport_.waiting_, std::chrono::duration<double>(transport_.timeout_));
}

void NvlinkTransfer::receive(In& in) {
  runtime::Communicator& ranks = transport_.ranks();
  const Message& piece = in.piece;
  const device::cuda::PeerMemory memory = memory_of(piece);
  if (memory.block) {
    in.grant = transport_.blocks_.grant(piece.peer, memory, piece.bytes);
    in.word = ranks.start_receive(piece.peer, std::span(&in.told, 1), piece.tag);
  } else {
    in.own_tag = transport_.own_tag();
    in.grant = {.bytes = piece.bytes, .reply_tag = in.own_tag};
    in.ready =
        ranks.start_receive(piece.peer, std::as_writable_bytes(std::span(&in.reply_tag, 1)), in.own_tag);
    in.waits = Waits::kPeer;
  }
  in.granted = ranks.start_send(piece.peer, std::as_bytes(std::span(&in.grant, 1)), piece.tag + kGrantTag);
}

bool NvlinkTransfer::advance(In& in) {
  runtime::Communicator& ranks = transport_.ranks();
  const Message& piece = in.piece;
  switch (in.waits) {
    case Waits::kPeer:
      if (!ranks.test(in.ready) || !ranks.test(in.granted)) return false;
      in.waits = Waits::kSlot;
      [[fallthrough]];
    case Waits::kSlot:
      in.slot = transport_.incoming_.take();
      if (!in.slot) return false;
      in.word = ranks.start_receive(piece.peer, std::span(&in.told, 1), in.own_tag);
      in.grant = transport_.blocks_.grant(piece.peer, transport_.incoming_.memory(*in.slot), piece.bytes);
      in.granted = ranks.start_send(piece.peer, std::as_bytes(std::span(&in.grant, 1)), in.reply_tag);
      in.waits = Waits::kWord;
      return true;
    case Waits::kWord:
      if (!ranks.test(in.word) || !ranks.test(in.granted)) return false;
      if (in.slot) {
        transport_.incoming_.empty(*in.slot, piece.buffer->device(), piece.offset, piece.bytes);
        transport_.incoming_.give_back(*in.slot);
        in.slot.reset();
      }
      in.waits = Waits::kNothing;
      return true;
    default:
      return false;
  }
}

bool NvlinkTransfer::ask_or_copy(Out& out) {
  runtime::Communicator& ranks = transport_.ranks();
  if (out.grant.bytes != out.piece.bytes) {
    throw runtime::other_length(out.piece.peer, out.piece.bytes, out.grant.bytes);
  }
  if (out.grant.block != 0) {
    out.waits = Waits::kSlot;
    return copy(out);
  }
  out.reply_to = out.grant.reply_tag;
  out.own_tag = transport_.own_tag();
  out.request =
      ranks.start_receive(out.piece.peer, std::as_writable_bytes(std::span(&out.grant, 1)), out.own_tag);
  out.ready = ranks.start_send(out.piece.peer, std::as_bytes(std::span(&out.own_tag, 1)), out.reply_to);
  return true;
}

bool NvlinkTransfer::copy(Out& out) {
  const Message& piece = out.piece;
  device::cuda::PeerMemory from = memory_of(piece);
  if (!from.block) {
    out.slot = transport_.outgoing_.take();
    if (!out.slot) return false;
    transport_.outgoing_.fill(*out.slot, piece.buffer->device(), piece.offset, piece.bytes);
    from = transport_.outgoing_.memory(*out.slot);
  }
  const device::cuda::PeerMemory to = transport_.blocks_.memory(piece.peer, out.grant);
  out.copy = transport_.copies_.start(to.block->address() + to.offset, from.block->address() + from.offset,
                                      piece.bytes);
  out.waits = Waits::kCopy;
  return true;
}

bool NvlinkTransfer::advance(Out& out) {
  runtime::Communicator& ranks = transport_.ranks();
  switch (out.waits) {
    case Waits::kPeer:
      return ranks.test(out.request) && ranks.test(out.ready) && ask_or_copy(out);
    case Waits::kSlot:
      return copy(out);
    case Waits::kCopy:
      if (!transport_.copies_.has_ended(out.copy)) return false;
      if (out.slot) transport_.outgoing_.give_back(*out.slot);
      out.slot.reset();
      out.request = ranks.start_send(out.piece.peer, std::span(&kDone, 1),
                                     out.reply_to != 0 ? out.reply_to : out.piece.tag);
      out.waits = Waits::kWord;
      return true;
    case Waits::kWord:
      if (!ranks.test(out.request)) return false;
      out.waits = Waits::kNothing;
      return true;
    case Waits::kNothing:
      break;
  }
  return false;
}

bool NvlinkTransfer::advance() {
  bool has_moved = false;
  for (Out& out : out_) has_moved = advance(out) || has_moved;
  for (In& in : in_) has_moved = advance(in) || has_moved;
  if (has_moved) {
    patience_.emplace(transport_.ranks(), transport_.waiting_,
                      std::chrono::duration<double>(transport_.timeout_));
  }
  const auto is_done = [](const auto& piece) { return piece.waits == Waits::kNothing; };
  const bool has_ended = std::ranges::all_of(out_, is_done) && std::ranges::all_of(in_, is_done);
  if (has_ended) patience_.reset();
  return has_ended;
}

void NvlinkTransfer::idle() {
  if (patience_ && patience_->is_over()) throw stuck();
}

runtime::DeadlineError NvlinkTransfer::stuck() const {
  const auto about = [&](const Message& piece, const char* way, const char* why) {
    const int peer = transport_.ranks().in_world(piece.peer);
    return runtime::DeadlineError(fmt::format("no sign of a message of {} bytes {} rank {} in {} s{}",
                                              piece.bytes, way, peer, transport_.timeout_, why),
                                  peer);
  };
  for (const In& in : in_) {
    if (in.waits != Waits::kNothing) return about(in.piece, "from", "");
  }
  for (const Out& out : out_) {
    if (out.waits == Waits::kNothing) continue;
    return about(out.piece, "to", out.waits == Waits::kCopy ? ": its copy has not ended" : "");
  }
  return runtime::DeadlineError("no sign of a message's end");
}

void NvlinkTransfer::give_up() noexcept {
  for (In& in : in_) {
    for (runtime::Request* const request : {&in.ready, &in.granted, &in.word}) {
      transport_.ranks().cancel(*request);
    }
  }
  for (Out& out : out_) {
    for (runtime::Request* const request : {&out.ready, &out.request}) transport_.ranks().cancel(*request);
  }
  // What a copy still reads may go next; what it writes the other rank's block keeps.
  try {
    if (!out_.empty()) transport_.copies_.finish();
    const auto has_slot = [](const auto& piece) { return piece.slot.has_value(); };
    if (std::ranges::any_of(in_, has_slot)) transport_.incoming_.forget();
    if (std::ranges::any_of(out_, has_slot)) transport_.outgoing_.forget();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
  in_.clear();
  out_.clear();
  patience_.reset();
}

}  // namespace fabricmark::transport
