#include "network/credit_link/link_end.hpp"

#include <algorithm>

namespace fabricmark::credit_link {

LinkEnd::LinkEnd(const LinkParameters& parameters, const Payloads* payloads)
    : parameters_(checked(parameters)),
      payloads_(payloads),
      full_tail_(static_cast<std::uint8_t>(parameters_.width_bits / 8 - 1)),
      told_depth_(static_cast<std::uint16_t>(parameters_.receive_flits)),
      transmit_(parameters_.transmit_flits),
      queue_(parameters_.transmit_flits),
      receive_(parameters_.receive_flits) {}

LinkEnd::Output LinkEnd::step(const Input& input, const Flit* received) {
  Output output;
  output.source_ready = takes_word();
  output.sink_valid = has_word();
  if (output.sink_valid) {
    const Place& place = receive_[receive_read_];
    output.sink_word = place.word;
    output.sink_last = place.last;
    output.sink_tail = place.tail;
  }
  output.sent = has_flit_ ? &flits_[shown_] : nullptr;

  ++since_header_;
  if (!has_flit_ || input.wire_ready) {
    send(input.link_up);
  } else {
    ++counters_.stalled_by_wire;
  }
  const bool accepts = input.source_valid && output.source_ready;
  if (input.source_valid && !accepts) ++counters_.stalled_source;
  packetise(input, accepts);
  if (input.sink_ready && output.sink_valid) take_place();
  if (window_ > 0) --window_;
  if (window_ == 0) errors_ = 0;
  if (received != nullptr && input.link_up && state_ != State::kDown) receive(*received);
  end_cycle(was_up_ && !input.link_up);
  was_up_ = input.link_up;
  return output;
}

// Sending.

/// Whether a header without data is due.
bool LinkEnd::must_speak() const {
  if (parameters_.fault == LinkFault::kNoCreditOnlyHeader) return false;
  return owes_header_ || static_cast<std::uint16_t>(freed_ - told_) >= parameters_.credit_flits ||
         (parameters_.keepalive > 0 && since_header_ >= parameters_.keepalive);
}

void LinkEnd::send(bool link_up) {
  shown_ ^= 1U;
  has_flit_ = false;
  switch (state_) {
    case State::kSync:
      if (!link_up) return;
      if (sync_wait_ == 0) send_sync();
      sync_wait_ = sync_wait_ == 0 ? parameters_.sync_interval - 1 : sync_wait_ - 1;
      return;
    case State::kReady:
      if (packets_ > 0 && may_leave(queue_[queue_read_])) {
        send_header(queue_[queue_read_], false);
        left_ = queue_[queue_read_].length;
        queue_read_ = after(queue_read_, parameters_.transmit_flits);
        --packets_;
        state_ = State::kData;
        return;
      }
      if (packets_ > 0) ++counters_.stalled_for_credit;
      if (must_speak()) send_header({.tail = full_tail_}, true);
      return;
    case State::kData:
      if (parameters_.counts_credit_by_flit && credit() <= 0) {
        ++counters_.stalled_for_credit;
      } else {
        send_data();
      }
      return;
    case State::kDown:
      return;
  }
}

void LinkEnd::send_sync() {
  Flit& flit = flits_[shown_];
  flit = {};
  flit.is_header = flit.first = flit.last = true;
  flit.header.type = Header::Type::kSync;
  flit.header.ack = has_seen_ && parameters_.fault != LinkFault::kNoAcknowledgement;
  flit.header.epoch = epoch_;
  flit.header.freed = told_depth_;
  flit.header.sent = has_seen_ ? peer_epoch_ : 0;
  has_flit_ = true;
  ++counters_.syncs;
}

void LinkEnd::send_header(const Packet& packet, bool credit_only) {
  Flit& flit = flits_[shown_];
  flit.is_header = flit.first = true;
  flit.last = credit_only;
  flit.error = false;
  flit.word = 0;
  flit.header = {.first = packet.first,
                 .last = packet.last,
                 .credit_only = credit_only,
                 .epoch = epoch_,
                 .tail = packet.tail,
                 .length = packet.length,
                 .freed = freed_,
                 .sent = parameters_.fault == LinkFault::kSentStandsStill ? std::uint16_t{0} : sent_,
                 .payload_crc = packet.crc};
  has_flit_ = true;
  told_ = freed_;
  owes_header_ = false;
  since_header_ = 0;
  ++(credit_only ? counters_.credit_only : counters_.data_headers);
}

void LinkEnd::send_data() {
  Flit& flit = flits_[shown_];
  flit.word = transmit_[transmit_read_];
  flit.is_header = flit.first = flit.error = false;
  flit.last = left_ == 1;
  has_flit_ = true;
  transmit_read_ = after(transmit_read_, parameters_.transmit_flits);
  --waiting_;
  if (!is_draining_) ++sent_;
  if (--left_ > 0) return;
  state_ = is_draining_ ? State::kSync : State::kReady;
  is_draining_ = false;
}

void LinkEnd::packetise(const Input& input, bool accepts) {
  if (accepts) {
    transmit_[transmit_write_] = input.source_word;
    transmit_write_ = after(transmit_write_, parameters_.transmit_flits);
    ++waiting_;
    ++open_;
    ++counters_.words_in;
    idle_ = 0;
    if (payloads_ != nullptr && parameters_.has_payload_crc())
      open_crc_ = payloads_->crc(open_crc_, input.source_word);
    if (input.source_last || open_ == parameters_.packet_flits)
      close_packet(input.source_last, input.source_last ? input.source_tail : full_tail_);
  } else if (open_ > 0 && ++idle_ >= parameters_.timeout) {
    close_packet(false, full_tail_);
  }
}

void LinkEnd::close_packet(bool last, std::uint8_t tail) {
  queue_[queue_write_] = {.length = static_cast<std::uint16_t>(open_),
                          .first = begins_frame_,
                          .last = last,
                          .tail = tail,
                          .crc = open_crc_};
  queue_write_ = after(queue_write_, parameters_.transmit_flits);
  ++packets_;
  begins_frame_ = last;
  open_ = idle_ = open_crc_ = 0;
}

// Receiving.

void LinkEnd::take_place() {
  receive_read_ = after(receive_read_, parameters_.receive_flits);
  --fill_;
  ++freed_;
  if (parameters_.fault == LinkFault::kFreedTwice) ++freed_;
  ++counters_.words_out;
}

void LinkEnd::receive(const Flit& flit) {
  const bool begins = parameters_.is_framed ? flit.first : due_ == 0;
  if (!begins) {
    if (due_ == 0) {
      ++counters_.stray_flits;
    } else {
      receive_data(flit);
    }
    return;
  }
  if (due_ > 0 && unseen_ > 0) take_back();  // the rest of its packet is lost
  due_ = 0;
  if (!flit.is_header || flit.error) {
    receive_bad_header();
    return;
  }
  is_hunting_ = false;
  if (flit.header.type == Header::Type::kSync) {
    receive_sync(flit.header);
  } else {
    receive_packet(flit.header);
  }
}

/// Without marks the data behind a damaged header cannot be told from it: only the first counts.
void LinkEnd::receive_bad_header() {
  if (!parameters_.is_framed && is_hunting_) {
    ++counters_.stray_flits;
    return;
  }
  is_hunting_ = true;
  ++counters_.bad_headers;
  if (!is_up()) return;
  if (window_ == 0) window_ = parameters_.resync_window;
  if (++errors_ >= parameters_.resync_errors) must_resync_ = true;
}

void LinkEnd::receive_sync(const Header& header) {
  const bool acknowledges = header.ack && (header.sent & 0xFFU) == epoch_;
  if (!is_syncing()) {
    // The peer has not heard of our answer; or it has begun again.
    if (acknowledges && header.epoch == peer_epoch_) {
      owes_header_ = true;
      return;
    }
    must_resync_ = has_new_peer_ = true;
  }
  has_seen_ = true;
  has_ack_ = acknowledges;
  peer_epoch_ = header.epoch;
  peer_depth_ = header.freed;
}

void LinkEnd::receive_packet(const Header& header) {
  const auto gap = static_cast<std::int16_t>(header.sent - expected_);
  const bool is_of_now = has_seen_ && header.epoch == peer_epoch_;
  due_ = header.length;
  is_discarding_ = !is_of_now || gap < 0;
  if (!is_of_now) return;
  has_heard_packet_ = true;
  const bool is_newer = static_cast<std::int16_t>(header.freed - freed_by_peer_) > 0;
  // What lay in the peer's buffer when the epoch began was not sent in it, and comes back all the same.
  const int beyond_sent = static_cast<std::int16_t>(header.freed - sent_);
  const int most = parameters_.fault == LinkFault::kOldPlacesForgotten
                       ? 0
                       : static_cast<int>(parameters_.receive_flits) - peer_depth_;
  const bool can_be = beyond_sent <= most;
  if (is_newer && can_be) freed_by_peer_ = header.freed;
  if (gap < 0) return;
  counters_.lost_flits += static_cast<std::uint64_t>(gap);
  if (parameters_.fault != LinkFault::kGapNotFreed) freed_ = static_cast<std::uint16_t>(freed_ + gap);
  expected_ = header.sent;
  head_ = {.last = header.last, .tail = header.tail, .crc = header.payload_crc};
  is_wrong_ = false;
  received_crc_ = 0;
}

void LinkEnd::receive_data(const Flit& flit) {
  --due_;
  if (is_discarding_) {
    ++counters_.stray_flits;
    return;
  }
  ++expected_;
  is_wrong_ |= flit.error;
  if (payloads_ != nullptr && parameters_.has_payload_crc())
    received_crc_ = payloads_->crc(received_crc_, flit.word);
  if (fill_ == parameters_.receive_flits) {
    ++counters_.overflows;
  } else if (due_ > 0 || parameters_.fault != LinkFault::kTailDropped) {
    const bool is_last = due_ == 0 && head_.last;
    receive_[receive_write_] = {flit.word, is_last, is_last ? head_.tail : full_tail_};
    receive_write_ = after(receive_write_, parameters_.receive_flits);
    ++fill_;
    if (parameters_.commits_packets) ++unseen_;
    counters_.most_received = std::max(counters_.most_received, fill_);
  }
  if (due_ == 0) end_packet();
}

void LinkEnd::end_packet() {
  if (parameters_.has_payload_crc() && received_crc_ != head_.crc) is_wrong_ = true;
  if (is_wrong_) {
    ++counters_.bad_payloads;
    if (unseen_ > 0) take_back();
  }
  unseen_ = 0;
}

/// What the sink has not seen of a packet is lost.
void LinkEnd::take_back() {
  const std::uint32_t size = parameters_.receive_flits;
  receive_write_ = receive_write_ >= unseen_ ? receive_write_ - unseen_ : receive_write_ + size - unseen_;
  fill_ -= unseen_;
  freed_ = static_cast<std::uint16_t>(freed_ + unseen_);
  counters_.lost_flits += unseen_;
  unseen_ = 0;
}

// Epochs.

void LinkEnd::end_cycle(bool link_fell) {
  if (must_resync_ || link_fell) {
    begin_epoch(link_fell);
  } else if (state_ == State::kSync) {
    ++sync_cycles_;
    if (has_seen_ && (has_ack_ || has_heard_packet_)) {
      state_ = State::kReady;
      since_header_ = 0;
    } else if (parameters_.sync_timeout > 0 && !has_seen_ && sync_cycles_ >= parameters_.sync_timeout) {
      state_ = State::kDown;
    }
  } else if (is_draining_ && has_heard_packet_) {
    has_ack_ = true;
  }
  has_heard_packet_ = must_resync_ = has_new_peer_ = false;
}

/// All totals begin again. What the sink has not taken stays in its places, which the peer is not told of
/// until they are free; a packet that is leaving leaves whole, so that the lower layer never sees half a
/// frame.
void LinkEnd::begin_epoch(bool link_fell) {
  if (state_ == State::kDown) return;
  if (due_ > 0 && !is_discarding_) {
    ++counters_.cut_packets;
    if (unseen_ > 0) take_back();
  }
  is_discarding_ = true;
  is_hunting_ = false;
  if (link_fell) due_ = 0;
  has_seen_ = has_new_peer_;
  has_ack_ = owes_header_ = false;
  sent_ = freed_ = told_ = freed_by_peer_ = expected_ = 0;
  errors_ = window_ = sync_wait_ = 0;
  sync_cycles_ = 0;
  told_depth_ = static_cast<std::uint16_t>(parameters_.receive_flits - fill_);
  ++epoch_;
  ++counters_.epochs;
  if (state_ == State::kData) {
    if (!is_draining_) ++counters_.cut_packets;
    is_draining_ = true;
  } else {
    state_ = State::kSync;
  }
}

// Quiet cycles.

std::uint64_t LinkEnd::quiet_cycles() const {
  if (has_flit_) return 0;
  std::uint64_t quiet = kForEver;
  if (open_ > 0) quiet = parameters_.timeout - 1 - idle_;
  switch (state_) {
    case State::kSync:
      quiet = std::min<std::uint64_t>(quiet, sync_wait_);
      if (parameters_.sync_timeout > 0 && !has_seen_)
        quiet = std::min(quiet, parameters_.sync_timeout - 1 - sync_cycles_);
      break;
    case State::kReady:
      if ((packets_ > 0 && may_leave(queue_[queue_read_])) || owes_header_ ||
          static_cast<std::uint16_t>(freed_ - told_) >= parameters_.credit_flits)
        return 0;
      if (parameters_.keepalive > 0)
        quiet = since_header_ + 1 >= parameters_.keepalive
                    ? 0
                    : std::min(quiet, parameters_.keepalive - 1 - since_header_);
      break;
    case State::kData:
      if (!parameters_.counts_credit_by_flit || credit() > 0) return 0;
      break;
    case State::kDown:
      break;
  }
  return quiet;
}

void LinkEnd::leave_out(std::uint64_t cycles) {
  if (cycles == 0) return;
  since_header_ += cycles;
  if (open_ > 0) idle_ += static_cast<std::uint32_t>(cycles);
  if (state_ == State::kSync) {
    sync_wait_ -= static_cast<std::uint32_t>(cycles);
    sync_cycles_ += cycles;
  }
  if ((state_ == State::kReady && packets_ > 0) || state_ == State::kData)
    counters_.stalled_for_credit += cycles;
  window_ = static_cast<std::uint32_t>(window_ > cycles ? window_ - cycles : 0);
  if (window_ == 0) errors_ = 0;
}

}  // namespace fabricmark::credit_link
