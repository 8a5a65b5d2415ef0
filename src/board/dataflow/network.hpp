#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/interface.hpp"
#include "board/dataflow/peers.hpp"
#include "board/dataflow/worker.hpp"
#include "network/stack/stack.hpp"
#include "network/time.hpp"
#include "network/topology.hpp"

namespace fabricmark::dataflow {

/// What a message carries: bytes, and what keeps them; without that they stay where they are until the
/// message has arrived.
struct Payload {
  std::span<const std::byte> bytes{};
  std::shared_ptr<const void> owner{};

  Payload() = default;
  explicit Payload(std::span<const std::byte> memory) : bytes(memory) {}
  explicit Payload(std::vector<std::byte> own) {
    const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(own));
    bytes = *kept;
    owner = kept;
  }
};

/// A message with what it carries.
struct Letter {
  static constexpr std::size_t kHeaderBytes = 128;

  network::Time at = 0;  ///< when its sender has it ready
  int from = 0;
  int to = 0;
  std::uint64_t id = 0;                          ///< of all messages of its sender
  std::uint64_t wire_bytes = 0;                  ///< that it takes of the network
  std::array<std::byte, kHeaderBytes> header{};  ///< plain data, which the sender and the receiver know
  Payload payload{};
};

/// Packets between the devices of a fabric. Who sends does so at its own time; what comes is told to the
/// receiver when all that happens before is known. All devices share one Stack; between two meetings of the
/// fabric what is sent lies aside.
class Network {
 public:
  /// A device's own part.
  class Receiver : public Interface {
   public:
    /// Where a message's bytes may lie at once when they come from another process; elsewhere where it is
    /// empty.
    virtual std::span<std::byte> landing(const Letter& letter) = 0;
    virtual void arrived(const network::Stack::Arrival& arrival, const Letter& letter) = 0;
    virtual void completed(const network::Stack::Completion& completion) = 0;
  };

  Network(const network::Topology& topology, const network::StackSettings& settings);
  ~Network();

  /// What comes to a device goes to `receiver` from now on, which must stay as long.
  void attach(int device, Worker& worker, Receiver& receiver);
  /// By a kernel or a decision of the sending device. Returns the message's id.
  std::uint64_t send(Letter letter);

  // By the fabric, while no kernel runs. All processes put the same messages into their networks before they
  // advance, and so agree on what becomes of them; what a message carries comes to its receiver only.

  /// Of all devices of this process, since the last time.
  std::vector<Letter> take_sent();
  void put(Letter letter);
  /// For another process, or from there. Long payloads go by themselves: `parcels` gets them, or where they
  /// are to lie; null: none do.
  static void pack(Packet& packet, const Letter& letter, bool is_receiver,
                   std::vector<std::span<const std::byte>>* parcels);
  Letter unpack(Packet& packet, std::vector<std::span<std::byte>>& parcels);
  /// Makes all that comes before `end` due at its receivers.
  void advance_until(network::Time end) { stack_->advance_until(end); }
  /// Nobody sends before `until`: advances until something has come, or that time is reached; returns the
  /// earlier of both.
  network::Time advance_to_news(network::Time until);
  [[nodiscard]] network::Time lookahead() const { return stack_->lookahead(); }
  [[nodiscard]] network::Stack& stack() { return *stack_; }

 private:
  class Inbox;
  using Letters = std::map<std::pair<int, std::uint64_t>, Letter>;  // by sender and id

  std::unique_ptr<network::Stack> stack_;
  std::vector<std::unique_ptr<Inbox>> inboxes_;  // [device]
  network::Time told_ = network::kEndOfTime;     // what has come first since the last look
  std::vector<std::vector<Letter>> outboxes_;    // [device]
  std::vector<std::uint64_t> sent_;              // [device]: messages so far
  std::vector<Letters> in_flight_;               // [device] that they go to
};

}  // namespace fabricmark::dataflow
