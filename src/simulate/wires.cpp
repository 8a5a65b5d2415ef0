#include "simulate/wires.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "network/event_core.hpp"
#include "network/packet_network.hpp"

namespace fabricmark::simulate {

namespace {

using network::Time;

class SharedCables final : public Wires {
 public:
  SharedCables(const Setting& setting, std::uint64_t packet_bytes, Told told)
      : topology_(setting.topology),
        told_(std::move(told)),
        network_(
            topology_,
            {.node_latency = network::from_seconds(setting.costs.node_seconds),
             .cable_latency = network::from_seconds(setting.costs.cable_seconds),
             .switch_latency = network::from_seconds(setting.costs.switch_seconds),
             .bytes_per_second = setting.costs.bytes_per_second,
             .mtu_bytes = packet_bytes},
            [this](const network::Delivery& one) {
              told_.delivered(one.time, static_cast<std::uint32_t>(one.id));
            },
            [this](const network::Departure& one) {
              told_.departed(one.time, static_cast<std::uint32_t>(one.id));
            }) {}
  void send(Time at, int from, int to, std::uint64_t wire_bytes, std::uint32_t id) override {
    // Of messages that leave a device at one time the one that its program sends first goes first.
    constexpr unsigned kIdBits = 32;
    network_.inject(at, from, to, wire_bytes, sent_++ << kIdBits | id);
  }
  void run() override { network_.advance_until(network::kEndOfTime); }
  [[nodiscard]] std::uint64_t events() const override { return network_.events(); }
  [[nodiscard]] std::vector<LinkLoad> loads() const override {
    std::vector<LinkLoad> found;
    for (int node = 0; node < topology_.nodes(); ++node) {
      for (int port = 0; port < topology_.ports(node); ++port) {
        const network::PortCounters& counted = network_.counters({node, port});
        if (counted.packets == 0) continue;
        found.push_back(
            {.out = {node, port}, .bytes = counted.bytes, .busy_seconds = network::seconds(counted.busy)});
      }
    }
    return found;
  }

 private:
  const network::Topology& topology_;
  Told told_;
  std::uint64_t sent_ = 0;
  network::PacketNetwork network_;
};

class OwnPorts final : public Wires {
 public:
  OwnPorts(const Setting& setting, Told told)
      : setting_(setting),
        told_(std::move(told)),
        out_free_(static_cast<std::size_t>(setting.topology.all_ports()), 0),
        in_free_(static_cast<std::size_t>(setting.topology.all_ports()), 0) {}
  void send(Time at, int from, int to, std::uint64_t wire_bytes, std::uint32_t id) override {
    const Time start = network::later(at, network::from_seconds(setting_.costs.node_seconds));
    if (id >= messages_.size()) messages_.resize(id + std::size_t{1});
    messages_[id] = {
        from, to, network::transfer_time(static_cast<double>(wire_bytes), setting_.costs.bytes_per_second)};
    schedule<&OwnPorts::on_sent>(start, from, 0, id);
  }
  void run() override { core_.run(); }
  [[nodiscard]] std::uint64_t events() const override { return core_.handled(); }
  [[nodiscard]] std::vector<LinkLoad> loads() const override { return {}; }

 private:
  struct Message {
    int from = 0;
    int to = 0;
    Time on_wire = 0;
  };

  template <void (OwnPorts::*Handler)(Time, std::uint32_t)>
  void schedule(Time time, int device, int port, std::uint32_t id) {
    core_.schedule({.time = time,
                    .device = static_cast<std::uint32_t>(device),
                    .port = static_cast<std::uint32_t>(port),
                    .sequence = sequence_++,
                    .handle =
                        [](void* owner, const network::Event& event) {
                          (static_cast<OwnPorts*>(owner)->*Handler)(event.time,
                                                                    static_cast<std::uint32_t>(event.value));
                        },
                    .owner = this,
                    .value = id});
  }
  void on_sent(Time now, std::uint32_t id) {
    const Message message = messages_[id];
    const int port = setting_.topology.next_port(message.from, message.to);
    if (port < 0) {  // to itself, through its memory
      told_.departed(now, id);
      return told_.delivered(now, id);
    }
    Time& free = out_free_[static_cast<std::size_t>(setting_.topology.place({message.from, port}))];
    const Time begin = std::max(now, free);
    free = network::later(begin, message.on_wire);
    schedule<&OwnPorts::on_departed>(free, message.from, port, id);
    schedule<&OwnPorts::on_arriving>(network::later(begin, on_its_way(message)), message.to, 0, id);
  }
  void on_departed(Time now, std::uint32_t id) { told_.departed(now, id); }
  void on_arriving(Time now, std::uint32_t id) {
    const Message& message = messages_[id];
    Time& free = in_free_[static_cast<std::size_t>(last_port(message))];
    free = network::later(std::max(now, free), message.on_wire);
    schedule<&OwnPorts::on_arrived>(free, message.to, 0, id);
  }
  void on_arrived(Time now, std::uint32_t id) { told_.delivered(now, id); }

  [[nodiscard]] Time on_its_way(const Message& message) {
    std::vector<double>& known = latencies_[message.to];
    if (known.empty()) known = latencies_to(setting_, message.to);
    const double rest = known[static_cast<std::size_t>(message.from)] - setting_.costs.node_seconds;
    return network::from_seconds(std::max(0.0, rest));
  }
  /// Place of the receiver's port by which a message comes.
  [[nodiscard]] int last_port(const Message& message) {
    int& known =
        last_ports_[static_cast<std::uint64_t>(message.from) << 32U | static_cast<std::uint32_t>(message.to)];
    if (known == 0) known = place_of_last(message) + 1;
    return known - 1;
  }
  [[nodiscard]] int place_of_last(const Message& message) const {
    const network::Topology& topology = setting_.topology;
    network::Port in{message.from, 0};
    do {
      in = *topology.neighbour({in.node, topology.next_port(in.node, message.to)});
    } while (in.node != message.to);
    return topology.place(in);
  }

  const Setting& setting_;
  Told told_;
  network::EventCore core_;
  std::vector<Time> out_free_;  ///< by place of a port
  std::vector<Time> in_free_;
  std::vector<Message> messages_;                           ///< by id, which are used again
  std::unordered_map<int, std::vector<double>> latencies_;  ///< by receiver, from each node
  std::unordered_map<std::uint64_t, int> last_ports_;       ///< by sender and receiver; one more
  std::uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<Wires> shared_cables(const Setting& setting, std::uint64_t packet_bytes, Wires::Told told) {
  return std::make_unique<SharedCables>(setting, packet_bytes, std::move(told));
}

std::unique_ptr<Wires> own_ports(const Setting& setting, Wires::Told told) {
  return std::make_unique<OwnPorts>(setting, std::move(told));
}

}  // namespace fabricmark::simulate
