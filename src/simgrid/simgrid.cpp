// What SimGrid says of the programs of ranks that fabricmark-describe simulates: one request on standard
// input, its answer on standard output (docs/describe.md). SimGrid keeps its state for a whole process.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <string>
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

/// Latency + bytes / rate exactly, and shared links shared: no corrections for TCP.
constexpr std::array kExact{"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                            "network/loopback-lat:0"};

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
          add_way(asked.devices[rank], asked.devices[static_cast<std::size_t>(op.peer)]);
      }
    }
    zone_->seal();
  }
  [[nodiscard]] s4u::Host* host(int rank) const {
    return hosts_[static_cast<std::size_t>(asked_.devices[static_cast<std::size_t>(rank)])];
  }

 private:
  void add_way(int from, int to) {
    if (from == to || !known_.insert({from, to}).second) return;
    if (asked_.costs.only_neighbours_talk && asked_.topology.distance(from, to) != 1)
      throw bad_use(fmt::format("no circuit leads from device {} to {}", from, to), "use another topology");
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

/// What a rank does. Messages leave when they are sent, as mailboxes have their receiver from the start, and
/// nobody waits for them to have left: SimGrid tells only when they have come.
class Rank {
 public:
  Rank(const Simulation& asked, int rank, double& end) : asked_(asked), rank_(rank), end_(end) {}
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
  }

 private:
  void take(const Op& op) {
    if (requests_.size() <= op.slot) requests_.resize(op.slot + std::size_t{1});
    switch (op.kind) {
      case Op::Kind::kSend: {
        if (asked_.costs.issue_seconds > 0) s4u::this_actor::sleep_for(asked_.costs.issue_seconds);
        const std::uint64_t bytes = asked_.costs.wire_bytes(op.amount);
        box(rank_, op.peer)->put_init(&token_, bytes)->detach();
        requests_[op.slot] = nullptr;
        break;
      }
      case Op::Kind::kReceive:
        requests_[op.slot] = box(op.peer, rank_)->get_async<int>(&received_);
        break;
      case Op::Kind::kWait:
        if (requests_[op.slot] != nullptr) requests_[op.slot]->wait();
        break;
      case Op::Kind::kWork:
        s4u::this_actor::sleep_for(op.amount);
        break;
      case Op::Kind::kRepeat:
        break;
    }
  }
  s4u::Mailbox* box(int from, int to) {
    s4u::Mailbox*& found = boxes_[{from, to}];
    if (found == nullptr) found = s4u::Mailbox::by_name(fmt::format("{} {}", from, to));
    return found;
  }

  const Simulation& asked_;
  int rank_;
  double& end_;
  int token_ = 0;
  int* received_ = nullptr;
  std::vector<s4u::CommPtr> requests_;
  std::map<std::pair<int, int>, s4u::Mailbox*> boxes_;
};

/// Each pair that exchanges messages has a mailbox, which its receiver owns.
void give_mailboxes(const Simulation& asked, const std::vector<s4u::ActorPtr>& actors) {
  for (std::size_t rank = 0; rank < asked.programs.size(); ++rank) {
    for (const Op& op : asked.programs[rank]) {
      if (op.kind != Op::Kind::kSend) continue;
      s4u::Mailbox::by_name(fmt::format("{} {}", rank, op.peer))
          ->set_receiver(actors[static_cast<std::size_t>(op.peer)]);
    }
  }
}

Json answer(const Json& request) {
  int words = 1;
  std::string name = "fabricmark-simgrid";
  std::array<char*, 2> arguments{name.data(), nullptr};
  s4u::Engine engine(&words, arguments.data());
  for (const char* setting : kExact) s4u::Engine::set_config(setting);
  const Simulation asked(request);
  const Platform platform(asked);
  std::vector<double> ends(asked.programs.size(), -1);
  std::vector<s4u::ActorPtr> actors;
  for (int rank = 0; std::cmp_less(rank, asked.programs.size()); ++rank) {
    actors.push_back(s4u::Actor::create(fmt::format("rank {}", rank), platform.host(rank),
                                        Rank(asked, rank, ends[static_cast<std::size_t>(rank)])));
  }
  give_mailboxes(asked, actors);
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
