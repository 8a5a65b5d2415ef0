#include "network/credit_link/link_watch.hpp"

#include <fmt/format.h>

namespace fabricmark::credit_link {

void LinkWatch::require(bool holds, const char* what, std::size_t end) {
  if (holds || !violation_.empty()) return;
  violation_ = fmt::format("cycle {}, end {}: {}", link_.now(), end, what);
}

void LinkWatch::look(const LinkEnd::Input& first, const LinkEnd::Input& second,
                     const DuplexCycleLink::Cycle& cycle) {
  const std::array<const LinkEnd::Input*, 2> inputs{&first, &second};
  const bool wires_ready = first.wire_ready && second.wire_ready;
  const bool links_up = first.link_up && second.link_up;
  has_fallen_ = has_fallen_ || !links_up || link_.end(0).epoch() + link_.end(1).epoch() > 0;
  look_at_agreement(links_up, wires_ready);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t peer = 1 - i;
    const bool takes = inputs[i]->sink_ready && cycle.ends[i].sink_valid;
    look_at_places(i);
    look_at_order(i, takes, cycle.ends[i]);
    look_at_credits(i);
    look_at_speech(i, inputs[i]->wire_ready);
    look_at_progress(peer, takes, inputs[i]->sink_ready, wires_ready);
  }
}

void LinkWatch::look_at_places(std::size_t receiver) {
  const LinkEnd& end = link_.end(receiver);
  require(end.counters().overflows == 0 && end.fill() <= end.parameters().receive_flits,
          "a flit found no place in the receive buffer", receiver);
}

void LinkWatch::look_at_order(std::size_t receiver, bool takes, const LinkEnd::Output& output) {
  if (!takes) return;
  ++delivered_[receiver];
  const std::uint64_t word = NumberedWords::number(output.sink_word);
  require(word >= next_word_[receiver], "a word came again or out of order", receiver);
  require(loses() || (word == next_word_[receiver] && !NumberedWords::is_wrong(output.sink_word)),
          "a word is missing or wrong", receiver);
  next_word_[receiver] = word + 1;
}

/// Every place of the receiver is a credit of the sender, a flit in flight, a flit in it, or one that is free
/// and not yet heard of.
void LinkWatch::look_at_credits(std::size_t sender) {
  if (!link_.is_agreed()) return;
  const LinkEnd& from = link_.end(sender);
  const LinkEnd& to = link_.end(1 - sender);
  const auto unheard = static_cast<std::uint16_t>(to.freed() - from.freed_by_peer());
  const auto sum = static_cast<std::int64_t>(from.credit()) + link_.in_flight(sender) + to.fill() + unheard;
  const auto depth = static_cast<std::int64_t>(to.parameters().receive_flits);
  require(sum <= depth, "there are more credits than places", sender);
  require(sum == depth || disturbs(), "credits are missing", sender);
  require(loses() || to.counters().lost_flits == 0, "totals of sent flits have a gap", sender);
}

void LinkWatch::look_at_speech(std::size_t sender, bool wire_ready) {
  const LinkEnd& end = link_.end(sender);
  const LinkParameters& parameters = end.parameters();
  held_up_[sender] = end.since_header() == 0 ? 0 : held_up_[sender] + (wire_ready ? 0 : 1);
  if (parameters.keepalive == 0 || !end.is_up()) return;
  require(end.since_header() <= parameters.keepalive + parameters.packet_flits + 1 + held_up_[sender],
          "no header within the keep-alive", sender);
}

/// After a fall, or at the start, each end tells the other its epoch and hears that it was understood.
void LinkWatch::look_at_agreement(bool links_up, bool wires_ready) {
  const LinkParameters& parameters = link_.end(0).parameters();
  if (parameters.sync_timeout > 0) return;  // an end may have given up
  apart_ = link_.is_agreed() || !links_up ? 0 : apart_ + (wires_ready ? 1 : 0);
  const std::uint64_t interval = parameters.sync_interval;
  const std::uint64_t packet = parameters.packet_flits;
  const std::uint64_t longest = 8 * link_.latency() + 8 * interval + 4 * packet + 64;
  require(apart_ <= times(longest), "the ends do not come together again", 0);
}

/// Where a frame can be lost only the keep-alive brings credits back.
void LinkWatch::look_at_progress(std::size_t sender, bool takes, bool sink_ready, bool wires_ready) {
  const LinkEnd& from = link_.end(sender);
  const bool may_go_on = link_.is_agreed() && from.has_closed_packet() && sink_ready && wires_ready && !takes;
  without_[sender] = may_go_on ? without_[sender] + 1 : 0;
  const std::uint64_t packet = from.parameters().packet_flits;
  const std::uint64_t longest = 2 * link_.latency() + 2 * packet + from.parameters().keepalive + 16;
  const bool may_hang = disturbs() && from.parameters().keepalive == 0;
  require(may_hang || without_[sender] <= times(longest), "a closed packet waits for ever", sender);
}

void LinkWatch::look_at_rest() {
  for (std::size_t sender = 0; sender < 2; ++sender) {
    const LinkEnd& from = link_.end(sender);
    const LinkEnd& to = link_.end(1 - sender);
    require(link_.is_agreed() && from.waiting() == 0 && to.fill() == 0 && link_.in_flight(sender) == 0,
            "the link does not come to rest", sender);
    const auto unheard = static_cast<std::uint16_t>(to.freed() - from.freed_by_peer());
    require(from.credit() + unheard == static_cast<int>(to.parameters().receive_flits),
            "credits are missing at rest", sender);
  }
}

}  // namespace fabricmark::credit_link
