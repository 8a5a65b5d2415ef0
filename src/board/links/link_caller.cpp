#include "board/links/link_caller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "board/dataflow/kernel.hpp"
#include "board/dataflow/stream.hpp"
#include "collectives/elements.hpp"
#include "collectives/replay/over_networks.hpp"
#include "device/event.hpp"
#include "network/time.hpp"

namespace fabricmark::collectives {

using dataflow::stream;

struct LinkWord {
  std::array<std::byte, kLinkWordBytes> bytes{};
};

/// What a kernel that sends or receives is told: the next message, or that there is none.
struct LinkOrder {
  View elements{};
  bool is_combined = false;  ///< what is received, with `own`
  View own{};
  Reduction reduction = Reduction::kSum;
  bool is_end = false;
};

/// A message has left or arrived.
struct LinkEnd {};

namespace {

/// One word for each message at least, so that its receiver hears of one without elements.
std::size_t link_words(const View& elements) {
  return std::max<std::size_t>((elements.bytes() + sizeof(LinkWord) - 1) / sizeof(LinkWord), 1);
}

/// The elements of a word.
View in_word(const View& elements, std::size_t word) {
  const std::size_t in_whole = sizeof(LinkWord) / bytes_of(elements.type);
  const std::size_t first = word * in_whole;
  return elements.part(first, std::min(in_whole, elements.count - first));
}

void send_over_link(stream<LinkOrder>& orders, stream<LinkWord>& link, stream<LinkEnd>& ends) {
  for (LinkOrder order = orders.read(); !order.is_end; order = orders.read()) {
    const std::size_t words = link_words(order.elements);
    for (std::size_t number = 0; number < words; ++number) {
      LinkWord word;
      const View part = in_word(order.elements, number);
      if (part.data != nullptr) std::memcpy(word.bytes.data(), part.data, part.bytes());
      link.write(word);
    }
    ends.write({});
  }
}

void receive_over_link(stream<LinkOrder>& orders, stream<LinkWord>& link, stream<LinkEnd>& ends) {
  for (LinkOrder order = orders.read(); !order.is_end; order = orders.read()) {
    const std::size_t words = link_words(order.elements);
    for (std::size_t number = 0; number < words; ++number) {
      const LinkWord word = link.read();
      const View part = in_word(order.elements, number);
      if (part.data == nullptr) continue;
      if (order.is_combined) {
        combine(part.type, order.reduction, word.bytes.data(), in_word(order.own, number).data, part.data,
                part.count);
      } else {
        std::memcpy(part.data, word.bytes.data(), part.bytes());
      }
    }
    ends.write({});
  }
}

bool is_without_data(const Call& call, int rank, int ranks) {
  const std::size_t own = own_count(call.operation, rank, call.root, ranks, call.count);
  const std::size_t result = result_count(call.operation, rank, call.root, ranks, call.count);
  return (own > 0 && call.own.data == nullptr) || (result > 0 && call.result.data == nullptr);
}

}  // namespace

Costs costs_of_links(const dataflow::LinkCost& link, const dataflow::DeviceCost& device) {
  return costs_of(LinkNetwork{.latency_seconds = link.latency_seconds,
                              .width_bytes = link.width_bytes,
                              .clock_hz = link.clock_hz,
                              .kernel_hz = device.clock_hz});
}

/// Both directions of a cable.
struct LinkCaller::Link {
  Link(dataflow::Host& host, int port) : ends(host.open<LinkWord>(port)) {}
  dataflow::Link<LinkWord> ends;
};

/// Messages in one direction between this device and a neighbour.
struct LinkCaller::Lane {
  Lane(const std::string& name, stream<LinkWord>& over)
      : words(over), orders(("orders to " + name).c_str()), ends(("ends of " + name).c_str()) {}
  stream<LinkWord>& words;
  stream<LinkOrder, kInFlight> orders;
  stream<LinkEnd, kInFlight> ends;
  std::uint64_t started = 0;
  std::uint64_t ended = 0;  // of which the algorithm has heard
};

/// The moves of this rank's part of one call, in the kernel that runs its algorithm.
class LinkCaller::OwnMoves final : public Moves {
 public:
  OwnMoves(LinkCaller& caller, Type type, Reduction reduction, bool has_data)
      : caller_(caller), type_(type), reduction_(reduction), has_data_(has_data) {}

  [[nodiscard]] int rank() const override { return caller_.place_.rank; }
  [[nodiscard]] int size() const override { return caller_.place_.ranks; }

  Ticket start_send(int to, const View& elements) override {
    return start(caller_.sends_, to, {.elements = elements});
  }
  Ticket start_receive(int from, const View& elements) override {
    return start(caller_.receives_, from, {.elements = elements});
  }
  void wait(Ticket ticket) override {
    const auto& [lane, number] = started_.at(ticket);
    while (lane->ended < number) hear(*lane);
  }

  void copy(const View& from, const View& to) override {
    if (from.count == 0 || (from.data != nullptr && from.data == to.data)) return;
    take_time(to);
    if (to.data != nullptr) std::memcpy(to.data, from.data, from.bytes());
  }
  void combine(const View& a, const View& b, const View& result) override {
    if (result.count == 0) return;
    take_time(result);
    if (result.data != nullptr)
      collectives::combine(type_, reduction_, a.data, b.data, result.data, result.count);
  }
  void receive_and_combine(int from, const View& own, const View& result) override {
    wait(start(caller_.receives_, from,
               {.elements = result, .is_combined = true, .own = own, .reduction = reduction_}));
  }
  View scratch(std::size_t count) override {
    if (!has_data_) return {nullptr, count, type_};
    auto& bytes = scratch_.emplace_back(count * bytes_of(type_));
    return {bytes.data(), count, type_};
  }

 private:
  static void hear(Lane& lane) {
    lane.ends.read();
    ++lane.ended;
  }
  Ticket start(std::map<int, std::unique_ptr<Lane>>& lanes, int peer, const LinkOrder& order) {
    const auto found = lanes.find(peer);
    if (found == lanes.end()) {
      throw bad_use(fmt::format("device {} has no link to device {}", rank(), peer),
                    "use an algorithm whose ranks talk to neighbours only");
    }
    Lane& lane = *found->second;
    if (lane.started - lane.ended == kInFlight) hear(lane);
    lane.orders.write(order);
    started_.emplace_back(&lane, ++lane.started);
    return started_.size() - 1;
  }
  void take_time(const View& elements) const {
    // A word a cycle, also where nothing is received.
    dataflow::spend_cycles(
        static_cast<std::int64_t>((elements.bytes() + kLinkWordBytes - 1) / kLinkWordBytes));
  }

  LinkCaller& caller_;
  Type type_;
  Reduction reduction_;
  bool has_data_;
  std::vector<std::pair<Lane*, std::uint64_t>> started_;  // [ticket]
  std::list<std::vector<std::byte>> scratch_;
};

LinkCaller::LinkCaller(dataflow::Fabric& fabric, dataflow::Host& host)
    : host_(host),
      place_{.rank = host.device(),
             .ranks = fabric.settings().devices,
             .costs = costs_of_links(fabric.settings().link, host.cost())} {
  if (!fabric.settings().topology) {
    if (place_.ranks == 1) return;
    throw bad_use("a fabric without a topology has no links", "give it one");
  }
  const network::Topology& topology = *fabric.settings().topology;
  place_.shape = shape_of_links(topology);
  const int own = host.device();
  for (int port = 0; port < topology.ports(own); ++port) {
    const auto other = topology.neighbour({own, port});
    if (!other || !topology.is_device(other->node) || other->node == own) continue;
    const std::string name = fmt::format("device {}", other->node);
    if (!sends_.contains(other->node)) {
      sends_.emplace(other->node, std::make_unique<Lane>("send to " + name, link({own, port}).ends.out));
    }
    // The way that the neighbour takes is that of its lowest port.
    const auto back = [&] {
      for (int far = 0; far < topology.ports(other->node); ++far) {
        const auto end = topology.neighbour({other->node, far});
        if (end && end->node == own) return *end;
      }
      throw std::logic_error("a cable with one end");
    }();
    if (!receives_.contains(other->node)) {
      receives_.emplace(other->node, std::make_unique<Lane>("receive from " + name, link(back).ends.in));
    }
  }
}

LinkCaller::~LinkCaller() = default;

LinkCaller::Link& LinkCaller::link(const network::Port& port) {
  auto& found = links_[port.port];
  if (!found) found = std::make_unique<Link>(host_, port.port);
  return *found;
}

void LinkCaller::run(const Algorithm& algorithm, const Call& asked) {
  Call call = asked;
  call.shape = place_.shape;
  check(call, place_.rank, place_.ranks);
  const Type type = type_of(call, place_.rank, place_.ranks);
  const bool has_data = !is_without_data(call, place_.rank, place_.ranks);
  std::vector<device::Event> kernels;
  const auto start = [&](const std::string& name, auto function, Lane& lane) {
    kernels.push_back(host_.start(name, {}, function, lane.orders, lane.words, lane.ends));
  };
  for (const auto& [peer, lane] : sends_) start(fmt::format("send to {}", peer), send_over_link, *lane);
  for (const auto& [peer, lane] : receives_)
    start(fmt::format("receive from {}", peer), receive_over_link, *lane);
  const auto work = [this, algorithm, call, type, has_data] {
    OwnMoves moves(*this, type, call.reduction, has_data);
    std::exception_ptr failure;
    try {
      collectives::run(algorithm, moves, call);
    } catch (const std::exception&) {  // not what cancels a kernel
      failure = std::current_exception();
    }
    for (auto* const lanes : {&sends_, &receives_}) {
      for (auto& [peer, lane] : *lanes) lane->orders.write({.is_end = true});
    }
    if (failure) std::rethrow_exception(failure);
  };
  kernels.push_back(host_.start(fmt::format("{} {}", algorithm.name, name_of(call.operation)), {}, work));
  for (const device::Event& kernel : kernels) kernel.wait();
}

}  // namespace fabricmark::collectives
