#include "network/stack/packet_stack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "network/stack/packet_faults.hpp"

namespace fabricmark::network {

namespace {

// What the network knows a packet by: its flow above, then whether it is an acknowledgement, then its number.
// Of packets that a port gets at one time the lower goes first, so that nothing depends on who asked first.
constexpr std::uint32_t kFlowShift = 40;
constexpr std::uint32_t kAcknowledgementShift = 39;
constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kAcknowledgementShift) - 1;
// Of the place of a message that begins: the destination in the lower bits.
constexpr std::uint32_t kDeviceShift = 16;
constexpr std::uint32_t kDeviceMask = (1U << kDeviceShift) - 1;
constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 46U;
static_assert(Topology::kMostDevices <= kDeviceMask);

std::uint64_t packet_id(std::uint32_t flow, bool is_acknowledgement, std::uint64_t number) {
  return static_cast<std::uint64_t>(flow) << kFlowShift |
         std::uint64_t{is_acknowledgement ? 1U : 0U} << kAcknowledgementShift | number;
}

PacketCosts costs_of_network(const StackSettings& settings, const Segmentation& segmentation) {
  PacketCosts costs = settings.costs;
  if (segmentation.is_merged) costs.mtu_bytes = 0;
  return costs;
}

Stack::Listener without_gaps(Stack::Listener listener) {
  if (!listener.arrived) listener.arrived = [](const Stack::Arrival&) {};
  if (!listener.completed) listener.completed = [](const Stack::Completion&) {};
  return listener;
}

}  // namespace

Segmentation bursts_or_packets(const StackSettings& settings) {
  const std::uint64_t mtu = settings.costs.mtu_bytes;
  if (may_lose(settings) || mtu == 0 || settings.burst_bytes <= mtu) return {.segment_bytes = mtu};
  // Whole packets that follow each other take what they take together, if each is sent on as it comes and
  // finds room.
  return {.segment_bytes = settings.burst_bytes / mtu * mtu,
          .is_merged = settings.costs.forwarding == Forwarding::kCutThrough &&
                       settings.costs.buffering == Buffering::kUnlimited};
}

PacketStack::PacketStack(const Topology& topology, const StackSettings& settings,
                         const Segmentation& segmentation, Listener listener)
    : topology_(topology),
      settings_(settings),
      segmentation_(segmentation),
      listener_(without_gaps(std::move(listener))),
      may_lose_(may_lose(settings)),
      has_faults_(settings.faults.drop > 0 || settings.faults.duplicate > 0 || settings.faults.reorder > 0),
      network_(
          topology, costs_of_network(settings, segmentation),
          [this](const Delivery& delivery) { on_delivered(delivery); },
          [this](const Departure& departure) { on_departed(departure); }),
      is_dead_(static_cast<std::size_t>(topology.devices()), false) {
  delay_unit_ = std::max<Time>(network_.packet_time(segmentation.segment_bytes), 1);
}

template <void (PacketStack::*Handler)(const Event&)>
void PacketStack::schedule(Time time, Kind kind, std::uint32_t place, std::uint64_t sequence,
                           std::uint64_t value) {
  core_.schedule(
      {.time = time,
       .device = kind,
       .port = place,
       .sequence = sequence,
       .handle = [](void* owner, const Event& event) { (static_cast<PacketStack*>(owner)->*Handler)(event); },
       .owner = this,
       .value = value});
}

void PacketStack::check_not_passed(Time at, Time start, const char* what, int device) const {
  if (start >= now_) return;
  throw bad_use(fmt::format("{} {} at {} s comes after the packets have reached {} s", what,
                            topology_.node_name(device), seconds(at), seconds(now_)),
                "advance the stack no further than all devices are");
}

void PacketStack::send(Time at, int from, int to, std::uint64_t id, std::uint64_t bytes) {
  topology_.check_device(from);
  topology_.check_device(to);
  if (bytes > kMostMessageBytes) {
    throw bad_use(fmt::format("a message of {} B", bytes), "send no more than 2^46 B at once");
  }
  const Time start = later(at, lookahead());
  check_not_passed(at, start, "a message of", from);
  const auto place = static_cast<std::uint32_t>(from) << kDeviceShift | static_cast<std::uint32_t>(to);
  schedule<&PacketStack::on_begun>(start, kBegun, place, id, bytes);
}

void PacketStack::kill(Time at, int device) {
  topology_.check_device(device);
  check_not_passed(at, at, "the end of", device);
  schedule<&PacketStack::on_killed>(at, kKilled, static_cast<std::uint32_t>(device), 0, 0);
}

Time PacketStack::next_time() const {
  return std::min({network_.next_time(), core_.next_time(), timers_.next_time()});
}

void PacketStack::advance_until(Time end) {
  for (Time time = next_time(); time < end; time = next_time()) {
    now_ = time;
    if (network_.next_time() == time) {
      network_.advance_until(time + 1);
    } else if (!core_.run_one(time + 1)) {
      on_time_out(timers_.take());
    }
  }
}

void PacketStack::on_begun(const Event& event) {
  const int from = static_cast<int>(event.port >> kDeviceShift);
  if (is_dead(from)) return;
  ++counters_.messages;
  const std::uint32_t place = flow_between(from, static_cast<int>(event.port & kDeviceMask));
  Flow& flow = flows_[place];
  if (flow.has_failed) {
    tell_completion(place, event.sequence, true);
    return;
  }
  const Message message{.id = event.sequence,
                        .bytes = event.value,
                        .first_byte = flow.bytes,
                        .first_segment = flow.segments,
                        .segments = segments_of(event.value)};
  flow.messages.push_back(message);
  flow.bytes += message.bytes;
  flow.segments += message.segments;
  on_message(place);
}

void PacketStack::on_killed(const Event& event) {
  const auto device = static_cast<int>(event.port);
  if (is_dead(device)) return;
  is_dead_[event.port] = true;
  for (std::uint32_t place = 0; place < flows_.size(); ++place) {
    if (flows_[place].from == device) {
      timers_.clear(place);
      on_sender_died(place);
    } else if (flows_[place].to == device) {
      on_receiver_died(place);
    }
  }
}

std::uint32_t PacketStack::flow_between(int from, int to) {
  const auto place = static_cast<std::uint32_t>(flows_.size());
  const std::uint64_t devices = static_cast<std::uint64_t>(from) << kDeviceShift | static_cast<unsigned>(to);
  const auto [found, is_new] = places_.try_emplace(devices, place);
  if (!is_new) return found->second;
  Flow flow;
  flow.from = from;
  flow.to = to;
  const std::uint64_t mtu = settings_.costs.mtu_bytes;
  flow.round_trip = later(time_of_path(from, to, mtu), time_of_path(to, from, 0));
  flows_.push_back(std::move(flow));
  timers_.add_flow();
  on_new_flow(place);
  return place;
}

/// Of a packet that has the network for itself, the sender's latency counted.
Time PacketStack::time_of_path(int from, int to, std::uint64_t payload) const {
  const PacketCosts& costs = settings_.costs;
  const Hops hops = topology_.hops(from, to);
  const auto wire = [&](std::uint64_t bytes) {
    return transfer_time(static_cast<double>(bytes + costs.header_bytes), costs.bytes_per_second);
  };
  const bool is_stored = costs.forwarding == Forwarding::kStoreAndForward;
  const Time header = is_stored ? 0 : wire(0);
  Time time = later(costs.node_latency, times(hops.cables, costs.cable_latency));
  time = later(time, times(hops.switches, std::max(costs.switch_latency, header)));
  time = later(time, times(hops.devices, std::max(costs.node_latency, header)));
  return later(time, times(is_stored ? hops.cables : 1, wire(payload)));
}

std::uint64_t PacketStack::packets_of(std::uint64_t bytes) const {
  const std::uint64_t mtu = settings_.costs.mtu_bytes;
  return mtu == 0 || bytes == 0 ? 1 : (bytes - 1) / mtu + 1;
}

std::uint64_t PacketStack::segments_of(std::uint64_t bytes) const {
  const std::uint64_t most = segmentation_.segment_bytes;
  return most == 0 || bytes == 0 ? 1 : (bytes - 1) / most + 1;
}

const PacketStack::Message& PacketStack::message_of(const Flow& flow, std::uint64_t segment) const {
  const Message& first = flow.messages.front();
  if (segment < first.end()) return first;
  return *std::ranges::upper_bound(flow.messages, segment, {}, &Message::end);
}

std::uint64_t PacketStack::first_byte(const Flow& flow, std::uint64_t segment) const {
  if (segment == flow.segments) return flow.bytes;
  const Message& message = message_of(flow, segment);
  return message.first_byte + (segment - message.first_segment) * segmentation_.segment_bytes;
}

void PacketStack::transmit(std::uint32_t place, std::uint64_t segment, Time at) {
  Flow& flow = flows_[place];
  const std::uint64_t bytes = first_byte(flow, segment + 1) - first_byte(flow, segment);
  const std::uint64_t packets = packets_of(bytes);
  counters_.packets += packets;
  const std::uint64_t headers = segmentation_.is_merged ? (packets - 1) * settings_.costs.header_bytes : 0;
  // It has to leave the device, and to end.
  const std::uint64_t id = packet_id(place, false, flow.packets.add(segment, 2));
  network_.inject(at - lookahead(), flow.from, flow.to, bytes + headers, id);
}

void PacketStack::acknowledge(std::uint32_t place, std::uint64_t value) {
  Flow& flow = flows_[place];
  ++counters_.acknowledgements;
  network_.inject(now_, flow.to, flow.from, 0, packet_id(place, true, flow.acknowledgements.add(value, 1)));
}

void PacketStack::acknowledge_later(std::uint32_t place, std::uint64_t value, Time delay) {
  schedule<&PacketStack::on_due>(later(now_, delay), kAcknowledgementDue, place, value, value);
}

void PacketStack::on_due(const Event& event) {
  const Flow& flow = flows_[event.port];
  if (!is_dead(flow.to) && !flow.has_failed) on_acknowledgement_due(event.port, event.value);
}

void PacketStack::on_departed(const Departure& departure) {
  const std::uint64_t id = departure.id;
  if ((id >> kAcknowledgementShift & 1U) != 0) return;
  const auto place = static_cast<std::uint32_t>(id >> kFlowShift);
  Flow& flow = flows_[place];
  const std::uint64_t number = id & kNumberMask;
  const std::uint64_t segment = flow.packets.value(number);
  flow.packets.release(number);
  if (!is_dead(flow.from) && !flow.has_failed) on_left(place, segment);
}

void PacketStack::on_delivered(const Delivery& delivery) {
  const auto place = static_cast<std::uint32_t>(delivery.id >> kFlowShift);
  const bool is_acknowledgement = (delivery.id >> kAcknowledgementShift & 1U) != 0;
  const std::uint64_t number = delivery.id & kNumberMask;
  Flow& flow = flows_[place];
  PacketsInFlight& packets = is_acknowledgement ? flow.acknowledgements : flow.packets;
  const std::uint64_t value = packets.value(number);
  packets.release(number);
  if (delivery.lost == 0 && !has_faults_) {
    receive(place, is_acknowledgement, value);
  } else if (delivery.lost == 0) {
    end_packet(place, is_acknowledgement, number, value);
  } else {
    ++counters_.lost;
    if (!is_acknowledgement && !is_dead(flow.to) && !flow.has_failed) on_lost(place, value);
  }
}

/// As the faults will have it.
void PacketStack::end_packet(std::uint32_t place, bool is_acknowledgement, std::uint64_t number,
                             std::uint64_t value) {
  const Flow& flow = flows_[place];
  const int from = is_acknowledgement ? flow.to : flow.from;
  const int to = is_acknowledgement ? flow.from : flow.to;
  const PacketFate fate = fate_of(settings_.faults, from, to, is_acknowledgement, number);
  if (fate.is_dropped) {
    ++counters_.lost;
    if (!is_acknowledgement && !is_dead(flow.to) && !flow.has_failed) on_lost(place, value);
    return;
  }
  const Kind kind = is_acknowledgement ? kLateAcknowledgement : kLatePacket;
  const auto come_later = [&](int delay, std::uint64_t copy) {
    schedule<&PacketStack::on_late>(later(now_, times(delay, delay_unit_)), kind, place, number << 1U | copy,
                                    value);
  };
  if (fate.is_doubled) come_later(fate.copy_delay, 1);
  if (fate.delay > 0) {
    come_later(fate.delay, 0);
  } else {
    receive(place, is_acknowledgement, value);
  }
}

void PacketStack::on_late(const Event& event) {
  receive(event.port, event.device == kLateAcknowledgement, event.value);
}

void PacketStack::receive(std::uint32_t place, bool is_acknowledgement, std::uint64_t value) {
  const Flow& flow = flows_[place];
  if (flow.has_failed || is_dead(is_acknowledgement ? flow.from : flow.to)) return;
  if (is_acknowledgement) {
    on_acknowledgement(place, value);
  } else {
    on_segment(place, value);
  }
}

void PacketStack::tell_arrivals(std::uint32_t place, std::uint64_t first, std::uint64_t end, bool is_lost) {
  const Flow& flow = flows_[place];
  while (first < end) {
    const Message& message = message_of(flow, first);
    const std::uint64_t next = std::min(end, message.end());
    const std::uint64_t offset = first_byte(flow, first) - message.first_byte;
    const std::uint64_t bytes = first_byte(flow, next) - message.first_byte - offset;
    if (is_lost) counters_.lost_bytes += bytes;
    listener_.arrived({.time = now_,
                       .from = flow.from,
                       .to = flow.to,
                       .id = message.id,
                       .offset = offset,
                       .bytes = bytes,
                       .is_lost = is_lost,
                       .is_last = next == message.end()});
    first = next;
  }
}

void PacketStack::tell_completion(std::uint32_t place, std::uint64_t id, bool has_failed) {
  const Flow& flow = flows_[place];
  listener_.completed({.time = now_, .from = flow.from, .to = flow.to, .id = id, .has_failed = has_failed});
}

void PacketStack::complete_messages(std::uint32_t place, std::uint64_t acknowledged) {
  Flow& flow = flows_[place];
  while (!flow.messages.empty() && flow.messages.front().end() <= acknowledged) {
    const std::uint64_t id = flow.messages.front().id;
    flow.messages.pop_front();
    tell_completion(place, id, false);
  }
}

void PacketStack::give_up(std::uint32_t place) {
  Flow& flow = flows_[place];
  flow.has_failed = true;
  timers_.clear(place);
  std::deque<Message> messages;
  messages.swap(flow.messages);
  for (const Message& message : messages) tell_completion(place, message.id, true);
}

}  // namespace fabricmark::network
