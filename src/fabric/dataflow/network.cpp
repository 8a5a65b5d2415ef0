#include "fabric/dataflow/network.hpp"

#include <utility>

#include "base/error.hpp"

namespace fabricmark::dataflow {

namespace {

/// Behind what arrives over links, before what kernels ask.
constexpr int kNetworkPort = kFirstAsking - 1;

}  // namespace

/// What comes to one device, each at its time.
class Network::Inbox final : public Decision {
 public:
  Inbox(int device, Letters& letters) : device_(device), letters_(letters) {}

  void attach(Worker& worker, Receiver& receiver) {
    worker_ = &worker;
    receiver_ = &receiver;
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
    if (const auto* const arrival = std::get_if<fabric::Stack::Arrival>(&item)) {
      const auto found = letters_.find({arrival->from, arrival->id});
      const std::shared_ptr<const std::vector<std::byte>> kept = found->second.payload;
      receiver_->arrived(*arrival, found->second);
      if (arrival->is_last) letters_.erase(found);
    } else {
      receiver_->completed(std::get<fabric::Stack::Completion>(item));
    }
  }

 private:
  int device_;
  Letters& letters_;
  Worker* worker_ = nullptr;
  Receiver* receiver_ = nullptr;
  std::deque<std::variant<fabric::Stack::Arrival, fabric::Stack::Completion>> due_;
  std::uint64_t number_ = 0;
};

Network::Network(const fabric::Topology& topology, const fabric::StackSettings& settings)
    : outboxes_(static_cast<std::size_t>(topology.devices())),
      sent_(static_cast<std::size_t>(topology.devices())),
      underway_(static_cast<std::size_t>(topology.devices())) {
  for (int device = 0; device < topology.devices(); ++device) {
    inboxes_.push_back(std::make_unique<Inbox>(device, underway_[static_cast<std::size_t>(device)]));
  }
  const auto inbox = [this](int device) -> Inbox& { return *inboxes_[static_cast<std::size_t>(device)]; };
  stack_ = fabric::make_stack(
      topology, settings,
      {[inbox](const fabric::Stack::Arrival& arrival) { inbox(arrival.to).come(arrival); },
       [inbox](const fabric::Stack::Completion& completion) { inbox(completion.from).come(completion); }});
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

bool Network::meet() {
  bool found = false;
  for (auto& outbox : outboxes_) {
    for (Letter& letter : std::exchange(outbox, {})) {
      found = true;
      stack_->send(letter.at, letter.from, letter.to, letter.id, letter.wire_bytes);
      Letters& letters = underway_[static_cast<std::size_t>(letter.to)];
      letters.emplace(std::pair(letter.from, letter.id), std::move(letter));
    }
  }
  return found;
}

}  // namespace fabricmark::dataflow
