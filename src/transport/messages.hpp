#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::transport {

using runtime::Waiting;

/// One message between host memories that is in flight.
struct Pending {
  runtime::Request request;
  int peer = 0;
  std::size_t bytes = 0;
  bool is_receive = false;
};

/// Messages in flight between the host memories of ranks, with one deadline for all.
class Messages {
 public:
  Messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting = Waiting::kSpin)
      : ranks_(ranks), timeout_(timeout_seconds), waiting_(waiting) {
    clear();
  }
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Gives up all that are in progress. Those that are started then have a new deadline.
  void clear();
  /// These return the position of the message for `is_done` and `wait`.
  std::size_t send(int to, std::span<const std::byte> bytes, int tag);
  std::size_t receive(int from, std::span<std::byte> bytes, int tag);
  bool is_done(std::size_t position);
  [[nodiscard]] std::size_t count() const { return pending_.size(); }
  [[nodiscard]] bool is_receive(std::size_t position) const { return pending_[position].is_receive; }
  /// Throws Error (environment) that names rank and message when the time is over, PeerFailure when another
  /// rank has failed.
  void wait(std::size_t position);
  void wait_all();
  /// To be called after each look at a message that is not done: waits a moment, and throws as `wait`.
  void check_deadline(std::size_t position);

 private:
  runtime::Communicator& ranks_;
  std::chrono::duration<double> timeout_;
  Waiting waiting_;
  std::optional<runtime::Patience> patience_;
  std::vector<Pending> pending_;
};

/// A message's bytes in the host's memory, the other rank and the tag.
struct HostMessage {
  std::span<std::byte> bytes;
  int peer = 0;
  int tag = 0;
};

/// Bytes from which on a message leaves by itself, where nobody has measured what is best.
inline constexpr std::size_t kLongMessage = std::size_t{32} << 10;

/// Messages to and from other ranks at the same time. Those of `long_bytes` and more leave one after the
/// other: side by side they may only take the memory from each other.
class HostExchange {
 public:
  HostExchange(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting)
      : messages_(ranks, timeout_seconds, waiting) {}
  /// `sends` stay until all have left.
  void begin(std::span<const HostMessage> sends, std::span<const HostMessage> receives,
             std::size_t long_bytes = kLongMessage);
  /// Does what can be done without waiting for others; true when all have left and arrived.
  [[nodiscard]] bool advance();
  /// Waits a moment for what the last `advance` had to wait for. Throws as Messages::wait.
  void idle() { messages_.check_deadline(open_); }
  void give_up() { messages_.clear(); }

 private:
  /// Whether the message is done. Where it is not, looks at one of the receives: between the ranks of a
  /// process a message moves when its receiver looks for it, so that ranks that only looked after their own
  /// sends would wait for each other for ever.
  bool is_done(std::size_t position);

  Messages messages_;
  std::span<const HostMessage> sends_;
  std::size_t long_bytes_ = kLongMessage;
  std::size_t receives_ = 0;  // the first messages
  std::size_t open_ = 0;      // the first message that is not done
  std::size_t looked_at_ = 0;
  bool is_waiting_ = false;  // for the last send, which is long
};

/// The same; returns when all have left and arrived.
void exchange_host_messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting,
                            std::span<const HostMessage> sends, std::span<const HostMessage> receives);

}  // namespace fabricmark::transport
