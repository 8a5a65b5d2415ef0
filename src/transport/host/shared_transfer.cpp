#include "transport/host/shared_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace fabricmark::transport {

SharedTransfer::SharedTransfer(HostTransport& transport, std::uint64_t number)
    : transport_(transport), number_(number) {}

void SharedTransfer::begin() {
  in_.clear();
  out_.clear();
  // The communicator keeps the addresses of what is said and told.
  in_.reserve(receives().size());
  out_.reserve(sends().size());
  for (const Message& message : receives()) {
    if (message.bytes == 0) continue;
    In& in = in_.emplace_back();
    in.message = &message;
    in.request = transport_.ranks().start_receive(
        message.peer, std::as_writable_bytes(std::span(&in.told, 1)), message.tag);
  }
  announce();
  patience_.emplace(transport_.ranks(), transport_.waiting_,
                    std::chrono::duration<double>(transport_.timeout_));
}

void SharedTransfer::announce() {
  for (const Message& message : sends()) {
    if (message.bytes == 0) continue;
    const HostProtocol protocol = transport_.protocol(message.bytes);
    const LanePlan plan = LanePlan::of(message.bytes, protocol.piece_bytes, protocol.slots);
    Out& out = out_.emplace_back();
    out.message = &message;
    out.said = {
        .staging = {}, .transfer = number_, .bytes = plan.bytes, .chunk = plan.chunk, .slots = plan.slots};
  }
  for (Out& out : out_) {
    if (out.staging == nullptr) place(out.message->peer);
    out.request = transport_.ranks().start_send(out.message->peer, std::as_bytes(std::span(&out.said, 1)),
                                                out.message->tag);
  }
}

void SharedTransfer::place(int peer) {
  std::size_t lanes = 0;
  std::size_t bytes = 0;
  for (Out& out : out_) {
    if (out.message->peer != peer) continue;
    out.said.lane = lanes++;
    out.said.slots_start = bytes;
    bytes += device::whole_pages(out.said.slots * out.said.chunk);
  }
  std::shared_ptr<SharedStaging>& staging = staging_[peer];
  if (!staging || staging->lanes() < lanes || staging->slots().size() < bytes) {
    constexpr std::size_t kFewLanes = 32;
    const std::size_t had = staging ? staging->slots().size() : 0;
    staging = SharedStaging::make(transport_.device_, std::max(2 * lanes, kFewLanes),
                                  bytes > had ? std::max(bytes, had + had / 2) : had);
  }
  for (Out& out : out_) {
    if (out.message->peer != peer) continue;
    LaneState& state = staging->lane(out.said.lane);
    state.read.store(0, std::memory_order_relaxed);
    state.written.store(0, std::memory_order_relaxed);
    out.staging = staging.get();
    out.said.staging = staging->address();
    out.said.lanes = staging->lanes();
    const LanePlan plan{out.said.bytes, out.said.chunk, out.said.slots};
    out.lane.emplace(Lane::Side::kSends, *out.message, plan, staging->slots().data() + out.said.slots_start,
                     state, transport_.reads_);
  }
}

void SharedTransfer::take(In& in) {
  const Message& message = *in.message;
  if (in.told.bytes != message.bytes) {
    throw runtime::other_length(message.peer, in.told.bytes, message.bytes);
  }
  in.staging = transport_.staging_of(message.peer, in.told.transfer, in.told.staging, in.told.lanes);
  const LanePlan plan{in.told.bytes, in.told.chunk, in.told.slots};
  in.lane.emplace(Lane::Side::kReceives, message, plan, in.staging->slots().data() + in.told.slots_start,
                  in.staging->lane(in.told.lane), transport_.writes_);
}

bool SharedTransfer::look_for_announcements() {
  bool has_come = false;
  for (In& in : in_) {
    if (in.lane || !transport_.ranks().test(in.request)) continue;
    take(in);
    has_come = true;
  }
  return has_come;
}

bool SharedTransfer::move_on() {
  bool has_moved = false;
  for (Out& out : out_) has_moved = out.lane->hand_over() || has_moved;
  for (In& in : in_) has_moved = (in.lane && in.lane->hand_over()) || has_moved;
  // The first chunks of all messages come before the second ones, so that both directions start at once.
  const auto start_all = [](auto& messages, const device::Queue& queue, const auto& may_start) {
    bool has_started = false;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (auto& one : messages) goes_on = (may_start(one) && one.lane->start_one()) || goes_on;
      has_started = has_started || goes_on;
    }
    if (has_started) queue.flush();
    return has_started;
  };
  has_moved =
      start_all(in_, transport_.writes_, [](const In& in) { return in.lane.has_value(); }) || has_moved;
  return start_all(out_, transport_.reads_, [](const Out& out) { return out.staging->is_taken(); }) ||
         has_moved;
}

bool SharedTransfer::advance() {
  const bool has_come = look_for_announcements();
  if (move_on() || has_come) {
    patience_.emplace(transport_.ranks(), transport_.waiting_,
                      std::chrono::duration<double>(transport_.timeout_));
  }
  if (!std::ranges::all_of(in_, [](const In& in) { return in.lane && in.lane->has_ended(); })) return false;
  const bool has_left = std::ranges::all_of(
      out_, [&](Out& out) { return out.lane->has_ended() && transport_.ranks().test(out.request); });
  if (has_left) patience_.reset();
  return has_left;
}

void SharedTransfer::idle() {
  // The threads of a CPU runtime copy on this core: let them, instead of asking whether they are done.
  if (transport_.shares_memory_) {
    for (In& in : in_) {
      if (in.lane && in.lane->wait_for_copy()) return;
    }
    for (Out& out : out_) {
      if (out.lane->wait_for_copy()) return;
    }
  }
  if (patience_ && patience_->is_over()) throw stuck();
}

runtime::DeadlineError SharedTransfer::stuck() const {
  const auto in_world = [this](const Message& message) { return transport_.ranks().in_world(message.peer); };
  for (const In& in : in_) {
    const int peer = in_world(*in.message);
    if (!in.lane) {
      return runtime::DeadlineError(fmt::format("no sign of a message of {} bytes from rank {} in {} s",
                                                in.message->bytes, peer, transport_.timeout_),
                                    peer);
    }
    if (!in.lane->has_ended()) {
      return runtime::DeadlineError(
          fmt::format("of a message of {} bytes from rank {} no more than {} bytes came in {} s",
                      in.message->bytes, peer, in.lane->bytes_done(), transport_.timeout_),
          peer);
    }
  }
  for (const Out& out : out_) {
    if (out.lane->has_ended()) continue;
    const int peer = in_world(*out.message);
    return runtime::DeadlineError(
        fmt::format("no sign of a message of {} bytes to rank {} in {} s: not all of it was taken",
                    out.message->bytes, peer, transport_.timeout_),
        peer);
  }
  return runtime::DeadlineError("no sign of a message's end");
}

void SharedTransfer::clear() noexcept {
  for (In& in : in_) transport_.ranks().cancel(in.request);
  for (Out& out : out_) transport_.ranks().cancel(out.request);
  // The copies that were queued still use the staging memory, and so may the receivers' devices: theirs is a
  // mapping of its own, and the next messages get other memory.
  try {
    transport_.reads_.finish();
    transport_.writes_.finish();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what is given up is not missed
  }
  in_.clear();
  out_.clear();
  staging_.clear();
  patience_.reset();
}

}  // namespace fabricmark::transport
