#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "runtime/communicator.hpp"

namespace fabricmark::fabric {

using runtime::Waiting;

/// One message between host memories that is under way.
struct Pending {
  runtime::Request request;
  int peer = 0;
  std::size_t bytes = 0;
  bool is_receive = false;
};

/// Messages under way between the host memories of ranks, with one deadline for all.
class Messages {
 public:
  Messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting = Waiting::kSpin)
      : ranks_(ranks), timeout_(timeout_seconds), patience_(ranks, waiting, timeout_) {}
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// Room for so many messages, so that starting them allocates nothing.
  void reserve(std::size_t messages) { pending_.reserve(messages); }
  /// These return the position of the message for `is_done` and `wait`.
  std::size_t send(int to, std::span<const std::byte> bytes, int tag);
  std::size_t receive(int from, std::span<std::byte> bytes, int tag);
  bool is_done(std::size_t position);
  /// Throws Error (environment) that names rank and message when the time is over, PeerFailure when another
  /// rank has failed.
  void wait(std::size_t position);
  void wait_all();
  /// To be called after each look at a message that is not done: waits a moment, and throws as `wait`.
  void check_deadline(std::size_t position);

 private:
  runtime::Communicator& ranks_;
  std::chrono::duration<double> timeout_;
  runtime::Patience patience_;
  std::vector<Pending> pending_;
};

/// A message's bytes in the host's memory, the other rank and the tag.
struct HostMessage {
  std::span<std::byte> bytes;
  int peer = 0;
  int tag = 0;
};

/// Sends and receives all; returns when they have left and arrived. Throws as Messages::wait.
void exchange_host_messages(runtime::Communicator& ranks, double timeout_seconds, Waiting waiting,
                            std::span<const HostMessage> sends, std::span<const HostMessage> receives);

}  // namespace fabricmark::fabric
