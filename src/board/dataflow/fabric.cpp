#include "board/dataflow/fabric.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ranges>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "board/dataflow/conservative_link.hpp"
#include "board/dataflow/deadlock.hpp"
#include "network/network_costs.hpp"

namespace fabricmark::dataflow {

namespace {

constexpr std::uint64_t kMostFlits = 1U << 30U;  // more than any buffer may have

/// Of what processes send each other.
enum class Record : std::uint8_t { kWords, kMessage };

CreditCable::Cost credit_cable_cost(const LinkCost& link) {
  CreditCable::Cost cost;
  cost.cycle = network::from_seconds(1 / link.clock_hz);
  const Time latency = network::from_seconds(link.latency_seconds);
  cost.latency =
      std::max<std::uint64_t>(static_cast<std::uint64_t>((latency + cost.cycle - 1) / cost.cycle), 1);
  const auto& said = link.flow.credit_link;
  const auto or_else = [](std::size_t value, std::uint64_t other) {
    return static_cast<unsigned>(std::min<std::uint64_t>(value > 0 ? value : other, kMostFlits));
  };
  credit_link::LinkParameters& own = cost.link;
  constexpr double kBitsOfByte = 8;
  own.width_bits = static_cast<unsigned>(link.width_bytes * kBitsOfByte);
  own.packet_flits = or_else(said.packet, own.packet_flits);
  own.receive_flits = or_else(said.receive, own.receive_flits);
  const bool is_wire = link.latency_seconds > 0;  // else packets take their time
  own.credit_flits = or_else(
      said.update, is_wire ? std::min<std::uint64_t>(own.packet_flits, cost.latency) : own.packet_flits);
  own.timeout = or_else(said.timeout, own.timeout);
  own.latency = is_wire ? cost.latency : 0;
  cost.gap = or_else(said.overhead, 1) - 1;
  own = credit_link::checked(own);
  return cost;
}

}  // namespace

Fabric::Fabric(FabricSettings settings, std::unique_ptr<Peers> peers)
    : settings_(std::move(settings)),
      peers_(std::move(peers)),
      pool_(settings_.workers),
      long_pool_(settings_.threads),
      barrier_(peers_ ? 1 : settings_.devices, [this] { advance(); }) {
  for (int number = 0; number < settings_.workers; ++number) {
    auto seed = settings_.schedule_seed;
    if (seed) *seed += static_cast<std::uint64_t>(number);
    workers_.push_back(std::make_unique<Worker>(settings_.stack_bytes, seed));
  }
  if (!settings_.log && !settings_.deadlock_timeline.empty()) {
    settings_.log = std::make_shared<runtime::ActivityLog>();
  }
  if (!settings_.network) return;
  if (!settings_.topology) throw bad_use("a network has no topology", "give the fabric one");
  const network::Topology& wires = settings_.switched ? *settings_.switched : *settings_.topology;
  network_ = std::make_unique<Network>(wires, *settings_.network);
  if (settings_.switched) frames_ = std::make_unique<Frames>(*network_);
}

Network& Fabric::network() {
  if (!network_) throw bad_use("this fabric has no network of packets", "describe one in its settings");
  return *network_;
}

std::shared_ptr<Fabric> Fabric::join(runtime::Communicator& ranks, FabricSettings settings) {
  settings.devices = ranks.size();
  if (settings.topology && settings.topology->devices() != ranks.size()) {
    throw bad_use(fmt::format("topology {} has {} devices for {} ranks", settings.topology->name(),
                              settings.topology->devices(), ranks.size()),
                  "start as many ranks");
  }
  if (ranks.kind() == "mpi") {
    return std::make_shared<Fabric>(std::move(settings),
                                    std::make_unique<Peers>(ranks.split(0, ranks.rank())));
  }
  // Ranks of one process: the first one makes it.
  std::shared_ptr<Fabric> own;
  if (ranks.is_root()) own = std::make_shared<Fabric>(std::move(settings));
  const std::shared_ptr<Fabric>* const place = &own;
  const auto places = ranks.all_gather(std::as_bytes(std::span(&place, 1)));
  const std::shared_ptr<Fabric>* root = nullptr;
  std::memcpy(&root, places.front().data(), sizeof root);
  std::shared_ptr<Fabric> shared = *root;
  ranks.barrier();  // until all have it, `own` must stay
  return shared;
}

Worker* Fabric::worker_of(int device) const {
  if (!is_local(device)) return nullptr;
  return workers_[static_cast<std::size_t>(peers_ ? 0 : device % settings_.workers)].get();
}

Fabric::~Fabric() = default;

// Ports and links.

network::Port Fabric::opposite(const network::Port& port) const {
  const auto other = settings_.topology ? settings_.topology->neighbour(port) : std::nullopt;
  if (!other) {
    throw bad_use(fmt::format("port {} of device {} has no cable", port.port, port.node),
                  "open a port that the topology joins with another one");
  }
  if (!settings_.topology->is_device(other->node)) {
    throw bad_use(fmt::format("port {} of device {} leads to a switch", port.port, port.node),
                  "open links of a topology without switches, such as ring, torus or full-mesh");
  }
  return *other;
}

ChannelTiming Fabric::link_timing(std::size_t word_bytes) const {
  const LinkCost& cost = settings_.link;
  const double cycles = network::link_cycles(word_bytes, cost.width_bytes);
  const Time word = network::from_seconds(cycles / (cost.clock_hz * cost.flow.credit_link.share()));
  const Time latency = network::from_seconds(cost.latency_seconds);
  const auto round_trip = static_cast<std::size_t>((2 * latency + word) / word) + 1;
  return {cost.flow.credits > 0 ? cost.flow.credits : round_trip, word, latency, latency,
          static_cast<unsigned>(std::min(cycles, static_cast<double>(kMostFlits)))};
}

double Fabric::link_rate() const {
  const LinkCost& link = settings_.link;
  auto flow = link.flow.credit_link;
  if (link.flow.kind == network::FlowSettings::Kind::kCreditLink)
    flow.packet = credit_cable_cost(link).link.packet_flits;
  return link.width_bytes * link.clock_hz * flow.share();
}

std::unique_ptr<LinkDirection> Fabric::decided(Channel& channel, const Place& from, const Place& to) {
  const network::FlowSettings& flow = settings_.link.flow;
  const ChannelTiming& timing = channel.timing();
  if (flow.kind == network::FlowSettings::Kind::kCredit) return nullptr;
  if (flow.kind != network::FlowSettings::Kind::kCreditLink) {
    return std::make_unique<ConservativeLink>(channel, flow, timing.word_time, timing.latency,
                                              timing.back_latency, from, to);
  }
  const network::Port sender{from.device, from.port};
  const network::Port receiver{to.device, to.port};
  const CreditCable::Cost cost = credit_cable_cost(settings_.link);
  std::shared_ptr<CreditCable>& cable = cables_[std::minmax(sender, receiver)];
  const bool is_first = sender < receiver;
  if (!cable)
    cable = std::make_shared<CreditCable>(cost, is_first ? from : to, is_first ? to : from, frames_.get());
  return CreditCable::direction(cable, is_first ? 0 : 1, channel, timing.cycles);
}

std::shared_ptr<Channel> Fabric::channel(const network::Port& from, const network::Port& to, bool is_writer,
                                         std::size_t word_bytes, const Make& make) {
  const std::scoped_lock lock(barrier_.mutex());
  Opened& opened = links_[{from, to}];
  if (std::exchange(is_writer ? opened.has_writer : opened.has_reader, true)) {
    throw bad_use(fmt::format("port {} of device {} has a link already", is_writer ? from.port : to.port,
                              is_writer ? from.node : to.node),
                  "open each port once");
  }
  if (!opened.channel) {
    opened.channel =
        make(fmt::format("link {}:{} to {}:{}", from.node, from.port, to.node, to.port), word_bytes);
    const Place sender{from.node, from.port, worker_of(from.node)};
    const Place receiver{to.node, to.port, worker_of(to.node)};
    if (auto link = decided(*opened.channel, sender, receiver)) opened.channel->control(std::move(link));
    opened.channel->join(from.node, to.node);
    if (sender.worker != receiver.worker) opened.channel->split();
    if (sender.worker == nullptr) opened.far = from.node;
    if (receiver.worker == nullptr) opened.far = to.node;
    for (Packet& packet : opened.early) opened.channel->unpack(packet, is_writer);
    opened.early.clear();
    opened.channel->meet();
  }
  if (opened.channel->word_bytes() != word_bytes) {
    throw bad_use(fmt::format("{} has words of {} bytes at one end and {} at the other",
                              opened.channel->name(), opened.channel->word_bytes(), word_bytes),
                  "open both ends with the same type");
  }
  return opened.channel;
}

// Hosts.

void Fabric::keep(std::shared_ptr<void> used) {
  const std::scoped_lock lock(barrier_.mutex());
  kept_.push_back(std::move(used));
}

void Fabric::corrupt(const network::Port& port, network::MessageFault fault) {
  const std::scoped_lock lock(barrier_.mutex());
  const auto found = links_.find({port, opposite(port)});
  if (found != links_.end() && found->second.channel) found->second.channel->corrupt(fault);
}

void Fabric::finish() {
  std::uint64_t before = 0;
  {
    const std::scoped_lock lock(barrier_.mutex());
    before = finishes_;
    ++finished_;
  }
  barrier_.wait([this, before] { return finishes_ != before; });
}

bool Fabric::has_ended(const Outcome& outcome) {
  const std::scoped_lock lock(barrier_.mutex());
  return outcome.has_ended;
}

// Modelled time.

Time Fabric::next_due() const {
  Time earliest = network::kEndOfTime;
  for (const auto& worker : workers_) earliest = std::min(earliest, worker->next_due());
  return earliest;
}

Time Fabric::earliest_end() const {
  Time earliest = network::kEndOfTime;
  for (const auto& worker : workers_) {
    for (const Kernel* const kernel : worker->ended()) earliest = std::min(earliest, kernel->ended());
  }
  return earliest;
}

void Fabric::deliver(Packet& packet, int from_rank) {
  std::vector<std::span<std::byte>> parcels;
  while (!packet.is_at_end()) {
    if (packet.get<Record>() == Record::kMessage) {
      network_->put(network_->unpack(packet, parcels));
      continue;
    }
    const auto from = packet.get<network::Port>();
    const auto to = packet.get<network::Port>();
    std::vector<std::byte> bytes(packet.get<std::uint64_t>());
    packet.get(bytes.data(), bytes.size());
    Opened& opened = links_[{from, to}];
    if (opened.channel) {
      Packet words(std::move(bytes));
      opened.channel->unpack(words, opened.has_writer);
    } else {
      opened.early.emplace_back(std::move(bytes));
    }
  }
  peers_->receive_parcels(from_rank, parcels);
}

void Fabric::begin_meeting(Report own) {
  std::vector<Packet>& packets = said_;
  packets.resize(static_cast<std::size_t>(peers_->size()));
  for (Packet& packet : packets) packet.clear();
  for (auto& [ends, opened] : links_) {
    if (opened.far < 0 || !opened.channel->has_untold(opened.has_writer)) continue;
    Packet words;
    opened.channel->pack(words, opened.has_writer);
    Packet& packet = packets[static_cast<std::size_t>(opened.far)];
    packet.put(Record::kWords);
    packet.put(ends.first);
    packet.put(ends.second);
    packet.put<std::uint64_t>(words.bytes().size());
    packet.put(words.bytes().data(), words.bytes().size());
    own.has_news = true;
  }
  std::vector<std::vector<std::span<const std::byte>>> parcels(packets.size());
  if (network_) leaving_ = network_->take_sent();  // they keep their payloads until the meeting has ended
  for (const Letter& letter : leaving_) {
    for (int rank = 0; rank < peers_->size(); ++rank) {
      const auto place = static_cast<std::size_t>(rank);
      packets[place].put(Record::kMessage);
      Network::pack(packets[place], letter, rank == letter.to,
                    rank == peers_->own() ? nullptr : &parcels[place]);
    }
  }
  peers_->begin_meeting(own, packets, parcels);
}

std::optional<Report> Fabric::end_meeting(bool waits) {
  heard_.resize(static_cast<std::size_t>(peers_->size()));
  const auto together = peers_->end_meeting(heard_, waits);
  if (!together) return together;
  for (int rank = 0; rank < peers_->size(); ++rank) deliver(heard_[static_cast<std::size_t>(rank)], rank);
  peers_->finish_parcels();
  leaving_.clear();
  for (auto& [ends, opened] : links_) {
    if (opened.channel && opened.far >= 0) opened.channel->meet();
  }
  return together;
}

Report Fabric::run() {
  if (network_) network_->advance_until(horizon_);
  pool_.run([this](int number) { workers_[static_cast<std::size_t>(number)]->run(horizon_); });
  // What has ended lets its host act, not before that time.
  const Time ended = earliest_end();
  Report own{.next = std::min(next_due(), ended),
             .has_finished = finished_ >= barrier_.hosts(),
             .has_ended = ended != network::kEndOfTime};
  if (network_ && !peers_) {
    for (Letter& letter : network_->take_sent()) network_->put(std::move(letter));
  }
  for (auto& [ends, opened] : links_) {
    if (opened.channel && opened.far < 0) own.has_news |= opened.channel->meet();
  }
  return own;
}

std::optional<Report> Fabric::meet(bool waits) {
  if (!peers_) return run();
  // One that is open had begun before this host went on, whose part in it is over.
  if (!peers_->is_meeting()) begin_meeting(run());
  return end_meeting(waits);
}

Time Fabric::lookahead() const {
  const bool is_alone = settings_.workers == 1 && !peers_;
  const bool has_links = !is_alone && (!network_ || settings_.link.latency_seconds > 0);
  const Time of_links =
      has_links ? network::from_seconds(settings_.link.latency_seconds) : network::kEndOfTime;
  return network_ ? std::min(of_links, network_->lookahead()) : of_links;
}

void Fabric::advance() {
  // Between processes a host that waits for another rank must look for its message now and then.
  const bool waits = !peers_ || barrier_.passing().empty();
  constexpr int kMeetingsBetweenLooks = 64;
  for (int meeting = 0; waits || meeting < kMeetingsBetweenLooks; ++meeting) {
    const auto met = meet(waits);
    if (!met) return;
    const Report& all = *met;
    if (settle_ended()) return;
    if (all.may_go_on && !waits) return;
    // Whose host acts now does not see what comes next: then nobody may, or networks would not agree.
    if (all.has_news || all.may_go_on || all.has_ended) continue;
    if (run_long()) continue;
    const Time next = network_ ? network_->advance_to_news(all.next) : all.next;
    if (next != network::kEndOfTime) {
      const Time ahead = lookahead();
      horizon_ = ahead == network::kEndOfTime ? ahead : network::later(next, ahead);
    } else if (all.has_finished) {
      const std::scoped_lock lock(barrier_.mutex());
      finished_ = 0;
      ++finishes_;
      return;
    } else {
      throw_deadlock();
    }
  }
}

void Fabric::settle(OfDevice& device, Running& ended) {
  Kernel& kernel = *ended.kernel;
  kernel.tell_end();
  for (const auto& channel : kernel.channels()) {
    channel->release(kernel);
    const bool is_unread =
        channel->fill() > 0 && channel->writer() == nullptr && channel->reader() == nullptr;
    if (is_unread) device.unread.push_back(channel);
  }
  {
    const std::scoped_lock lock(barrier_.mutex());
    ended.outcome->started = kernel.started();
    ended.outcome->ended = kernel.ended();
    ended.outcome->failure = kernel.failure();
    ended.outcome->has_ended = true;
  }
  if (kernel.failure()) barrier_.fail(kernel.failure());
}

bool Fabric::settle_ended() {
  bool found = false;
  for (const auto& worker : workers_) {
    found |= !worker->ended().empty();
    worker->forget_ended();
  }
  if (!found) return false;
  for (auto& [number, device] : devices_) {
    for (Running& running : device.running) {
      if (running.kernel->has_ended()) settle(device, running);
    }
    std::erase_if(device.running, [](const Running& running) { return running.kernel->has_ended(); });
    const std::scoped_lock lock(barrier_.mutex());
    for (Pending& pending : device.pending) {
      if (pending.may_begin()) begin(number, device, pending);
    }
    std::erase_if(device.pending, [](const Pending& pending) { return !pending.outcome; });
  }
  return true;
}

void Fabric::check_leftovers(int device) {
  const std::scoped_lock lock(barrier_.mutex());
  for (const auto& channel : devices_[device].unread) {
    if (channel->fill() == 0) continue;
    throw Error(ExitCode::kInvalidResult,
                fmt::format("{} words are left over in stream {}", channel->fill(), channel->name()),
                "let its reader take as many words as its writer writes");
  }
}

}  // namespace fabricmark::dataflow
