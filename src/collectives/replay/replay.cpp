#include "collectives/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectives/program_record.hpp"
#include "network/packet_network.hpp"
#include "network/topology.hpp"

namespace fabricmark::collectives {

namespace {

using network::Time;

/// Messages are as long on the wire as they take there: a byte is a picosecond.
constexpr double kWireRate = 1e12;
/// In which the longest message passes a port at most where several take turns, in runs of few and of many
/// ranks: more of them would change little.
constexpr double kMostTurns = 32;
constexpr double kLeastTurns = 4;
constexpr double kTurnsOfAll = 2048;
/// Beyond so many bytes of a rank each more takes what the last ones took.
constexpr std::size_t kLongest = std::size_t{64} << 20U;
/// Of the number of a message on the wire; above them stands its receiver.
constexpr unsigned kIdBits = 48;
constexpr std::uint64_t kIdMask = (std::uint64_t{1} << kIdBits) - 1;

network::Topology topology_of(const Problem& problem) {
  const Shape& shape = problem.shape;
  switch (shape.wiring) {
    case Wiring::kRing:
      return network::ring(problem.ranks);
    case Wiring::kTorus:
      return network::torus(shape.rows, shape.columns);
    case Wiring::kAnyToAny:
      break;
  }
  return shape.only_neighbours_talk ? network::full_mesh(problem.ranks)
                                    : network::leaf_spine(1, 0, problem.ranks);
}

/// Where the latency of a message lies. On a way over other devices each adds its own.
struct Latencies {
  Time before = 0;  ///< a message begins
  Time node = 0;
  Time cable = 0;
  Time over_switch = 0;
};

Latencies latencies_of(const Problem& problem, const Costs& costs) {
  const double latency = std::max(0.0, costs.message_seconds - costs.copy_seconds);
  if (problem.shape.only_neighbours_talk) return {.cable = network::from_seconds(latency)};
  const Time node = network::from_seconds(std::min(costs.hop_seconds, latency));
  const Time rest = network::from_seconds(latency) - node;
  if (problem.shape.wiring == Wiring::kAnyToAny) return {.node = node, .over_switch = rest};
  return {.before = rest, .node = node};
}

/// What goes first in comes first out. Empty ones are many, and cost nothing.
template <typename T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return first_ == items_.size(); }
  [[nodiscard]] const T& front() const { return items_[first_]; }
  void push(const T& item) { items_.push_back(item); }
  T pop() {
    const T item = items_[first_++];
    if (empty()) {
      items_.clear();
      first_ = 0;
    }
    return item;
  }

 private:
  std::vector<T> items_;
  std::size_t first_ = 0;
};

/// By sender and receiver.
template <typename T>
using Lines = std::unordered_map<std::uint64_t, Fifo<T>>;

std::uint64_t line(int sender, int receiver) {
  return static_cast<std::uint64_t>(sender) << 32U | static_cast<std::uint32_t>(receiver);
}

class Replay {
 public:
  Replay(const Algorithm& algorithm, const Problem& problem, const Costs& costs);
  CallTimes times();

 private:
  struct Message {
    /// Held: by a circuit, which stores no more than what keeps it busy, until its receiver wants it.
    enum class Kind : std::uint8_t { kEager, kHeld, kRequest, kGrant, kData };
    Kind kind = Kind::kEager;
    int from = 0;  ///< of the elements: a grant goes the other way
    int to = 0;
    double bytes = 0;
    Moves::Ticket sent = 0;
    Moves::Ticket received = 0;  ///< once it is granted
    bool is_combined = false;    ///< once it is granted
    std::uint64_t unsent = 0;    ///< of its length on the wire
    std::uint64_t staying = 0;   ///< that has not left
    std::uint64_t missing = 0;   ///< that has not arrived
    [[nodiscard]] bool has_elements() const { return kind == Kind::kEager || kind == Kind::kData; }
    [[nodiscard]] int sender() const { return kind == Kind::kGrant ? to : from; }
    [[nodiscard]] int receiver() const { return kind == Kind::kGrant ? from : to; }
  };
  struct Posted {
    Moves::Ticket ticket = 0;
    bool is_combined = false;
  };
  struct Rank {
    std::vector<Step> steps;
    std::size_t next = 0;
    Time clock = 0;
    Time mover_free = 0;
    std::vector<Time> ends;  ///< [ticket]; kEndOfTime: not known yet
    Moves::Ticket awaited = 0;
    bool is_waiting = false;
  };

  [[nodiscard]] std::uint64_t turn() const;

  /// As far as it knows what happens.
  void run(int rank);
  /// False where the step has to wait.
  bool take(int rank, const Step& step);
  void send(int rank, const Step& step);
  void receive(int rank, const Step& step);
  void put_on_wire(Time at, Message message);
  /// The next part of a message, which comes to its port at this time.
  void send_part(Time at, std::uint64_t id);
  void departed(Time at, std::uint64_t id);
  void arrived(Time at, std::uint64_t id);
  void deliver(Time at, std::uint64_t id);
  /// A message whose receiver may wait for it.
  void announce(Time at, std::uint64_t id);
  void match(Time at, const Posted& posted, std::uint64_t id);
  void store(Time at, const Message& message, const Posted& posted, bool is_buffered);
  void end(int rank, Moves::Ticket ticket, Time at);
  /// The end of work of the mover of a rank's memory.
  Time moved(Rank& rank, Time at, double seconds) const;

  CostModel model_;
  Costs costs_;
  Problem problem_;
  network::Topology topology_;
  int first_distance_;  ///< cables to a neighbour
  Latencies latencies_;
  std::vector<Rank> ranks_;
  network::PacketNetwork network_;
  std::uint64_t turn_;  ///< the most of a message on the wire at once
  std::deque<Message> messages_;
  /// From one rank to another, where they leave alternately: the first of them has a part in the port.
  Lines<std::uint64_t> flows_;
  Lines<Posted> posted_;          ///< receives that have no message
  Lines<std::uint64_t> arrived_;  ///< messages that have no receive
  Time now_ = 0;
  /// Ranks whose next step is later than what has been replayed, by its time.
  std::priority_queue<std::pair<Time, int>, std::vector<std::pair<Time, int>>, std::greater<>> later_;
};

Replay::Replay(const Algorithm& algorithm, const Problem& problem, const Costs& costs)
    : model_(costs, problem),
      costs_(costs),
      problem_(problem),
      topology_(topology_of(problem)),
      first_distance_(topology_.distance(0, 1)),
      latencies_(latencies_of(problem, costs)),
      ranks_([&] {
        std::vector<Rank> ranks(static_cast<std::size_t>(problem.ranks));
        for (int rank = 0; rank < problem.ranks; ++rank) {
          Rank& one = ranks[static_cast<std::size_t>(rank)];
          one.steps = record(algorithm, problem, rank, costs.segment_bytes);
          const auto is_message = [](const Step& step) {
            return step.kind == Step::Kind::kSend || step.kind == Step::Kind::kReceive ||
                   step.kind == Step::Kind::kReceiveAndCombine;
          };
          one.ends.assign(static_cast<std::size_t>(std::ranges::count_if(one.steps, is_message)),
                          network::kEndOfTime);
        }
        return ranks;
      }()),
      network_(
          topology_,
          {.node_latency = latencies_.node,
           .cable_latency = latencies_.cable,
           .switch_latency = latencies_.over_switch,
           .bytes_per_second = kWireRate},
          [this](const network::Delivery& delivery) { arrived(delivery.time, delivery.id & kIdMask); },
          [this](const network::Departure& departure) { departed(departure.time, departure.id & kIdMask); }),
      turn_(turn()) {}

std::uint64_t Replay::turn() const {
  constexpr std::uint64_t kWhole = std::numeric_limits<std::uint64_t>::max();
  if (problem_.shape.only_neighbours_talk || costs_.turn_bytes == Costs{}.turn_bytes) return kWhole;
  double longest = 0;
  for (const Rank& rank : ranks_) {
    for (const Step& step : rank.steps) {
      if (step.kind == Step::Kind::kSend) longest = std::max(longest, model_.move(step.bytes));
    }
  }
  const double turns = std::clamp(kTurnsOfAll / static_cast<double>(ranks_.size()), kLeastTurns, kMostTurns);
  return static_cast<std::uint64_t>(std::max(model_.turn(), longest / turns) * kWireRate) + 1;
}

CallTimes Replay::times() {
  for (int rank = 0; std::cmp_less(rank, ranks_.size()); ++rank) run(rank);
  while (true) {
    const Time on_wire = network_.next_time();
    if (!later_.empty() && later_.top().first <= on_wire) {
      const auto [time, rank] = later_.top();
      later_.pop();
      now_ = time;
      run(rank);
    } else if (on_wire != network::kEndOfTime) {
      network_.advance_until(on_wire + 1);
    } else {
      break;
    }
  }
  CallTimes found;
  for (const Rank& rank : ranks_) {
    if (rank.next < rank.steps.size()) throw std::logic_error("a collective's replay does not end");
    found.last = std::max(found.last, network::seconds(rank.clock));
    found.mean += network::seconds(rank.clock) / static_cast<double>(ranks_.size());
  }
  return found;
}

void Replay::run(int rank) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  while (own.next < own.steps.size() && take(rank, own.steps[own.next])) ++own.next;
}

bool Replay::take(int rank, const Step& step) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  if (step.kind == Step::Kind::kWait) {
    const Time end = own.ends[step.ticket];
    own.is_waiting = end == network::kEndOfTime;
    own.awaited = step.ticket;
    if (!own.is_waiting) own.clock = std::max(own.clock, end);
    return !own.is_waiting;
  }
  if (own.clock > now_) {  // what happens until then may matter
    later_.emplace(own.clock, rank);
    return false;
  }
  switch (step.kind) {
    case Step::Kind::kSend:
      send(rank, step);
      break;
    case Step::Kind::kReceive:
    case Step::Kind::kReceiveAndCombine:
      receive(rank, step);
      break;
    case Step::Kind::kCopy:
      own.clock = moved(own, own.clock, model_.copy(step.bytes) - costs_.copy_seconds);
      break;
    case Step::Kind::kCombine:
      own.clock = moved(own, own.clock, model_.combine(step.bytes) - costs_.copy_seconds);
      break;
    case Step::Kind::kWait:
      break;
  }
  return true;
}

void Replay::send(int rank, const Step& step) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  own.clock = network::later(own.clock, network::from_seconds(costs_.issue_seconds));
  Message message{.from = rank, .to = step.peer, .bytes = step.bytes, .sent = step.ticket};
  if (problem_.shape.only_neighbours_talk && model_.move(step.bytes) > 2 * costs_.message_seconds) {
    message.kind = Message::Kind::kHeld;
    messages_.push_back(message);
    return announce(own.clock, messages_.size() - 1);
  }
  if (step.bytes > static_cast<double>(problem_.buffers.longest)) message.kind = Message::Kind::kRequest;
  put_on_wire(own.clock, message);
}

void Replay::announce(Time at, std::uint64_t id) {
  const Message& message = messages_[id];
  Fifo<Posted>& posted = posted_[line(message.from, message.to)];
  if (posted.empty()) return arrived_[line(message.from, message.to)].push(id);
  match(at, posted.pop(), id);
}

void Replay::receive(int rank, const Step& step) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  own.clock = network::later(own.clock, network::from_seconds(costs_.issue_seconds));
  const Posted posted{step.ticket, step.kind == Step::Kind::kReceiveAndCombine};
  Fifo<std::uint64_t>& arrived = arrived_[line(step.peer, rank)];
  if (arrived.empty()) return posted_[line(step.peer, rank)].push(posted);
  match(own.clock, posted, arrived.pop());
}

void Replay::put_on_wire(Time at, Message message) {
  const double wire = model_.move(message.has_elements() ? message.bytes : 0) * kWireRate;
  message.unsent = message.staying = message.missing = std::max<std::uint64_t>(1, std::llround(wire));
  messages_.push_back(message);
  const std::uint64_t id = messages_.size() - 1;
  const Time begin = network::later(at, latencies_.before + latencies_.node);
  if (!costs_.leaves_in_turns) {
    while (messages_[id].unsent > 0) send_part(begin, id);
    return;
  }
  Fifo<std::uint64_t>& flow = flows_[line(message.sender(), message.receiver())];
  if (flow.empty()) send_part(begin, id);
  flow.push(id);
}

void Replay::send_part(Time at, std::uint64_t id) {
  Message& message = messages_[id];
  const std::uint64_t part = std::min(message.unsent, turn_);
  message.unsent -= part;
  // Of messages that leave at one time the one to the lower rank goes first.
  network_.inject(at - latencies_.node, message.sender(), message.receiver(), part,
                  static_cast<std::uint64_t>(message.receiver()) << kIdBits | id);
}

void Replay::departed(Time at, std::uint64_t id) {
  now_ = at;
  Message& message = messages_[id];
  message.staying -= std::min(message.staying, turn_);
  if (message.unsent > 0) return send_part(at, id);
  if (message.staying > 0) return;
  if (costs_.leaves_in_turns) {
    Fifo<std::uint64_t>& flow = flows_[line(message.sender(), message.receiver())];
    flow.pop();
    if (!flow.empty()) send_part(at, flow.front());
  }
  if (message.has_elements() && costs_.answer_seconds == 0) end(message.from, message.sent, at);
}

void Replay::arrived(Time at, std::uint64_t id) {
  now_ = at;
  Message& message = messages_[id];
  message.missing -= std::min(message.missing, turn_);
  if (message.missing == 0) deliver(at, id);
}

void Replay::deliver(Time at, std::uint64_t id) {
  const Message message = messages_[id];
  switch (message.kind) {
    case Message::Kind::kGrant: {
      Message data = message;
      data.kind = Message::Kind::kData;
      put_on_wire(at, data);
      return;
    }
    case Message::Kind::kData:
      store(at, message, {message.received, message.is_combined}, false);
      break;
    case Message::Kind::kEager:
    case Message::Kind::kHeld:
    case Message::Kind::kRequest:
      announce(at, id);
      break;
  }
  if (!message.has_elements() || costs_.answer_seconds == 0) return;
  const double over_more =
      (topology_.distance(message.from, message.to) - first_distance_) * costs_.hop_seconds;
  const double back = costs_.answer_seconds - (costs_.message_seconds - costs_.copy_seconds) + over_more;
  end(message.from, message.sent, network::later(at, network::from_seconds(std::max(0.0, back))));
}

void Replay::match(Time at, const Posted& posted, std::uint64_t id) {
  Message message = messages_[id];
  if (message.kind == Message::Kind::kEager) {
    store(at, message, posted, true);
    return;
  }
  message.kind = message.kind == Message::Kind::kHeld ? Message::Kind::kData : Message::Kind::kGrant;
  message.received = posted.ticket;
  message.is_combined = posted.is_combined;
  put_on_wire(at, message);
}

void Replay::store(Time at, const Message& message, const Posted& posted, bool is_buffered) {
  Rank& receiver = ranks_[static_cast<std::size_t>(message.to)];
  Time stored = at;
  if (posted.is_combined && costs_.combines_as_it_comes) {
    const double slower = model_.combine(message.bytes) - model_.move(message.bytes);
    stored = network::later(at, network::from_seconds(std::max(0.0, slower)));
  } else if (posted.is_combined) {
    stored = moved(receiver, at, model_.combine(message.bytes) - costs_.copy_seconds);
  } else if (is_buffered && (std::isfinite(costs_.store_bytes_per_second) || costs_.copy_seconds > 0)) {
    stored = moved(receiver, at, model_.store(message.bytes));
  }
  end(message.to, posted.ticket, stored);
}

void Replay::end(int rank, Moves::Ticket ticket, Time at) {
  Rank& own = ranks_[static_cast<std::size_t>(rank)];
  own.ends[ticket] = at;
  if (own.is_waiting && own.awaited == ticket) run(rank);
}

Time Replay::moved(Rank& rank, Time at, double seconds) const {
  rank.mover_free =
      network::later(std::max(at, rank.mover_free), network::from_seconds(std::max(0.0, seconds)));
  return network::later(rank.mover_free, network::from_seconds(costs_.copy_seconds));
}

}  // namespace

CallTimes replayed_times(const Algorithm& algorithm, const Problem& problem, const Costs& costs) {
  if (problem.ranks == 1) {
    const double copied = CostModel(costs, problem).copy(static_cast<double>(problem.bytes));
    return {copied, copied};
  }
  if (problem.bytes > kLongest) {
    const auto times = [&](std::size_t bytes) {
      Problem shorter = problem;
      shorter.bytes = bytes;
      return replayed_times(algorithm, shorter, costs);
    };
    constexpr std::size_t kHalf = kLongest / 2;
    const CallTimes whole = times(kLongest);
    const CallTimes half = times(kLongest - kHalf);
    const double halves = static_cast<double>(problem.bytes - kLongest) / static_cast<double>(kHalf);
    return {whole.last + (whole.last - half.last) * halves, whole.mean + (whole.mean - half.mean) * halves};
  }
  return Replay(algorithm, problem, costs).times();
}

double replayed_seconds(const Algorithm& algorithm, const Problem& problem, const Costs& costs) {
  return replayed_times(algorithm, problem, costs).last;
}

}  // namespace fabricmark::collectives
