// User datagrams (RFC 768): they leave one after the other, and nothing comes back. A receiver knows from the
// numbers of packets what it has not got: at once when a later one of the flow comes, and at the end of a
// message after a time.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "network/stack/packet_stack.hpp"

namespace fabricmark::network {

namespace {

class UdpStack final : public PacketStack {
 public:
  UdpStack(const Topology& topology, const StackSettings& settings, Listener listener)
      : PacketStack(topology, settings, bursts_or_packets(settings), std::move(listener)) {}

 private:
  struct Missing {
    std::uint64_t end = 0;
    Time told = 0;  ///< when at the latest
  };
  struct State {
    std::uint64_t next = 0;                    ///< to leave
    std::uint64_t left = 0;                    ///< all below have
    bool is_in_port = false;                   ///< a packet waits for its port, or leaves
    std::uint64_t expected = 0;                ///< by the receiver: all below have come or are told
    std::map<std::uint64_t, Missing> missing;  ///< packets that will not come and are not told, by the first
  };

  void on_new_flow(std::uint32_t) override { states_.emplace_back(); }
  void on_message(std::uint32_t place) override { send_next(place); }
  void on_left(std::uint32_t place, std::uint64_t segment) override;
  void on_segment(std::uint32_t place, std::uint64_t segment) override;
  void on_lost(std::uint32_t place, std::uint64_t segment) override { miss(place, segment, segment + 1); }
  void on_time_out(std::uint32_t place) override;
  void on_sender_died(std::uint32_t place) override;
  void on_receiver_died(std::uint32_t place) override;

  void send_next(std::uint32_t place);
  void miss(std::uint32_t place, std::uint64_t first, std::uint64_t end);
  void tell(std::uint32_t place, std::uint64_t end, bool is_lost);
  void watch(std::uint32_t place);
  void forget(std::uint32_t place);
  /// From the loss of a packet until its receiver knows, where nothing else tells: after that nobody would
  /// wait any longer. So what is told as lost does not come later, unless it was overtaken.
  [[nodiscard]] Time receive_time_out(std::uint32_t place) {
    return settings().retransmission_time > 0 ? settings().retransmission_time
                                              : times(kRoundTrips, flow(place).round_trip);
  }

  static constexpr std::int64_t kRoundTrips = 4;
  std::deque<State> states_;
};

void UdpStack::send_next(std::uint32_t place) {
  State& state = states_[place];
  if (state.is_in_port || state.next == flow(place).segments) return;
  state.is_in_port = true;
  transmit(place, state.next++, now());
}

void UdpStack::on_left(std::uint32_t place, std::uint64_t segment) {
  State& state = states_[place];
  state.is_in_port = false;
  state.left = segment + 1;
  send_next(place);
  const Message& message = message_of(flow(place), segment);
  if (message.end() == state.left) tell_completion(place, message.id, false);
  forget(place);
}

void UdpStack::on_segment(std::uint32_t place, std::uint64_t segment) {
  State& state = states_[place];
  if (segment < state.expected) {
    ++counters().duplicates;
    return;
  }
  tell(place, segment, true);
  tell(place, segment + 1, false);
  watch(place);
  forget(place);
}

/// All from what is expected.
void UdpStack::tell(std::uint32_t place, std::uint64_t end, bool is_lost) {
  State& state = states_[place];
  tell_arrivals(place, std::exchange(state.expected, end), end, is_lost);
}

void UdpStack::miss(std::uint32_t place, std::uint64_t first, std::uint64_t end) {
  State& state = states_[place];
  first = std::max(first, state.expected);
  if (first >= end) return;
  state.missing[first] = {end, later(now(), receive_time_out(place))};
  watch(place);
}

/// Waits for the time of the packet that is expected, if that will not come. Another one that is lost before
/// it is told only when it has come: it is on its way.
void UdpStack::watch(std::uint32_t place) {
  State& state = states_[place];
  auto first = state.missing.begin();
  while (first != state.missing.end() && first->first < state.expected) first = state.missing.erase(first);
  if (first == state.missing.end() || first->first > state.expected) {
    timers().clear(place);
  } else {
    timers().set(place, std::max(first->second.told, now()));
  }
}

void UdpStack::on_time_out(std::uint32_t place) {
  State& state = states_[place];
  tell(place, state.missing.begin()->second.end, true);
  watch(place);
  forget(place);
}

void UdpStack::on_sender_died(std::uint32_t place) {
  if (!is_dead(flow(place).to)) {
    watch(place);
    miss(place, states_[place].next, flow(place).segments);
  }
}

void UdpStack::on_receiver_died(std::uint32_t place) {
  timers().clear(place);
  forget(place);
}

/// Messages that no end needs any more.
void UdpStack::forget(std::uint32_t place) {
  Flow& of = flow(place);
  const State& state = states_[place];
  const std::uint64_t left = is_dead(of.from) ? of.segments : state.left;
  const std::uint64_t told = is_dead(of.to) ? of.segments : state.expected;
  while (!of.messages.empty() && of.messages.front().end() <= std::min(left, told)) of.messages.pop_front();
}

}  // namespace

std::unique_ptr<Stack> make_udp(const Topology& topology, const StackSettings& settings,
                                Stack::Listener listener) {
  return std::make_unique<UdpStack>(topology, settings, std::move(listener));
}

}  // namespace fabricmark::network
