#include "board/dataflow/credit_cable.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "board/dataflow/channel.hpp"
#include "board/dataflow/frames.hpp"
#include "board/dataflow/kernel.hpp"
#include "board/dataflow/worker.hpp"
#include "network/credit_link/duplex_cycle_link.hpp"
#include "network/credit_link/link_end.hpp"

namespace fabricmark::dataflow {

namespace {

using credit_link::Flit;
using credit_link::LinkEnd;

constexpr std::uint64_t kNever = LinkEnd::kForEver;
constexpr std::size_t kFrameHead = 2;  // bytes: how many flits it has

}  // namespace

/// Bytes of words, first in, first out.
class CreditCable::Bytes {
 public:
  void put(std::span<const std::byte> bytes) { held_.insert(held_.end(), bytes.begin(), bytes.end()); }
  void take(std::span<std::byte> bytes) {
    constexpr std::size_t kMany = 4096;
    std::memcpy(bytes.data(), held_.data() + first_, bytes.size());
    first_ += bytes.size();
    if (first_ < std::max(kMany, held_.size() / 2)) return;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  void take_all(Bytes& from) {
    put(from.all());
    from.held_.clear();
    from.first_ = 0;
  }
  [[nodiscard]] std::span<const std::byte> all() const { return std::span(held_).subspan(first_); }
  [[nodiscard]] std::size_t size() const { return held_.size() - first_; }

 private:
  std::vector<std::byte> held_;
  std::size_t first_ = 0;
};

/// A flit, and the cycle in which it comes out of the wire.
struct CreditCable::OnWire {
  std::uint64_t cycle = 0;
  Flit flit{};
};
/// What one device has of the cable: the sender of one direction and the receiver of the other.
class CreditCable::End final : public Decision, public Frames::Sink {
 public:
  End(const Cost& cost, LinkEnd end, const Place& place, const Place& far)
      : cost_(cost), end_(std::move(end)), place_(place), far_(far) {}

  /// Once both ends are made; null where the other one is in another process.
  void join(End* peer, Frames* frames) {
    peer_ = peer;
    frames_ = frames;
    is_far_ = frames != nullptr || place_.worker != far_.worker;
    if (frames != nullptr) frames->attach(place_, *this);
  }
  void send_words_of(unsigned flits) { sent_flits_ = flits; }
  void receive_words_of(unsigned flits) { received_flits_ = flits; }

  // By the kernels.

  LinkDirection::Stall push(Kernel& writer, Channel& channel, std::span<const std::byte> word) {
    const Time wanted = writer.clock;
    std::uint64_t short_of_credit = 0;
    if (is_full(writer)) {
      const std::uint64_t before = end_.counters().stalled_for_credit;
      writer_ = &writer;
      writer.wait(Kernel::Waits::kForSpace, &channel);
      short_of_credit = end_.counters().stalled_for_credit - before;
    }
    // It leaves the kernel's pipeline so much later; what is in there waits with it.
    offers_.push_back(first_cycle(network::later(writer.clock, writer.depth)));
    (is_far_ ? said_ : peer_->heard_).put(word);
    schedule();
    const Time stalled = writer.clock - wanted;
    const Time for_space = std::min(stalled, cost_.cycle * static_cast<Time>(short_of_credit));
    return {stalled - for_space, for_space};
  }
  Time pop(Kernel& reader, Channel& channel, std::span<std::byte> word) {
    const Time wanted = reader.clock;
    reader_ = &reader;
    wanted_ = first_cycle(wanted);
    schedule();
    reader.wait(Kernel::Waits::kForWord, &channel);
    heard_.take(word);
    return reader.clock - wanted;
  }
  [[nodiscard]] bool is_full(const Kernel& writer) const {
    // As many as the kernel's pipeline holds.
    const Time interval = std::max<Time>(writer.interval, 1);
    return offers_.size() > static_cast<std::size_t>(writer.depth / interval);
  }
  [[nodiscard]] bool has_word() const { return end_.has_word() && gathered_ + 1 >= received_flits_; }

  // Between the ends.

  void hear(const OnWire& flit) {
    inbox_.push_back(flit);
    schedule();
  }
  void hear(std::span<const std::byte> words) { heard_.put(words); }
  /// Gives what was said since the last time to the other end.
  bool meet() {
    const bool has_news = has_said();
    if (peer_ == nullptr || !is_far_ || frames_ != nullptr) return false;
    peer_->heard_.take_all(said_);
    for (const OnWire& flit : std::exchange(outbox_, {})) peer_->hear(flit);
    return has_news;
  }
  [[nodiscard]] bool has_said() const { return frames_ == nullptr && (!outbox_.empty() || said_.size() > 0); }
  /// Flits, the first of which comes out of the lower layer when all of it has come and was checked; and what
  /// words have been written since the frame before.
  void take_frame(Time at, std::span<const std::byte> frame) override {
    const std::size_t flits = std::to_integer<std::size_t>(frame[0]) | std::to_integer<std::size_t>(frame[1])
                                                                           << 8U;
    frame = frame.subspan(kFrameHead);
    std::uint64_t cycle = std::max(first_cycle(at), next_);
    if (!inbox_.empty()) cycle = std::max(cycle, inbox_.back().cycle + 1);
    for (std::size_t i = 0; i < flits; ++i, ++cycle) {
      OnWire one{.cycle = cycle};
      std::memcpy(&one.flit, frame.data() + i * sizeof one.flit, sizeof one.flit);
      inbox_.push_back(one);
    }
    heard_.put(frame.subspan(flits * sizeof(Flit)));
    schedule();
  }
  void pack(Packet& packet) {
    static_assert(std::is_trivially_copyable_v<OnWire>);
    packet.put<std::uint64_t>(said_.size());
    packet.put(said_.all().data(), said_.size());
    said_ = {};
    packet.put<std::uint64_t>(outbox_.size());
    for (const OnWire& flit : std::exchange(outbox_, {})) packet.put(flit);
  }
  void unpack(Packet& packet) {
    std::vector<std::byte> words(packet.get<std::uint64_t>());
    packet.get(words.data(), words.size());
    hear(words);
    for (auto count = packet.get<std::uint64_t>(); count > 0; --count) hear(packet.get<OnWire>());
  }
  /// Words.
  /// Bytes of words: those that have not left the device yet, and those that have come.
  [[nodiscard]] std::size_t said_bytes() const { return said_.size(); }
  [[nodiscard]] std::size_t heard_bytes() const { return heard_.size(); }
  [[nodiscard]] const LinkEnd& link_end() const { return end_; }

  void decide(Time now) override {
    const std::uint64_t cycle = first_cycle(now);
    if (cycle != scheduled_) return;  // something else was due earlier
    scheduled_ = kNever;
    step(cycle);
    schedule();
  }

 private:
  /// The first cycle that is not before a time.
  [[nodiscard]] std::uint64_t first_cycle(Time time) const {
    return static_cast<std::uint64_t>((time + cost_.cycle - 1) / cost_.cycle);
  }
  [[nodiscard]] bool takes_flit() const {
    return gathered_ + 1 < received_flits_ || (reader_ != nullptr && wanted_ <= next_);
  }
  /// Has the next cycle that changes something decided.
  void schedule() {
    std::uint64_t cycle = kNever;
    const std::uint64_t quiet = end_.quiet_cycles();
    if (quiet != kNever) cycle = next_ + quiet;
    if (!inbox_.empty()) cycle = std::min(cycle, inbox_.front().cycle);
    if (!offers_.empty() && end_.takes_word()) cycle = std::min(cycle, std::max(next_, offers_.front()));
    if (end_.has_word()) {
      if (gathered_ + 1 < received_flits_) {
        cycle = next_;
      } else if (reader_ != nullptr) {
        cycle = std::min(cycle, std::max(next_, wanted_));
      }
    }
    if (cycle == kNever) return;
    cycle = std::max(cycle, first_cycle(place_.worker->now()));
    if (cycle >= scheduled_) return;
    scheduled_ = cycle;
    const auto time = static_cast<Time>(cycle) * cost_.cycle;
    place_.worker->decide_at({time, place_.device, kFirstEnding + place_.port, sequence_++}, *this);
  }
  void step(std::uint64_t cycle) {
    end_.leave_out(cycle - next_);
    next_ = cycle;
    const bool hears = !inbox_.empty() && inbox_.front().cycle <= cycle;
    LinkEnd::Input input;
    input.source_valid = !offers_.empty() && offers_.front() <= cycle;
    input.source_word = offered_;
    input.sink_ready = takes_flit();
    input.wire_ready = cycle >= wire_free_;
    const LinkEnd::Output output = end_.step(input, hears ? &inbox_.front().flit : nullptr);
    if (hears) inbox_.pop_front();
    ++next_;
    if (output.sent != nullptr && input.wire_ready) {
      send({cycle + cost_.latency, *output.sent});
      if (output.sent->last) wire_free_ = next_ + cost_.gap;
    }
    const Time now = static_cast<Time>(cycle) * cost_.cycle;
    if (input.source_valid && output.source_ready) accept(now);
    if (input.sink_ready && output.sink_valid) take(output.sink_word, now);
  }
  void send(const OnWire& flit) {
    if (!is_far_) return peer_->hear(flit);
    outbox_.push_back(flit);
    if (frames_ != nullptr && flit.flit.last) send_frame(flit.cycle - cost_.latency);
  }
  void send_frame(std::uint64_t cycle) {
    constexpr std::uint64_t kLeastPayload = 46;  // bytes of an Ethernet frame
    const std::size_t flits = outbox_.size();
    std::vector<std::byte> frame{std::byte(flits & 0xFFU), std::byte(flits >> 8U)};
    for (const OnWire& one : outbox_) {
      const auto bytes = std::as_bytes(std::span(&one.flit, 1));
      frame.insert(frame.end(), bytes.begin(), bytes.end());
    }
    frame.insert(frame.end(), said_.all().begin(), said_.all().end());
    outbox_.clear();
    said_ = {};
    const std::uint64_t payload = flits * (end_.parameters().width_bits / 8);
    frames_->send(static_cast<Time>(cycle) * cost_.cycle, place_, far_, std::max(payload, kLeastPayload),
                  std::move(frame));
  }
  /// A flit of the first word has gone into the link.
  void accept(Time now) {
    if (++offered_ % sent_flits_ != 0) return;
    offers_.pop_front();
    // Its place is free in the cycle after.
    if (writer_ != nullptr && !is_full(*writer_)) wake(writer_, network::later(now, cost_.cycle));
  }
  /// A flit has come out of the link.
  void take(std::uint64_t number, Time now) {
    if (number != taken_++) throw std::logic_error("a credit link has changed the order of its words");
    if (++gathered_ < received_flits_) return;
    gathered_ = 0;
    wake(reader_, now);
  }

  Cost cost_;
  LinkEnd end_;
  Place place_;
  Place far_;  // the other end's
  End* peer_ = nullptr;
  Frames* frames_ = nullptr;
  bool is_far_ = false;               // what it says is known when both meet, or goes in frames
  std::uint64_t next_ = 0;            // cycle
  std::uint64_t scheduled_ = kNever;  // cycle
  std::uint64_t wire_free_ = 0;       // from this cycle on
  std::uint64_t sequence_ = 0;

  unsigned sent_flits_ = 1;           // of a word
  std::deque<std::uint64_t> offers_;  // [word]: cycle from which on it may leave
  std::uint64_t offered_ = 0;         // flits so far
  Kernel* writer_ = nullptr;          // waits for a place
  Bytes said_;
  std::vector<OnWire> outbox_;

  unsigned received_flits_ = 1;  // of a word
  std::deque<OnWire> inbox_;
  Bytes heard_;
  unsigned gathered_ = 0;     // flits of a word that is not whole
  std::uint64_t taken_ = 0;   // flits so far
  Kernel* reader_ = nullptr;  // waits for a word
  std::uint64_t wanted_ = 0;  // from this cycle on
};

class CreditCable::Direction final : public LinkDirection {
 public:
  Direction(std::shared_ptr<CreditCable> cable, std::size_t from, Channel& channel)
      : cable_(std::move(cable)),
        channel_(channel),
        writer_(cable_->ends_.at(from).get()),
        reader_(cable_->ends_.at(1 - from).get()) {}

  Stall push(Kernel& writer, std::span<const std::byte> word) override {
    return writer_->push(writer, channel_, word);
  }
  Time pop(Kernel& reader, std::span<std::byte> word) override {
    return reader_->pop(reader, channel_, word);
  }
  bool is_empty(Kernel& reader) override {
    reader.worker().wait_until_known(reader);
    return !reader_->has_word();
  }
  bool is_full(Kernel& writer) override {
    writer.worker().wait_until_known(writer);
    return writer_->is_full(writer);
  }
  bool meet() override { return writer_ != nullptr && writer_->meet(); }
  [[nodiscard]] bool has_untold(bool is_writer) const override { return is_writer && writer_->has_said(); }
  void pack(Packet& packet, bool is_writer) override {
    if (is_writer) writer_->pack(packet);
  }
  void unpack(Packet& packet, bool is_writer, std::size_t /*word_bytes*/) override {
    if (!is_writer) reader_->unpack(packet);
  }
  [[nodiscard]] std::uint64_t overruns() const override {
    return reader_ == nullptr ? 0 : reader_->link_end().counters().overflows;
  }
  [[nodiscard]] std::uint64_t fill() const override {
    const std::size_t bytes =
        (writer_ == nullptr ? 0 : writer_->said_bytes()) + (reader_ == nullptr ? 0 : reader_->heard_bytes());
    return bytes / channel_.word_bytes();
  }
  [[nodiscard]] std::size_t places() const override {
    const auto& link = (writer_ == nullptr ? reader_ : writer_)->link_end().parameters();
    return link.transmit_flits + link.receive_flits;
  }

 private:
  std::shared_ptr<CreditCable> cable_;
  Channel& channel_;
  End* writer_;
  End* reader_;
};

CreditCable::CreditCable(const Cost& cost, const Place& first, const Place& second, Frames* frames) {
  auto at_rest = credit_link::DuplexCycleLink::ends_at_rest(cost.link, cost.latency);
  const std::array places{first, second};
  for (const std::size_t i : {0U, 1U}) {
    if (places.at(i).worker != nullptr)
      ends_.at(i) = std::make_unique<End>(cost, std::move(at_rest.at(i)), places.at(i), places.at(1 - i));
  }
  for (const std::size_t i : {0U, 1U}) {
    if (ends_.at(i)) ends_.at(i)->join(ends_.at(1 - i).get(), frames);
  }
}

CreditCable::~CreditCable() = default;

std::unique_ptr<LinkDirection> CreditCable::direction(const std::shared_ptr<CreditCable>& cable,
                                                      std::size_t from, Channel& channel, unsigned flits) {
  if (End* const sender = cable->ends_.at(from).get()) sender->send_words_of(flits);
  if (End* const receiver = cable->ends_.at(1 - from).get()) receiver->receive_words_of(flits);
  return std::make_unique<Direction>(cable, from, channel);
}

}  // namespace fabricmark::dataflow
