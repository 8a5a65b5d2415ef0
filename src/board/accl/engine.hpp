#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "board/accl/call.hpp"
#include "board/accl/device_memory.hpp"
#include "board/accl/message.hpp"
#include "board/accl/result.hpp"
#include "board/accl/settings.hpp"
#include "board/accl/timers.hpp"
#include "board/dataflow/network.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::accl {

using network::Time;

/// Ends a call with what it says.
struct CallFailed {
  Result result;
};

using dataflow::Payload;

/// Elements that a kernel's stream brings into memory, one behind the other.
class Arriving {
 public:
  explicit Arriving(View elements) : elements_(elements) {}

  [[nodiscard]] const View& elements() const { return elements_; }
  /// Since when all of `part`, which lies in it, is there: also later than now, as streams run ahead. Absent
  /// where that is not known yet; 0 for other memory.
  [[nodiscard]] std::optional<Time> since(const View& part) const;
  /// By the fiber of the stream.
  void add(Time at, std::span<const std::byte> bytes);
  /// `look` is called with each addition until it returns true.
  void watch(std::function<bool()> look) { watchers_.push_back(std::move(look)); }

 private:
  View elements_;
  std::size_t came_ = 0;               // bytes
  std::map<std::size_t, Time> times_;  // by bytes that had come then
  std::list<std::function<bool()>> watchers_;
};

/// What may go wrong with the next credit that an engine gives; for tests.
enum class CreditFault : std::uint8_t {
  kLost,   ///< it does not leave
  kTwice,  ///< it leaves twice
};

/// What a receive waits for.
struct Expected {
  std::uint32_t communicator = 0;
  int from = 0;               ///< device
  std::uint64_t context = 0;  ///< 0: messages of send; else number of the collective call
  int tag = kAnyTag;
  std::uint64_t signature = 0;  ///< of the collective call: differs where ranks call something else
  std::uint64_t count = 0;      ///< elements
  Type type = Type::kFloat32;
  std::string what{};  ///< the call, for messages

  [[nodiscard]] bool is_for(const Header& header) const;
};

/// Where received elements go.
struct Destination {
  View elements{};
  /// With it they are combined with these as they come.
  std::optional<View> own{};
  collectives::Reduction reduction = collectives::Reduction::kSum;
  /// Empty, or gets the bytes in place of `elements`, as they come: they go to a stream, without a copy in
  /// memory. The last ones are said to be.
  std::function<void(Time, std::vector<std::byte>, bool is_last)> words{};
};

/// The offload engine of one device: sends and receives messages for calls, each of which is a fiber of its
/// device. Receive buffers, eager messages and rendezvous as in ACCL (He et al., ACCL+, 2024). All functions
/// are for fibers of the device and what is decided there.
///
/// An eager message goes without asking. One that finds too few receive buffers free leaves its header, which
/// keeps its place among the messages of its sender, and comes again when the receiver gives credit for it:
/// buffers for the oldest of them as they get free, and its place in memory for one whose receive is called.
/// So no call waits for the buffers of another one.
class Engine final : public dataflow::Network::Receiver {
 public:
  using TicketId = std::uint64_t;

  Engine(dataflow::Fabric& fabric, int device, const EngineSettings& settings);
  ~Engine() override;

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const EngineSettings& settings() const { return settings_; }
  void set_timeout(double seconds) { settings_.timeout_seconds = seconds; }
  [[nodiscard]] bool is_rdma() const;

  /// Memory that other devices may write, and commands may name.
  std::uint64_t register_memory(const View& memory) { return memory_.add(memory); }
  [[nodiscard]] const DeviceMemory& memory() const { return memory_; }

  // Messages. `header` says all but sizes and tickets.

  /// With `arriving`, of which `elements` may be a part, they leave as they come.
  TicketId start_send(dataflow::Kernel& kernel, int to, Header header, const View& elements,
                      const std::string& what, const std::shared_ptr<Arriving>& arriving = nullptr);
  TicketId start_receive(dataflow::Kernel& kernel, const Expected& expected, Destination destination);
  /// Of something else that a call waits for.
  TicketId open_ticket(const std::string& what, std::uint32_t communicator);
  void end_ticket(TicketId id, Time at, Result result = {});
  /// Until it has ended. Throws CallFailed; lost packets are noted in `lost_bytes` instead.
  void wait(dataflow::Kernel& kernel, TicketId ticket, std::uint64_t& lost_bytes);
  /// A packet for a kernel's stream of another device, at the clock of `kernel`.
  void send_words(dataflow::Kernel& kernel, int to, Header header, std::vector<std::byte> bytes);

  /// Of a message whose elements come as it leaves: whole words, in one packet.
  [[nodiscard]] std::size_t piece_bytes(bool has_header) const;

  /// The data mover takes so long: moves the clock of `kernel` on.
  void move(dataflow::Kernel& kernel, double bytes);

  /// A call of a communicator has failed here: all its calls end, here and on all devices. The first cause
  /// counts.
  void spread(Time at, std::uint32_t communicator, const std::vector<int>& devices, const Result& result);
  /// A collective call begins here: messages of others' that is not the same are told from now on. `devices`
  /// must stay as long as the engine.
  void begin_collective(Time at, std::uint32_t communicator, const std::vector<int>& devices,
                        std::uint64_t context, std::uint64_t signature, const std::string& what);
  /// What ended all calls of a communicator; null while nothing did.
  [[nodiscard]] const Result* broken(std::uint32_t communicator) const;
  /// The same of any communicator.
  [[nodiscard]] const Result* broken() const { return broken_.empty() ? nullptr : &broken_.begin()->second; }

  /// Takes packets for streams.
  void on_words(int stream, std::function<void(Time, Payload)> take);
  /// Messages that nobody has received.
  [[nodiscard]] std::vector<std::string> left_over() const;
  /// Messages that found no receive buffer free, and were sent again.
  [[nodiscard]] std::uint64_t came_again() const { return came_again_; }
  /// UDP: packets for streams that did not come.
  [[nodiscard]] std::uint64_t lost_words_bytes() const { return lost_words_bytes_; }

  std::span<std::byte> landing(const dataflow::Letter& letter) override;
  void arrived(const network::Stack::Arrival& arrival, const dataflow::Letter& letter) override;
  void completed(const network::Stack::Completion& completion) override;

  /// Has the fault happen to the next message with elements; none: what was to happen does not.
  void corrupt(std::optional<network::MessageFault> fault) {
    fault_.set(fault);
    is_watched_ |= fault.has_value();
  }
  /// The same of the next credit.
  void corrupt_credit(std::optional<CreditFault> fault) { credit_fault_ = fault; }

 private:
  struct Ticket {
    bool has_ended = false;
    Time end = 0;
    Result result;
    dataflow::Kernel* waiter = nullptr;
    std::string what;
    std::uint32_t communicator = 0;
    std::optional<Timers::Alarm> time_out{};
  };
  struct Posted {
    TicketId ticket = 0;
    Expected expected;
    Destination destination;
  };
  /// Of an eager message, in the receive buffers.
  enum class Room : std::uint8_t {
    kHas,
    kLacks,  ///< it found none: what has come of it is not here, but with its sender
    kGiven,  ///< it has credit, and comes again
  };
  /// A message that comes, or announces itself.
  struct Message {
    Header header;
    Payload payload;
    std::vector<std::byte> pieces;  // of a message that comes in such: the payload
    bool is_complete = false;
    std::optional<Posted> posted{};  // the receive that gets it
    std::uint64_t given = 0;         // elements that a stream has
    std::uint64_t lost_bytes = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;  // offset, bytes
    std::size_t buffers = 0;                                     // of the pool
    Room room = Room::kHas;
  };
  using MessagePtr = std::shared_ptr<Message>;
  struct Outgoing {
    int to = 0;
    Header header;
    Payload payload;
    std::function<void(Time, const Header&)> leave{};  // as its elements come; empty: the payload is there
  };

  void time_out(TicketId id, Time now);
  /// Makes the fault that is due; true where the message is lost.
  bool is_corrupted(Payload& payload, Time at);
  /// `segments`: headers on the wire; absent: as many as the payload takes buffers.
  void post(int to, const Header& header, Payload payload, Time at, std::optional<TicketId> completes,
            std::optional<std::size_t> segments = {});
  void leave(int to, const Header& header, const View& elements, Time at,
             const std::shared_ptr<Arriving>& arriving);
  /// That a message takes.
  [[nodiscard]] std::size_t buffers_for(std::size_t bytes) const;
  /// Elements as they travel.
  [[nodiscard]] Payload travelling(const Header& header, const View& elements, bool stays) const;
  /// Elements of a message for a stream.
  [[nodiscard]] std::vector<std::byte> words_of(const Message& message, std::uint64_t first,
                                                std::uint64_t end) const;
  MessagePtr coming(const network::Stack::Arrival& arrival, const dataflow::Letter& letter);
  void begin_message(const MessagePtr& message, std::size_t bytes);
  void bind(const MessagePtr& message);
  void arrive(const MessagePtr& message, Time at);
  void take(const MessagePtr& message, Time at);
  void match(const Posted& posted, const MessagePtr& message, Time at);
  void give(Message& message, std::uint64_t bytes, Time at);
  void deliver(const Posted& posted, Message& message, Time at, bool is_buffered);
  void store(const Destination& destination, const Message& message);
  void take_put(const Message& message, Time at);
  void take_abort(const Message& message, Time at);
  /// Its receive buffers, which are given back once, whoever ends it first.
  void release(Message& message, Time at);
  /// The buffers that are free, to the oldest messages that lack some.
  void give_free_buffers(Time at);
  void give_credit(const MessagePtr& message, Time at);
  /// Its receiver has room for a message of this device.
  void send_again(const Message& credit, Time at);
  /// The message that comes again; null: it has no credit.
  MessagePtr coming_again(const network::Stack::Arrival& arrival, const Header& header);
  void forget_credits(std::uint32_t communicator, Time at);
  [[nodiscard]] Time moved(Time at, double bytes);
  void compare_calls(const Header& header, Time at);
  void end_all(std::uint32_t communicator, Time at, const Result& result);
  [[nodiscard]] static std::optional<Result> difference(const Posted& posted, const Header& header);

  dataflow::Fabric& fabric_;
  dataflow::Worker& worker_;
  int device_;
  EngineSettings settings_;
  std::size_t longest_eager_;  ///< longer messages wait for their receiver
  Timers timers_;
  std::size_t free_buffers_;
  Time mover_free_ = 0;
  TicketId next_ticket_ = 1;
  std::map<TicketId, Ticket> tickets_;
  std::map<std::uint64_t, TicketId> leaving_;  // by letter
  std::map<TicketId, Outgoing> announced_;     // wait for their receivers
  std::map<TicketId, Posted> granted_;         // wait for their data
  // By sender, whether it comes in pieces, and then its sender's ticket, else its letter.
  std::map<std::tuple<int, bool, std::uint64_t>, MessagePtr> coming_;
  std::list<Posted> posted_;
  std::list<MessagePtr> unexpected_;             // complete or not
  std::list<MessagePtr> lacking_;                // room, the oldest first
  std::map<std::uint64_t, MessagePtr> credits_;  // by number: messages that will come again
  std::uint64_t next_credit_ = 1;
  std::uint64_t came_again_ = 0;
  std::optional<CreditFault> credit_fault_{};
  std::map<std::uint32_t, Result> broken_;
  /// A collective call as this device made it.
  struct Begun {
    const std::vector<int>* devices = nullptr;
    std::uint64_t signature = 0;
    std::string what;
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Begun> begun_;  // the last ones, by communicator, context
  DeviceMemory memory_;
  std::map<int, std::function<void(Time, Payload)>> takers_;
  std::uint64_t lost_words_bytes_ = 0;
  bool is_watched_ = false;  // there was a fault to make
  network::DueFault fault_{network::DueFault::Swapping::kHalves};
};

}  // namespace fabricmark::accl
