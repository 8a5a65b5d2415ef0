#include "board/dataflow/network.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::dataflow {

namespace {

/// Behind what arrives over links, before what kernels ask.
constexpr int kNetworkPort = kFirstAsking - 1;
/// From here on a payload goes by itself.
constexpr std::size_t kParcelBytes = std::size_t{64} << 10;

/// Between neighbours no message passes a device or switch where others share its way: nothing is gained by
/// cutting it, and a message as a whole is one event.
network::StackSettings with_whole_messages(network::StackSettings settings,
                                           const network::Topology& topology) {
  constexpr std::uint64_t kWhole = std::uint64_t{1} << 40;
  if (topology.is_full_mesh()) settings.burst_bytes = kWhole;
  return settings;
}

}  // namespace

/// What comes to one device, each at its time.
class Network::Inbox final : public Decision {
 public:
  Inbox(int device, Letters& letters) : device_(device), letters_(letters) {}

  void attach(Worker& worker, Receiver& receiver) {
    worker_ = &worker;
    receiver_ = &receiver;
  }
  [[nodiscard]] bool is_here() const { return receiver_ != nullptr; }
  [[nodiscard]] std::span<std::byte> landing(const Letter& letter) const {
    return receiver_ != nullptr ? receiver_->landing(letter) : std::span<std::byte>{};
  }
  template <typename Item>
  void come(const Item& item) {
    if (worker_ == nullptr) return;
    worker_->decide_at({item.time, device_, kNetworkPort, number_++}, *this);
    due_.emplace_back(item);
  }
  void decide(Time /*now*/) override {
    const auto item = std::move(due_.front());
    due_.pop_front();
    if (const auto* const arrival = std::get_if<network::Stack::Arrival>(&item)) {
      const auto found = letters_.find({arrival->from, arrival->id});
      receiver_->arrived(*arrival, found->second);
      if (arrival->is_last) letters_.erase(found);
    } else {
      receiver_->completed(std::get<network::Stack::Completion>(item));
    }
  }

 private:
  int device_;
  Letters& letters_;
  Worker* worker_ = nullptr;
  Receiver* receiver_ = nullptr;
  std::deque<std::variant<network::Stack::Arrival, network::Stack::Completion>> due_;
  std::uint64_t number_ = 0;
};

Network::Network(const network::Topology& topology, const network::StackSettings& settings)
    : outboxes_(static_cast<std::size_t>(topology.devices())),
      sent_(static_cast<std::size_t>(topology.devices())),
      in_flight_(static_cast<std::size_t>(topology.devices())) {
  for (int device = 0; device < topology.devices(); ++device) {
    inboxes_.push_back(std::make_unique<Inbox>(device, in_flight_[static_cast<std::size_t>(device)]));
  }
  const auto inbox = [this](int device) -> Inbox& { return *inboxes_[static_cast<std::size_t>(device)]; };
  stack_ = network::make_stack(topology, with_whole_messages(settings, topology),
                               {[this, inbox](const network::Stack::Arrival& arrival) {
                                  told_ = std::min(told_, arrival.time);
                                  inbox(arrival.to).come(arrival);
                                },
                                [this, inbox](const network::Stack::Completion& completion) {
                                  told_ = std::min(told_, completion.time);
                                  inbox(completion.from).come(completion);
                                }});
  if (stack_->lookahead() <= 0) {
    throw bad_use("a network without latency between its devices cannot be emulated",
                  "give the network of the system a latency or a node_latency");
  }
}

Network::~Network() = default;

void Network::attach(int device, Worker& worker, Receiver& receiver) {
  inboxes_[static_cast<std::size_t>(device)]->attach(worker, receiver);
}

std::uint64_t Network::send(Letter letter) {
  const auto device = static_cast<std::size_t>(letter.from);
  letter.id = sent_[device]++;
  outboxes_[device].push_back(std::move(letter));
  return outboxes_[device].back().id;
}

network::Time Network::advance_to_news(network::Time until) {
  told_ = network::kEndOfTime;
  while (stack_->next_time() < until && told_ == network::kEndOfTime) {
    stack_->advance_until(stack_->next_time() + 1);
  }
  return std::min(told_, until);
}

std::vector<Letter> Network::take_sent() {
  std::vector<Letter> all;
  for (auto& outbox : outboxes_) {
    std::ranges::move(std::exchange(outbox, {}), std::back_inserter(all));
  }
  return all;
}

void Network::put(Letter letter) {
  stack_->send(letter.at, letter.from, letter.to, letter.id, letter.wire_bytes);
  const auto to = static_cast<std::size_t>(letter.to);
  if (!inboxes_[to]->is_here()) return;
  in_flight_[to].emplace(std::pair(letter.from, letter.id), std::move(letter));
}

void Network::pack(Packet& packet, const Letter& letter, bool is_receiver,
                   std::vector<std::span<const std::byte>>* parcels) {
  packet.put(letter.at);
  packet.put(letter.from);
  packet.put(letter.to);
  packet.put(letter.id);
  packet.put(letter.wire_bytes);
  packet.put(is_receiver);
  if (!is_receiver) return;
  packet.put(letter.header.data(), letter.header.size());
  const auto& bytes = letter.payload.bytes;
  packet.put<std::uint64_t>(bytes.size());
  const bool is_parcel = parcels != nullptr && bytes.size() >= kParcelBytes;
  packet.put(is_parcel);
  if (is_parcel) {
    parcels->push_back(bytes);
  } else {
    packet.put(bytes.data(), bytes.size());
  }
}

Letter Network::unpack(Packet& packet, std::vector<std::span<std::byte>>& parcels) {
  Letter letter;
  letter.at = packet.get<network::Time>();
  letter.from = packet.get<int>();
  letter.to = packet.get<int>();
  letter.id = packet.get<std::uint64_t>();
  letter.wire_bytes = packet.get<std::uint64_t>();
  if (!packet.get<bool>()) return letter;
  packet.get(letter.header.data(), letter.header.size());
  const auto bytes = packet.get<std::uint64_t>();
  const bool is_parcel = packet.get<bool>();
  std::span<std::byte> place = inboxes_[static_cast<std::size_t>(letter.to)]->landing(letter);
  if (place.size() == bytes) {
    letter.payload = Payload(place);
  } else {
    letter.payload = Payload(std::vector<std::byte>(bytes));
    auto* const own = const_cast<std::byte*>(letter.payload.bytes.data());  // nobody else has it yet
    place = {own, bytes};
  }
  if (is_parcel) {
    parcels.push_back(place);
  } else {
    packet.get(place.data(), bytes);
  }
  return letter;
}

}  // namespace fabricmark::dataflow
