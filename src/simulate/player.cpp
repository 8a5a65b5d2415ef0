#include "simulate/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "simulate/place.hpp"
#include "simulate/wires.hpp"

namespace fabricmark::simulate {

namespace {

using network::Time;

/// Of a simulation at most, about: longer messages pass cables in larger bursts.
constexpr double kMostPackets = 8e6;
/// Of messages that nothing cuts for the wire, so that those that share a cable take turns.
constexpr std::uint64_t kUsualPacket = 4096;

class Player {
 public:
  Player(const std::vector<Program>& programs, const Setting& setting, Sharing sharing);
  Outcome outcome();

 private:
  /// A send or receive that was started; kEndOfTime: not known yet.
  struct Request {
    Time end = network::kEndOfTime;
    int peer = 0;
    bool is_receive = false;
  };
  /// A message that nobody has asked for, or a receive of one that nobody has sent: they find each other in
  /// the order of the programs, however late messages leave.
  struct Pending {
    int peer = 0;
    std::uint32_t channel = 0;
    std::uint16_t slot = 0;     ///< of a receive
    std::uint32_t message = 0;  ///< its number, until it has come
    Time time = 0;              ///< when a message came, kEndOfTime before; when a receive began
    [[nodiscard]] bool is_of(int other, std::uint32_t over) const { return peer == other && channel == over; }
  };
  struct Rank {
    std::size_t next = 0;
    Time clock = 0;
    std::vector<Request> requests;  ///< by slot
    std::vector<Time> spent;        ///< by part
    Loops loops;
    std::vector<Pending> unclaimed;  ///< messages
    std::vector<Pending> posted;     ///< receives
    std::uint16_t awaited = 0;
    bool is_waiting = false;
  };
  struct Message {
    int from = 0;  ///< ranks; of background traffic devices, and no slot
    int to = 0;
    std::uint16_t slot = 0;
    std::uint64_t wire_bytes = 0;
    Time ready = 0;             ///< when its sender lets it go
    std::uint16_t receive = 0;  ///< slot of the receive that has claimed it
    bool is_claimed = false;
    bool waits = false;  ///< for its receiver
    bool is_background = false;
  };

  void run(int rank);
  /// False where the rank has to wait.
  bool take(int rank, const Op& op);
  void send(int rank, const Op& op);
  void receive(int rank, const Op& op);
  void put(Time at, std::uint32_t id);
  void claim(std::uint32_t id, std::uint16_t slot, Time at);
  std::uint32_t new_message(const Message& message);
  void start(Rank& own, const Op& op, bool is_receive);
  void note(Activity::Kind kind, int rank, int peer, Time begin, Time end);
  void start_background();
  void send_background(Time at, int from, int to);
  void departed(Time at, std::uint32_t id);
  void delivered(Time at, std::uint32_t id);
  void end(int rank, std::uint16_t slot, Time at);
  [[nodiscard]] std::uint64_t burst_frames() const;
  void count_pairs(std::vector<LinkLoad>& links) const;
  void require_ends() const;

  const std::vector<Program>& programs_;
  const Setting& setting_;
  std::vector<Rank> ranks_;
  std::vector<bool> talked_;  ///< by sender and receiver
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_;
  std::vector<bool> has_departed_;  ///< of each message; else it is delivered
  std::uint64_t sent_ = 0;
  std::size_t unfinished_ = 0;   ///< ranks
  std::vector<LinkLoad> links_;  ///< when the last rank ended
  std::uint64_t in_flight_ = 0;  ///< messages of ranks that have left and not come
  std::vector<Activity> activities_;
  std::uint64_t left_out_ = 0;
  double left_out_seconds_ = 0;
  std::uint64_t burst_frames_ = 1;
  std::unique_ptr<Wires> wires_;
};

std::uint64_t frames_of(double payload, std::uint64_t frame_bytes) {
  if (frame_bytes == 0 || payload <= 0) return 1;
  return static_cast<std::uint64_t>(std::ceil(payload / static_cast<double>(frame_bytes)));
}

Player::Player(const std::vector<Program>& programs, const Setting& setting, Sharing sharing)
    : programs_(programs),
      setting_(setting),
      ranks_(programs.size()),
      talked_(programs.size() * programs.size()),
      burst_frames_(burst_frames()) {
  const Wires::Told told{[this](Time at, std::uint32_t id) { departed(at, id); },
                         [this](Time at, std::uint32_t id) { delivered(at, id); }};
  const Costs& costs = setting.costs;
  const std::uint64_t frame = costs.frame_bytes == 0 ? kUsualPacket : costs.frame_bytes + costs.header_bytes;
  unfinished_ = ranks_.size();
  for (Rank& rank : ranks_) rank.spent.resize(setting.parts, 0);
  wires_ = sharing == Sharing::kCables ? shared_cables(setting, frame * burst_frames_, told)
                                       : own_ports(setting, told);
  if (sharing == Sharing::kCables && setting.background.share > 0) start_background();
}

/// Devices without ranks send each to the next one of a circle, in an order drawn by the seed.
void Player::start_background() {
  std::vector<bool> has_rank(static_cast<std::size_t>(setting_.topology.devices()), false);
  for (const int device : setting_.devices) has_rank[static_cast<std::size_t>(device)] = true;
  std::vector<int> idle;
  for (int device = 0; device < setting_.topology.devices(); ++device) {
    if (!has_rank[static_cast<std::size_t>(device)]) idle.push_back(device);
  }
  if (idle.size() < 2 || setting_.costs.only_neighbours_talk) {
    throw bad_use(fmt::format("{} has {} devices without ranks for background traffic over {}",
                              setting_.topology.name(), idle.size(),
                              setting_.costs.only_neighbours_talk ? "circuits" : "packets"),
                  "use fewer ranks, a larger topology, or packets");
  }
  shuffle(idle, setting_.background.seed);
  for (std::size_t i = 0; i < idle.size(); ++i) send_background(0, idle[i], idle[(i + 1) % idle.size()]);
}

void Player::send_background(Time at, int from, int to) {
  const std::uint32_t id = new_message({.from = from, .to = to, .is_background = true});
  const auto payload = static_cast<double>(setting_.background.message_bytes);
  wires_->send(at, from, to, setting_.costs.wire_bytes(payload), id);
}

std::uint64_t Player::burst_frames() const {
  const std::uint64_t frame = setting_.costs.frame_bytes == 0 ? kUsualPacket : setting_.costs.frame_bytes;
  double frames = 0;
  double messages = 0;
  for (const Program& program : programs_) {
    const Sent sent = sent_by(program);
    frames += sent.bytes / static_cast<double>(frame);
    messages += sent.messages;
  }
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(frames / std::max(kMostPackets, messages))));
}

Outcome Player::outcome() {
  for (int rank = 0; std::cmp_less(rank, ranks_.size()); ++rank) run(rank);
  wires_->run();
  require_ends();
  Outcome found{.messages = sent_,
                .events = wires_->events(),
                .burst_frames = burst_frames_,
                .links = std::move(links_)};
  found.activities = std::move(activities_);
  found.left_out = left_out_;
  found.left_out_seconds = left_out_seconds_;
  for (const Rank& rank : ranks_) {
    found.ends.push_back(network::seconds(rank.clock));
    std::vector<double>& spent = found.spent.emplace_back();
    for (const Time part : rank.spent) spent.push_back(network::seconds(part));
    found.seconds = std::max(found.seconds, found.ends.back());
  }
  count_pairs(found.links);
  std::erase_if(found.links, [](const LinkLoad& link) { return link.pairs == 0; });
  std::ranges::stable_sort(found.links, [](const LinkLoad& a, const LinkLoad& b) {
    return std::pair(a.busy_seconds, a.pairs) > std::pair(b.busy_seconds, b.pairs);
  });
  return found;
}

void Player::require_ends() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const Rank& own = ranks_[rank];
    if (own.next >= programs_[rank].size()) continue;
    const auto awaited = std::ranges::find(own.posted, own.awaited, &Pending::slot);
    if (awaited == own.posted.end()) {
      throw bad_use(fmt::format("rank {} waits in step {} until rank {} asks for a message above {:g} B",
                                rank, own.next, own.requests[own.awaited].peer, setting_.costs.eager_bytes),
                    "receive it, or raise the eager limit");
    }
    throw bad_use(fmt::format("rank {} waits in step {} for a message of rank {}, which sends none", rank,
                              own.next, awaited->peer),
                  "let each receive have a send");
  }
}

void Player::run(int rank) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  const Program& program = programs_[static_cast<std::size_t>(rank)];
  while (own.next < program.size()) {
    const Op& op = program[own.next];
    const Time before = own.clock;
    if (!take(rank, op)) break;
    if (op.part < own.spent.size()) own.spent[op.part] += own.clock - before;
    ++own.next;
  }
  // Of background traffic what is on its way goes on.
  if (own.next == program.size() && --unfinished_ == 0) links_ = wires_->loads();
}

bool Player::take(int rank, const Op& op) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  switch (op.kind) {
    case Op::Kind::kSend:
      send(rank, op);
      break;
    case Op::Kind::kReceive:
      receive(rank, op);
      break;
    case Op::Kind::kWait: {
      const Time end = own.requests[op.slot].end;
      own.is_waiting = end == network::kEndOfTime;
      own.awaited = op.slot;
      if (own.is_waiting) return false;
      if (end > own.clock) {
        const Request& request = own.requests[op.slot];
        note(request.is_receive ? Activity::Kind::kWaitForMessage : Activity::Kind::kWaitForLink, rank,
             request.peer, own.clock, end);
        own.clock = end;
      }
      return true;
    }
    case Op::Kind::kWork: {
      const Time end = network::later(own.clock, network::from_seconds(op.amount));
      note(Activity::Kind::kWork, rank, rank, own.clock, end);
      own.clock = end;
      break;
    }
    case Op::Kind::kRepeat:
      own.next = own.loops.behind(own.next, op);
      break;
  }
  return true;
}

void Player::send(int rank, const Op& op) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  const int from = setting_.devices[static_cast<std::size_t>(rank)];
  const int to = setting_.devices[static_cast<std::size_t>(op.peer)];
  if (setting_.costs.only_neighbours_talk && from != to && setting_.topology.distance(from, to) != 1) {
    throw bad_use(fmt::format("rank {} sends to rank {}, to which no circuit of {} leads", rank, op.peer,
                              setting_.topology.name()),
                  "use an algorithm of neighbours, or a topology that has it, such as full-mesh");
  }
  own.clock = network::later(own.clock, network::from_seconds(setting_.costs.issue_seconds));
  start(own, op, false);
  const std::uint32_t id = new_message({.from = rank,
                                        .to = op.peer,
                                        .slot = op.slot,
                                        .wire_bytes = setting_.costs.wire_bytes(op.amount),
                                        .ready = own.clock,
                                        .waits = op.amount > setting_.costs.eager_bytes});
  ++sent_;
  talked_[static_cast<std::size_t>(rank) * ranks_.size() + static_cast<std::size_t>(op.peer)] = true;
  if (!messages_[id].waits) put(own.clock, id);
  Rank& receiver = ranks_[static_cast<std::size_t>(op.peer)];
  const auto posted =
      std::ranges::find_if(receiver.posted, [&](const Pending& one) { return one.is_of(rank, op.channel); });
  if (posted == receiver.posted.end()) {
    return receiver.unclaimed.push_back(
        {.peer = rank, .channel = op.channel, .message = id, .time = network::kEndOfTime});
  }
  const Pending one = *posted;
  receiver.posted.erase(posted);
  claim(id, one.slot, one.time);
}

/// On its way.
void Player::put(Time at, std::uint32_t id) {
  const Message& message = messages_[id];
  ++in_flight_;
  wires_->send(at, setting_.devices[static_cast<std::size_t>(message.from)],
               setting_.devices[static_cast<std::size_t>(message.to)], message.wire_bytes, id);
}

/// A receive that began then takes a message that has not come.
void Player::claim(std::uint32_t id, std::uint16_t slot, Time at) {
  Message& message = messages_[id];
  message.is_claimed = true;
  message.receive = slot;
  if (message.waits) put(std::max(at, message.ready), id);
}

std::uint32_t Player::new_message(const Message& message) {
  auto id = static_cast<std::uint32_t>(messages_.size());
  if (free_.empty()) {
    messages_.emplace_back();
    has_departed_.push_back(false);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  messages_[id] = message;
  has_departed_[id] = false;
  return id;
}

void Player::start(Rank& own, const Op& op, bool is_receive) {
  if (own.requests.size() <= op.slot) own.requests.resize(op.slot + std::size_t{1});
  own.requests[op.slot] = {network::kEndOfTime, op.peer, is_receive};
}

void Player::note(Activity::Kind kind, int rank, int peer, Time begin, Time end) {
  if (activities_.size() < setting_.most_activities) {
    activities_.push_back({kind, rank, peer, network::seconds(begin), network::seconds(end)});
  } else {
    ++left_out_;
    left_out_seconds_ += network::seconds(end - begin);
  }
}

void Player::receive(int rank, const Op& op) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  start(own, op, true);
  const auto found = std::ranges::find_if(
      own.unclaimed, [&op](const Pending& one) { return one.is_of(op.peer, op.channel); });
  if (found == own.unclaimed.end()) {
    return own.posted.push_back({.peer = op.peer, .channel = op.channel, .slot = op.slot, .time = own.clock});
  }
  const Pending one = *found;
  own.unclaimed.erase(found);
  if (one.time == network::kEndOfTime) return claim(one.message, op.slot, own.clock);
  own.requests[op.slot].end = std::max(own.clock, one.time);
}

/// A message's number is free when it has left and is there.
void Player::departed(Time at, std::uint32_t id) {
  const Message message = messages_[id];
  if (has_departed_[id]) free_.push_back(id);
  has_departed_[id] = true;
  if (!message.is_background) {
    if (!message.waits) end(message.from, message.slot, at);
    return;
  }
  if (in_flight_ == 0) return;  // all ranks have ended, or wait for what nobody sends
  const double share = setting_.background.share;
  const auto bytes = setting_.costs.wire_bytes(static_cast<double>(setting_.background.message_bytes));
  const double pause = static_cast<double>(bytes) / setting_.costs.bytes_per_second * (1 - share) / share;
  send_background(network::later(at, network::from_seconds(pause)), message.from, message.to);
}

void Player::delivered(Time at, std::uint32_t id) {
  const Message message = messages_[id];
  if (has_departed_[id]) free_.push_back(id);
  has_departed_[id] = true;
  if (message.is_background) return;
  --in_flight_;
  if (message.waits) end(message.from, message.slot, at);
  if (message.is_claimed) return end(message.to, message.receive, at);
  std::vector<Pending>& unclaimed = ranks_[static_cast<std::size_t>(message.to)].unclaimed;
  const auto own = std::ranges::find_if(
      unclaimed, [id](const Pending& one) { return one.message == id && one.time == network::kEndOfTime; });
  own->time = at;
}

void Player::end(int rank, std::uint16_t slot, Time at) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  own.requests[slot].end = at;
  if (own.is_waiting && own.awaited == slot) run(rank);
}

void Player::count_pairs(std::vector<LinkLoad>& links) const {
  if (links.empty()) return;
  const network::Topology& topology = setting_.topology;
  std::vector<std::uint64_t> pairs(static_cast<std::size_t>(topology.all_ports()), 0);
  for (std::size_t from = 0; from < ranks_.size(); ++from) {
    for (std::size_t to = 0; to < ranks_.size(); ++to) {
      if (!talked_[from * ranks_.size() + to]) continue;
      const int destination = setting_.devices[to];
      int node = setting_.devices[from];
      while (node != destination) {
        const network::Port out{node, topology.next_port(node, destination)};
        ++pairs[static_cast<std::size_t>(topology.place(out))];
        node = topology.neighbour(out)->node;
      }
    }
  }
  for (LinkLoad& link : links) link.pairs = pairs[static_cast<std::size_t>(topology.place(link.out))];
}

}  // namespace

std::uint64_t Costs::wire_bytes(double payload) const {
  const auto whole = static_cast<std::uint64_t>(std::llround(std::max(0.0, payload)));
  return whole + frames_of(payload, frame_bytes) * header_bytes;
}

Outcome play(const std::vector<Program>& programs, const Setting& setting, Sharing sharing) {
  return Player(programs, setting, sharing).outcome();
}

Costs costs_of(const network::NetworkCosts& network) {
  Costs found{.issue_seconds = network.start_seconds,
              .node_seconds = network.device_seconds(),
              .cable_seconds = network.one_cable_seconds(),
              .switch_seconds = network.switch_seconds};
  if (network.kind == "direct") {
    found.bytes_per_second = network.width_of_links() * network.clock_of_links();
    found.only_neighbours_talk = true;
  } else if (network.kind == "packet" || network.kind == "host") {
    found.bytes_per_second = network.wire_bytes_per_second();
    found.frame_bytes = network.frame_bytes;
    found.header_bytes = network.header_bytes;
  } else {
    throw bad_use(fmt::format("a network is of the kind '{}'", network.kind), "use packet, direct or host");
  }
  if (!(found.bytes_per_second > 0)) throw bad_use("a network's links have no rate", "set links.bandwidth");
  return found;
}

std::vector<double> latencies_to(const Setting& setting, int device) {
  constexpr double kUnknown = -1;
  const network::Topology& topology = setting.topology;
  std::vector<double> found(static_cast<std::size_t>(topology.nodes()), kUnknown);
  found[static_cast<std::size_t>(device)] = 0;
  std::vector<int> way;
  for (int begin = 0; begin < topology.nodes(); ++begin) {
    int node = begin;
    for (; found[static_cast<std::size_t>(node)] == kUnknown && topology.distance(node, device) > 0;
         node = topology.neighbour({node, topology.next_port(node, device)})->node) {
      way.push_back(node);
    }
    for (; !way.empty(); way.pop_back()) {
      const double passing =
          topology.is_device(way.back()) ? setting.costs.node_seconds : setting.costs.switch_seconds;
      const double rest = found[static_cast<std::size_t>(node)];
      found[static_cast<std::size_t>(way.back())] = passing + setting.costs.cable_seconds + rest;
      node = way.back();
    }
  }
  return found;
}

}  // namespace fabricmark::simulate
