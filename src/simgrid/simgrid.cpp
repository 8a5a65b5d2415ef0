// What SimGrid says of the programs of ranks that fabricmark-describe simulates: one request on standard
// input, its answer on standard output (docs/describe.md). SimGrid keeps its state for a whole process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "describe/simulation.hpp"
#include "network/topology.hpp"
#include "simulate/player.hpp"
#include "simulate/program.hpp"

namespace {

using fabricmark::bad_use;
using fabricmark::describe::Json;
using fabricmark::describe::Simulation;
using fabricmark::simulate::Op;
using fabricmark::simulate::Program;
namespace s4u = simgrid::s4u;

/// Latency + bytes / rate exactly, and shared links shared: no corrections for TCP. Stacks of 64 KiB, which
/// lie closer together than the usual 8 MiB: with thousands of ranks that is half of the time.
constexpr std::array kSettings{"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                               "network/loopback-lat:0", "contexts/stack-size:64"};

/// Devices of ranks as hosts, each cable as two links, and the ways between those that exchange messages.
class Platform {
 public:
  explicit Platform(const Simulation& asked) : asked_(asked), zone_(s4u::create_full_zone("fabric")) {
    hosts_.resize(static_cast<std::size_t>(asked.topology.devices()), nullptr);
    links_.resize(static_cast<std::size_t>(asked.topology.all_ports()), nullptr);
    for (const int device : asked.devices) {
      s4u::Host*& host = hosts_[static_cast<std::size_t>(device)];
      if (host == nullptr) host = zone_->create_host(fmt::format("device {}", device), 1e9);
    }
    for (std::size_t rank = 0; rank < asked.programs.size(); ++rank) {
      for (const Op& op : asked.programs[rank]) {
        if (op.kind == Op::Kind::kSend)
          add_route(asked.devices[rank], asked.devices[static_cast<std::size_t>(op.peer)]);
      }
    }
    zone_->seal();
  }
  [[nodiscard]] s4u::Host* host(int rank) const {
    return hosts_[static_cast<std::size_t>(asked_.devices[static_cast<std::size_t>(rank)])];
  }

 private:
  void add_route(int from, int to) {
    if (from == to || !known_.insert({from, to}).second) return;
    if (asked_.costs.only_neighbours_talk && asked_.topology.distance(from, to) != 1)
      throw bad_use(fmt::format("no circuit leads from device {} to {}", from, to),
                    "use a topology that has it, such as full-mesh");
    std::vector<s4u::LinkInRoute> way;
    for (const fabricmark::network::Hop& hop : asked_.topology.route(from, to)) way.emplace_back(link(hop));
    zone_->add_route(hosts_[static_cast<std::size_t>(from)]->get_netpoint(),
                     hosts_[static_cast<std::size_t>(to)]->get_netpoint(), nullptr, nullptr, way, false);
  }
  /// A cable in one direction, with what a message waits for at the node before it.
  s4u::Link* link(const fabricmark::network::Hop& hop) {
    s4u::Link*& found = links_[static_cast<std::size_t>(asked_.topology.place(hop.out))];
    if (found != nullptr) return found;
    const fabricmark::simulate::Costs& costs = asked_.costs;
    const double node = asked_.topology.is_device(hop.out.node) ? costs.node_seconds : costs.switch_seconds;
    found = zone_->create_link(asked_.topology.port_name(hop.out), costs.bytes_per_second);
    found->set_latency(node + costs.cable_seconds)->seal();
    return found;
  }

  const Simulation& asked_;
  s4u::NetZone* zone_;
  std::vector<s4u::Host*> hosts_;  ///< by device
  std::vector<s4u::Link*> links_;  ///< by place of a port
  std::set<std::pair<int, int>> known_;
};

/// Bytes of what a rank sends another over a channel, one message after the other.
class Sizes {
 public:
  Sizes(const Program& program, int peer, std::uint32_t channel)
      : program_(program), peer_(peer), channel_(channel) {}
  double next() {
    for (; place_ < program_.size(); ++place_) {
      const Op& op = program_[place_];
      if (op.kind == Op::Kind::kRepeat) place_ = loops_.behind(place_, op);
      if (op.kind != Op::Kind::kSend || op.peer != peer_ || op.channel != channel_) continue;
      ++place_;
      return op.amount;
    }
    return 0;  // a receive waits for it in vain
  }

 private:
  const Program& program_;
  int peer_;
  std::uint32_t channel_;
  std::size_t place_ = 0;
  fabricmark::simulate::Loops loops_;
};

/// A message, for the rank that sent it and the one that waits for it.
struct Sent {
  s4u::CommPtr comm;
  bool has_come = false;
};

/// Where the messages of one rank to another lie. Its receiver owns the mailbox from the start, so that they
/// leave when they are sent; those above the eager limit have one that nobody owns, and leave when both ends
/// have come to it.
struct Box {
  s4u::Mailbox* mailbox = nullptr;
  s4u::Mailbox* late = nullptr;
  double shortest = std::numeric_limits<double>::infinity();
  double longest = 0;
  std::optional<Sizes> sizes;              ///< of messages of both kinds: a receive has to know whose it is
  std::deque<std::shared_ptr<Sent>> sent;  ///< in this order; those before have come
  std::size_t gone = 0;                    ///< how many these were
  std::size_t asked = 0;                   ///< by how many receives
  [[nodiscard]] bool next_is_late(double eager_bytes) {
    return sizes ? sizes->next() > eager_bytes : shortest > eager_bytes;
  }
  /// Somebody has waited for the message of this number.
  void note(std::size_t number) {
    if (number < gone) return;  // the other end has waited, too
    sent[number - gone]->has_come = true;
    for (; !sent.empty() && sent.front()->has_come; ++gone) sent.pop_front();
  }
};
using Boxes = std::map<std::tuple<int, int, std::uint32_t>, Box>;  // from, to, channel

/// What a rank does. Nobody waits for messages to have left: SimGrid tells only when they have come, for
/// which the sender of one above the eager limit waits. They are not detached: SimGrid keeps all such ones of
/// all ranks in one list, and looks through it for each that ends.
class Rank {
 public:
  Rank(const Simulation& asked, int rank, Boxes& boxes, double& end)
      : asked_(asked), rank_(rank), boxes_(boxes), end_(end) {}
  void operator()() {
    const Program& program = asked_.programs[static_cast<std::size_t>(rank_)];
    fabricmark::simulate::Loops loops;
    for (std::size_t next = 0; next < program.size(); ++next) {
      const Op& op = program[next];
      if (op.kind == Op::Kind::kRepeat) {
        next = loops.behind(next, op);
      } else {
        take(op);
      }
    }
    end_ = s4u::Engine::get_clock();
    for (const auto& one : in_flight_) one->comm->wait();  // SimGrid cancels those of an actor that ends
  }

 private:
  struct Request {
    s4u::CommPtr comm;
    Box* box = nullptr;
    std::size_t number = 0;
  };

  void take(const Op& op) {
    if (requests_.size() <= op.slot) requests_.resize(op.slot + std::size_t{1});
    switch (op.kind) {
      case Op::Kind::kSend:
        if (asked_.costs.issue_seconds > 0) s4u::this_actor::sleep_for(asked_.costs.issue_seconds);
        send(op);
        break;
      case Op::Kind::kReceive: {
        Box& box = boxes_.at({op.peer, rank_, op.channel});
        s4u::Mailbox* mailbox = box.next_is_late(asked_.costs.eager_bytes) ? box.late : box.mailbox;
        requests_[op.slot] = {mailbox->get_async<int>(&received_), &box, box.asked++};
        break;
      }
      case Op::Kind::kWait: {
        const Request request = std::exchange(requests_[op.slot], {});
        if (request.comm == nullptr) break;
        request.comm->wait();
        request.box->note(request.number);
        break;
      }
      case Op::Kind::kWork:
        s4u::this_actor::sleep_for(op.amount);
        break;
      case Op::Kind::kRepeat:
        break;
    }
  }
  void send(const Op& op) {
    Box& box = boxes_.at({rank_, op.peer, op.channel});
    const bool is_late = op.amount > asked_.costs.eager_bytes;
    const std::uint64_t bytes = asked_.costs.wire_bytes(op.amount);
    for (; !in_flight_.empty() && in_flight_.front()->has_come; in_flight_.pop_front())
      in_flight_.front()->comm->wait();  // at once, and SimGrid forgets it
    s4u::Mailbox* mailbox = is_late ? box.late : box.mailbox;
    in_flight_.push_back(std::make_shared<Sent>(Sent{mailbox->put_async(&token_, bytes)}));
    requests_[op.slot] =
        is_late ? Request{in_flight_.back()->comm, &box, box.gone + box.sent.size()} : Request{};
    box.sent.push_back(in_flight_.back());
  }

  const Simulation& asked_;
  int rank_;
  Boxes& boxes_;
  double& end_;
  int token_ = 0;
  int* received_ = nullptr;
  std::vector<Request> requests_;
  std::deque<std::shared_ptr<Sent>> in_flight_;  ///< that it has sent
};

/// Each pair of ranks between which messages go has one for each of its channels.
Boxes boxes_of(const Simulation& asked) {
  Boxes found;
  for (int rank = 0; std::cmp_less(rank, asked.programs.size()); ++rank) {
    for (const Op& op : asked.programs[static_cast<std::size_t>(rank)]) {
      if (op.kind == Op::Kind::kSend) {
        Box& box = found[{rank, op.peer, op.channel}];
        box.shortest = std::min(box.shortest, op.amount);
        box.longest = std::max(box.longest, op.amount);
      }
      if (op.kind == Op::Kind::kReceive) found[{op.peer, rank, op.channel}];
    }
  }
  for (auto& [place, box] : found) {
    const auto [from, to, channel] = place;
    const double limit = asked.costs.eager_bytes;
    const std::string name = fmt::format("{} {} {}", from, to, channel);
    if (box.shortest <= limit) box.mailbox = s4u::Mailbox::by_name(name);
    if (box.shortest > limit || box.longest > limit) box.late = s4u::Mailbox::by_name(name + " late");
    if (box.mailbox != nullptr && box.late != nullptr)
      box.sizes.emplace(asked.programs[static_cast<std::size_t>(from)], to, channel);
  }
  return found;
}

Json answer(const Json& request) {
  int words = 1;
  std::string name = "fabricmark-simgrid";
  std::array<char*, 2> arguments{name.data(), nullptr};
  s4u::Engine engine(&words, arguments.data());
  for (const char* setting : kSettings) s4u::Engine::set_config(setting);
  const Simulation asked(request);
  const Platform platform(asked);
  std::vector<double> ends(asked.programs.size(), -1);
  Boxes boxes = boxes_of(asked);
  std::vector<s4u::ActorPtr> actors;
  for (int rank = 0; std::cmp_less(rank, asked.programs.size()); ++rank) {
    actors.push_back(s4u::Actor::create(fmt::format("rank {}", rank), platform.host(rank),
                                        Rank(asked, rank, boxes, ends[static_cast<std::size_t>(rank)])));
  }
  for (auto& [place, box] : boxes) {
    if (box.mailbox != nullptr)
      box.mailbox->set_receiver(actors[static_cast<std::size_t>(std::get<1>(place))]);
  }
  engine.run();
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    if (ends[rank] < 0)
      throw bad_use(fmt::format("rank {} waits for a message that nobody sends", rank),
                    "let each receive have a send");
  }
  return {{"seconds", *std::ranges::max_element(ends)}, {"version", FABRICMARK_SIMGRID_VERSION}};
}

}  // namespace

int main() {
  try {
    const std::string text(std::istreambuf_iterator<char>(std::cin), {});
    const Json request = Json::parse(text, nullptr, false);
    if (!request.is_object()) throw bad_use("standard input is no request", fabricmark::describe::kSeeDocs);
    std::cout << answer(request).dump() << '\n';
    return 0;
  } catch (const fabricmark::Error& error) {
    std::cerr << "fabricmark-simgrid: error: " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
}
