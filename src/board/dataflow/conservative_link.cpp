#include "board/dataflow/conservative_link.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabricmark::dataflow {

/// Things that become due one after the other at one end.
template <typename Item>
class Arrivals : public Decision {
 public:
  explicit Arrivals(const Place& place) : place_(place) {}
  /// By the other end. Of ends that meet now and then, the item is kept until they do.
  void send(Item item, bool is_far) {
    if (is_far) {
      sent_.push_back(std::move(item));
    } else {
      come(std::move(item));
    }
  }
  /// What has been sent and not met, for another process.
  [[nodiscard]] bool has_sent() const { return !sent_.empty(); }
  std::vector<Item> take_sent() { return std::exchange(sent_, {}); }
  bool meet() {
    for (Item& item : sent_) come(std::move(item));
    return !std::exchange(sent_, {}).empty();
  }
  [[nodiscard]] std::size_t in_flight() const { return sent_.size() + due_.size(); }
  [[nodiscard]] Worker* worker() const { return place_.worker; }

 protected:
  Item next() {
    Item item = std::move(due_.front());
    due_.pop_front();
    return item;
  }

 private:
  void come(Item item) {
    place_.worker->decide_at({item.arrives, place_.device, place_.port, number_++}, *this);
    due_.push_back(std::move(item));
  }
  Place place_;
  std::vector<Item> sent_;
  std::deque<Item> due_;
  std::uint64_t number_ = 0;
};

/// Its sender: hears what the receiver says.
class ConservativeLink::AtWriter final : public Arrivals<Told> {
 public:
  AtWriter(const Place& place, network::FlowControl& flow) : Arrivals(place), flow_(flow) {}
  void decide(Time now) override {
    const bool leaves = flow_.step_sender(next().feedback, waiting != nullptr);
    if (leaves) wake(waiting, now);
  }
  Kernel* waiting = nullptr;
  Time free = 0;  // when the link can take the next word

 private:
  network::FlowControl& flow_;
};

/// Its receiver: its buffer, and a reader that waits for a word.
class ConservativeLink::AtReader final : public Arrivals<Word> {
 public:
  AtReader(const Place& place, ConservativeLink& link)
      : Arrivals(place), link_(link), end_of_cycle_(*this, {0, place.device, kFirstEnding + place.port, 0}) {}
  void decide(Time now) override {
    Word word = next();
    end_of_cycle_.come(now);
    if (!link_.flow_->arrive()) return;
    stored.push_back(std::move(word.bytes));
    if (waiting == nullptr) return;
    link_.flow_->take();
    wake(waiting, now);
  }
  void take(Time now) {
    link_.flow_->take();
    end_of_cycle_.come(now);
  }
  [[nodiscard]] bool is_far() const { return link_.writer_->worker() != worker(); }
  Kernel* waiting = nullptr;
  std::deque<std::vector<std::byte>> stored;

 private:
  class EndOfCycle final : public Decision {
   public:
    EndOfCycle(AtReader& reader, const Due& due) : reader_(reader), due_(due) {}
    void come(Time now) {
      if (due_.sequence > 0 && due_.time == now) return;
      due_.time = now;
      ++due_.sequence;
      reader_.worker()->decide_at(due_, *this);
    }
    void decide(Time now) override {
      ConservativeLink& link = reader_.link_;
      const auto feedback = link.flow_->end_cycle();
      if (!feedback.says_something()) return;
      link.writer_->send({network::later(now, link.back_latency_), feedback}, reader_.is_far());
    }

   private:
    AtReader& reader_;
    Due due_;
  };

  ConservativeLink& link_;
  EndOfCycle end_of_cycle_;
};

ConservativeLink::ConservativeLink(Channel& channel, const network::FlowSettings& flow, Time word_time,
                                   Time latency, Time back_latency, const Place& from, const Place& to)
    : channel_(channel),
      flow_(network::make_flow_control(flow)),
      is_controlled_(flow.kind != network::FlowSettings::Kind::kNone),
      word_time_(word_time),
      latency_(latency),
      back_latency_(back_latency),
      writer_(std::make_unique<AtWriter>(from, *flow_)),
      reader_(std::make_unique<AtReader>(to, *this)) {}

ConservativeLink::~ConservativeLink() = default;

ConservativeLink::Stall ConservativeLink::push(Kernel& writer, std::span<const std::byte> word) {
  const Time wanted = writer.clock;
  writer.clock = std::max(writer.clock, writer_->free);
  const Time free = writer.clock;
  if (is_controlled_) {
    writer.worker().wait_until_known(writer);
    if (!flow_->step_sender({}, true)) {
      writer_->waiting = &writer;
      writer.wait(Kernel::Waits::kForSpace, &channel_);
    }
  }
  writer_->free = network::later(writer.clock, word_time_);
  const Time arrives = writer_->free + writer.depth + latency_;
  reader_->send({arrives, {word.begin(), word.end()}}, reader_->is_far());
  return {free - wanted, writer.clock - free};
}

Time ConservativeLink::pop(Kernel& reader, std::span<std::byte> word) {
  const Time wanted = reader.clock;
  reader.worker().wait_until_known(reader);
  if (reader_->stored.empty()) {
    reader_->waiting = &reader;
    reader.wait(Kernel::Waits::kForWord, &channel_);
  } else {
    reader_->take(reader.clock);
  }
  std::memcpy(word.data(), reader_->stored.front().data(), word.size());
  reader_->stored.pop_front();
  return reader.clock - wanted;
}

bool ConservativeLink::is_empty(Kernel& reader) {
  reader.worker().wait_until_known(reader);
  return reader_->stored.empty();
}

bool ConservativeLink::is_full(Kernel& writer) {
  writer.worker().wait_until_known(writer);
  return writer_->free > writer.clock || (is_controlled_ && !flow_->is_ready());
}

bool ConservativeLink::meet() {
  const bool has_feedback = writer_->meet();
  return reader_->meet() || has_feedback;
}

bool ConservativeLink::has_untold(bool is_writer) const {
  return is_writer ? reader_->has_sent() : writer_->has_sent();
}

void ConservativeLink::pack(Packet& packet, bool is_writer) {
  if (is_writer) {
    const auto words = reader_->take_sent();
    packet.put<std::uint64_t>(words.size());
    for (const Word& word : words) {
      packet.put(word.arrives);
      packet.put(word.bytes.data(), word.bytes.size());
    }
  } else {
    const auto told = writer_->take_sent();
    packet.put<std::uint64_t>(told.size());
    for (const Told& one : told) packet.put(one);
  }
}

void ConservativeLink::unpack(Packet& packet, bool is_writer, std::size_t word_bytes) {
  for (auto count = packet.get<std::uint64_t>(); count > 0; --count) {
    if (is_writer) {
      writer_->send(packet.get<Told>(), true);
    } else {
      Word word{packet.get<Time>(), std::vector<std::byte>(word_bytes)};
      packet.get(word.bytes.data(), word_bytes);
      reader_->send(std::move(word), true);
    }
  }
}

std::uint64_t ConservativeLink::fill() const { return reader_->stored.size() + reader_->in_flight(); }

}  // namespace fabricmark::dataflow
