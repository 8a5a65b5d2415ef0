#include "network/packet_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::network {

namespace {

// Of one time and node: what leaves makes room for what comes, and what comes from elsewhere goes before a
// device's own.
enum Kind : std::uint32_t { kLeft, kCredit, kArrived, kReady, kInjected };
constexpr std::uint32_t kKindShift = 24;
constexpr std::uint32_t kPortMask = (1U << kKindShift) - 1;
// Of the value of a credit: bytes in the lower bits, cables passed above.
constexpr std::uint32_t kBytesShift = 48;
constexpr std::uint64_t kBytesMask = (std::uint64_t{1} << kBytesShift) - 1;

/// A place in a list with gaps, of which the free ones are chained by `next`.
template <typename T>
std::uint32_t taken(std::vector<T>& list, std::uint32_t& free, std::uint32_t none) {
  if (free == none) {
    list.emplace_back();
    return static_cast<std::uint32_t>(list.size() - 1);
  }
  const std::uint32_t place = free;
  free = list[place].next;
  list[place] = T{};
  return place;
}

template <typename T>
void give_back(std::vector<T>& list, std::uint32_t& free, std::uint32_t place) {
  list[place].next = free;
  free = place;
}

int longest_route(const Topology& topology) {
  int longest = 0;
  for (int from = 0; from < topology.devices(); ++from) {
    for (int to = 0; to < topology.devices(); ++to) longest = std::max(longest, topology.distance(from, to));
  }
  return longest;
}

}  // namespace

PacketNetwork::PacketNetwork(const Topology& topology, const PacketCosts& costs, Deliver deliver,
                             Depart depart)
    : topology_(topology),
      costs_(costs),
      deliver_(std::move(deliver)),
      depart_(std::move(depart)),
      ports_(topology.all_ports()) {
  const std::uint64_t largest = costs.mtu_bytes + costs.header_bytes;
  if (std::min({costs.node_latency, costs.cable_latency, costs.switch_latency}) < 0 ||
      std::max(costs.mtu_bytes, costs.header_bytes) > kBytesMask / 2) {
    throw bad_use("a latency below 0, or a packet of more than 2^47 B", "correct the network's values");
  }
  full_time_ = transfer_time(static_cast<double>(largest), costs.bytes_per_second);
  header_time_ = transfer_time(static_cast<double>(costs.header_bytes), costs.bytes_per_second);
  const bool is_finite = costs.buffering != Buffering::kUnlimited;
  if (is_finite &&
      (costs.mtu_bytes == 0 || costs.buffer_bytes < largest || costs.buffer_bytes > kBytesMask)) {
    throw bad_use(fmt::format("buffers of {} B with packets of {} B payload and {} B header",
                              costs.buffer_bytes, costs.mtu_bytes, costs.header_bytes),
                  "give the packets a size, and each buffer room for one");
  }
  // A chosen first port may lead away by one cable, from where the way is at most one longer.
  if (costs.buffering == Buffering::kCredits) lines_ = static_cast<std::size_t>(longest_route(topology)) + 2;
  queues_.resize(ports_.size() * lines_);
  if (costs.buffering == Buffering::kCredits) room_.assign(queues_.size(), costs.buffer_bytes);
  for (int node = 0; node < topology.nodes(); ++node) {
    for (int port = 0; port < topology.ports(node); ++port) {
      const Port self{.node = node, .port = port};
      OutPort& out = ports_[topology.place(self)];
      out.self = self;
      out.other = topology.neighbour(self).value_or(self);
    }
  }
}

std::uint64_t PacketNetwork::packets_of(std::uint64_t bytes) const {
  if (costs_.mtu_bytes == 0 || bytes == 0) return 1;
  return (bytes - 1) / costs_.mtu_bytes + 1;
}

Time PacketNetwork::wire_time(std::uint64_t wire_bytes) const {
  if (wire_bytes == costs_.mtu_bytes + costs_.header_bytes) return full_time_;
  return transfer_time(static_cast<double>(wire_bytes), costs_.bytes_per_second);
}

template <void (PacketNetwork::*Handler)(const Event&)>
void PacketNetwork::schedule(Time time, std::uint32_t kind, Port port, std::uint64_t sequence,
                             std::uint64_t value) {
  core_.schedule({.time = time,
                  .device = static_cast<std::uint32_t>(port.node),
                  .port = kind << kKindShift | static_cast<std::uint32_t>(port.port),
                  .sequence = sequence,
                  .handle = [](void* owner,
                               const Event& event) { (static_cast<PacketNetwork*>(owner)->*Handler)(event); },
                  .owner = this,
                  .value = value});
}

void PacketNetwork::inject(Time at, int device, int destination, std::uint64_t bytes, std::uint64_t id,
                           int port) {
  topology_.check_device(device);
  topology_.check_device(destination);
  if (port != kAnyPort && !topology_.neighbour({device, port})) {
    throw bad_use(fmt::format("{}: {} has no cable", topology_.name(), topology_.port_name({device, port})),
                  "send over another port");
  }
  if (bytes > kBytesMask - costs_.header_bytes) {
    throw bad_use(fmt::format("a message of {} B", bytes), "send less than 2^48 B at once");
  }
  if (costs_.mtu_bytes == 0)
    (void)wire_time(bytes + costs_.header_bytes);  // throws now rather than when it leaves
  const Time start = later(at, costs_.node_latency);
  if (start < core_.now()) {
    throw bad_use(fmt::format("message {} of {} at {} s comes after the network has reached {} s", id,
                              topology_.node_name(device), seconds(at), seconds(core_.now())),
                  "advance the network no further than all devices are");
  }
  const int out = port == kAnyPort ? topology_.next_port(device, destination) : port;
  const std::uint32_t place = taken(messages_, free_message_, kNone);
  Message& message = messages_[place];
  message.id = id;
  message.left_bytes = bytes;
  message.packets = message.unsent = packets_of(bytes);
  message.destination = destination;
  // A port that is not there comes after all that are.
  const Port where{.node = device, .port = out < 0 ? static_cast<int>(kPortMask) : out};
  schedule<&PacketNetwork::on_injected>(start, kInjected, where, id, place);
}

void PacketNetwork::on_injected(const Event& event) {
  const auto place = static_cast<std::uint32_t>(event.value);
  const std::uint32_t port = event.port & kPortMask;
  if (port == kPortMask) {
    const Message message = messages_[place];
    give_back(messages_, free_message_, place);
    if (depart_) depart_({event.time, static_cast<int>(event.device), message.id});
    deliver_({event.time, message.destination, message.id, message.packets, 0});
    return;
  }
  const int out = topology_.place({static_cast<int>(event.device), static_cast<int>(port)});
  Line& line = ports_[out].messages;
  (line.first == kNone ? line.first : messages_[line.last].next) = place;
  line.last = place;
  if (ports_[out].has_own) return;
  queue_next_packet(out);
  serve(out);
}

/// Of the first message in the line of a port. The message leaves the line with its last packet, which may
/// end it.
void PacketNetwork::queue_next_packet(int place) {
  OutPort& out = ports_[place];
  out.has_own = out.messages.first != kNone;
  if (!out.has_own) return;
  const std::uint32_t index = out.messages.first;
  Message& message = messages_[index];
  const std::uint64_t payload =
      costs_.mtu_bytes == 0 ? message.left_bytes : std::min(message.left_bytes, costs_.mtu_bytes);
  message.left_bytes -= payload;
  if (--message.unsent == 0) out.messages.first = message.next;
  const std::uint32_t packet = taken(packets_, free_packet_, kNone);
  packets_[packet].wire_bytes = payload + costs_.header_bytes;
  packets_[packet].message = index;
  enqueue(place, packet);
}

void PacketNetwork::enqueue(int place, std::uint32_t packet) {
  packets_[packet].order = order_++;
  packets_[packet].next = kNone;
  Line& line = queues_[line_of(place, packets_[packet].cables)];
  (line.first == kNone ? line.first : packets_[line.last].next) = packet;
  line.last = packet;
}

void PacketNetwork::on_ready(const Event& event) {
  const auto packet = static_cast<std::uint32_t>(event.value);
  const int node = static_cast<int>(event.device);
  const int place =
      topology_.place({node, topology_.next_port(node, messages_[packets_[packet].message].destination)});
  OutPort& out = ports_[place];
  const std::uint64_t bytes = packets_[packet].wire_bytes;
  if (costs_.buffering == Buffering::kDrop && out.queued_bytes + bytes > costs_.buffer_bytes) {
    drop(place, packet);
    return;
  }
  out.queued_bytes += bytes;
  out.counters.largest_queue_bytes = std::max(out.counters.largest_queue_bytes, out.queued_bytes);
  enqueue(place, packet);
  serve(place);
}

/// Sends the packet that came first of those for which there is room, unless one is leaving.
void PacketNetwork::serve(int place) {
  if (ports_[place].is_busy) return;
  std::size_t chosen = queues_.size();
  const std::size_t begin = static_cast<std::size_t>(place) * lines_;
  for (std::size_t i = begin; i < begin + lines_; ++i) {
    const std::uint32_t first = queues_[i].first;
    if (first == kNone || (!room_.empty() && room_[i] < packets_[first].wire_bytes)) continue;
    if (chosen == queues_.size() || packets_[first].order < packets_[queues_[chosen].first].order) chosen = i;
  }
  if (chosen == queues_.size()) return;
  const std::uint32_t packet = queues_[chosen].first;
  queues_[chosen].first = packets_[packet].next;
  if (!room_.empty()) room_[chosen] -= packets_[packet].wire_bytes;
  send(place, packet);
}

void PacketNetwork::send(int place, std::uint32_t index) {
  OutPort& out = ports_[place];
  Packet& packet = packets_[index];
  const Time now = core_.now();
  const Time left = later(now, wire_time(packet.wire_bytes));
  out.is_busy = true;
  // Of a device's own packets one is in the queue: no more to make means that this is the last.
  const Message& message = messages_[packet.message];
  out.leaving = {packet.wire_bytes, packet.came_by, packet.cables, message.unsent == 0, message.id};
  ++out.counters.packets;
  out.counters.bytes += packet.wire_bytes;
  out.counters.busy += left - now;
  packet.came_by = place;
  ++packet.cables;
  schedule<&PacketNetwork::on_left>(left, kLeft, out.self, sequence_++, 0);
  const Time all_there = later(left, costs_.cable_latency);
  const int node = out.other.node;
  if (node == messages_[packet.message].destination) {
    schedule<&PacketNetwork::on_arrived>(all_there, kArrived, out.other, sequence_++, index);
    return;
  }
  const Time latency = topology_.is_device(node) ? costs_.node_latency : costs_.switch_latency;
  const Time ready = costs_.forwarding == Forwarding::kStoreAndForward
                         ? later(all_there, latency)
                         : later(later(now, costs_.cable_latency), std::max(latency, header_time_));
  schedule<&PacketNetwork::on_ready>(ready, kReady, out.other, sequence_++, index);
}

void PacketNetwork::on_left(const Event& event) {
  const int place =
      topology_.place({static_cast<int>(event.device), static_cast<int>(event.port & kPortMask)});
  OutPort& out = ports_[place];
  const Leaving left = out.leaving;
  out.is_busy = false;
  if (left.came_by == kLocal) {
    queue_next_packet(place);
  } else {
    out.queued_bytes -= left.wire_bytes;
    return_room(left.came_by, left.cables, left.wire_bytes);
  }
  serve(place);
  if (depart_ && left.came_by == kLocal && left.is_last) depart_({event.time, out.self.node, left.id});
}

/// Tells the port that sent a packet that its place is free again. `cables`: that the packet has passed
/// since.
void PacketNetwork::return_room(int place, int cables, std::uint64_t wire_bytes) {
  if (room_.empty()) return;
  const std::uint64_t value = wire_bytes | static_cast<std::uint64_t>(cables - 1) << kBytesShift;
  schedule<&PacketNetwork::on_credit>(later(core_.now(), costs_.cable_latency), kCredit, ports_[place].self,
                                      sequence_++, value);
}

void PacketNetwork::on_credit(const Event& event) {
  const int place =
      topology_.place({static_cast<int>(event.device), static_cast<int>(event.port & kPortMask)});
  room_[line_of(place, static_cast<int>(event.value >> kBytesShift))] += event.value & kBytesMask;
  serve(place);
}

void PacketNetwork::on_arrived(const Event& event) {
  const auto index = static_cast<std::uint32_t>(event.value);
  const Packet& packet = packets_[index];
  return_room(packet.came_by, packet.cables, packet.wire_bytes);
  end_packet(index, false);
}

void PacketNetwork::drop(int place, std::uint32_t packet) {
  PortCounters& counters = ports_[place].counters;
  ++counters.lost_packets;
  counters.lost_bytes += packets_[packet].wire_bytes;
  ++lost_packets_;
  end_packet(packet, true);
}

void PacketNetwork::end_packet(std::uint32_t packet, bool is_lost) {
  const std::uint32_t place = packets_[packet].message;
  give_back(packets_, free_packet_, packet);
  Message& message = messages_[place];
  message.lost += is_lost ? 1 : 0;
  if (++message.ended < message.packets) return;
  const Delivery delivery{core_.now(), message.destination, message.id, message.packets, message.lost};
  give_back(messages_, free_message_, place);
  deliver_(delivery);
}

}  // namespace fabricmark::network
