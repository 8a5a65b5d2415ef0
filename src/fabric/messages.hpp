#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "harness/ranks.hpp"

namespace fabricmark::fabric {

/// How a rank waits for messages: it asks again and again, which is fastest, or sleeps in between, where the
/// core has other work: a device's threads may need it.
enum class Waiting { kAsks, kSleeps };

/// One message between host memories that is under way.
struct Pending {
  harness::Request request;
  int peer = 0;
  std::size_t bytes = 0;
  bool is_receive = false;
};

/// Messages under way between the host memories of ranks, with one deadline for all.
class Messages {
 public:
  Messages(harness::Ranks& ranks, double timeout_seconds, Waiting waiting = Waiting::kAsks)
      : ranks_(ranks), timeout_(timeout_seconds), waiting_(waiting) {}
  ~Messages();
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// These return the position of the message for `is_done` and `wait`.
  std::size_t send(int to, std::span<const std::byte> bytes, int tag);
  std::size_t receive(int from, std::span<std::byte> bytes, int tag);
  bool is_done(std::size_t position);
  /// Throws Error (environment) that names rank and message when the time is over.
  void wait(std::size_t position);
  void wait_all();
  /// To be called after each poll of a message that is not done. Yields the core now and then, or each time
  /// sleeps on it, and throws as `wait`. The clock starts only after some polls: a short message needs none.
  void check_deadline(std::size_t position);

 private:
  harness::Ranks& ranks_;
  std::chrono::duration<double> timeout_;
  Waiting waiting_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  unsigned polls_ = 0;
  std::vector<Pending> pending_;
};

/// A message's bytes in the host's memory, the other rank and the tag.
struct HostMessage {
  std::span<std::byte> bytes;
  int peer = 0;
  int tag = 0;
};

/// Sends and receives all; returns when they have left and arrived. Throws as Messages::wait.
void exchange_host_messages(harness::Ranks& ranks, double timeout_seconds, Waiting waiting,
                            std::span<const HostMessage> sends, std::span<const HostMessage> receives);

}  // namespace fabricmark::fabric
