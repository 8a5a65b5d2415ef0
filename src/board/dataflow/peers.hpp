#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/time.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {

/// Bytes for another process, written and read in the same order.
class Packet {
 public:
  Packet() = default;
  explicit Packet(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  /// Gives up its bytes, not their memory.
  void clear() {
    bytes_.clear();
    read_again();
  }
  /// Has these bytes, and the giver its own memory.
  void take(std::vector<std::byte>& bytes) {
    std::swap(bytes_, bytes);
    read_again();
  }
  void read_again() { read_ = 0; }
  void put(const void* data, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + bytes);
  }
  template <typename Number>
  void put(Number number) {
    put(&number, sizeof number);
  }
  /// Throws Error (environment) beyond the end.
  void get(void* data, std::size_t bytes);
  template <typename Number>
  Number get() {
    Number number{};
    get(&number, sizeof number);
    return number;
  }
  [[nodiscard]] bool is_at_end() const { return read_ == bytes_.size(); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t read_ = 0;
};

/// What a process says to all others after it has run as far as it can.
struct Report {
  network::Time next = network::kEndOfTime;  ///< nothing happens there before
  bool has_news = false;                     ///< it has sent something, or something happened in it
  bool has_finished = false;                 ///< its hosts wait for all to finish
  bool may_go_on = false;                    ///< a host waits for another rank, but perhaps not for long
  bool has_ended = false;                    ///< a kernel has, and its host may act
};

/// The other processes of a run: each has the device with its rank's number. All meet again and again. A host
/// that waits for another rank comes to meetings in between, and may leave one that is open.
///
/// Such a host really waits where it told the same in two meetings, and nobody has said in the second one
/// that he has sent or asked for it: whoever went on first would have to have been answered by somebody who
/// went on before. Until that is so nothing may be decided, as the host may go on and start a kernel.
class Peers {
 public:
  explicit Peers(std::unique_ptr<runtime::Communicator> ranks);
  ~Peers();

  [[nodiscard]] int own() const { return ranks_->rank(); }
  [[nodiscard]] int size() const { return ranks_->size(); }
  /// The host of this process waits for these messages, and passes its time; absent: it does not.
  void pass(std::optional<std::vector<runtime::Awaited>> awaited) { awaited_ = std::move(awaited); }

  /// Sends each its packet, and all the report; and parcels, bytes that must stay until the meeting ends.
  void begin_meeting(const Report& own, const std::vector<Packet>& packets,
                     const std::vector<std::vector<std::span<const std::byte>>>& parcels = {});
  [[nodiscard]] bool is_meeting() const;
  /// Gets the packets of all into their places, and says what all together report. Absent where some have not
  /// come yet, and `waits` is not set: then the meeting stays open.
  std::optional<Report> end_meeting(std::vector<Packet>& packets, bool waits);
  /// After a meeting: gets the parcels of a process into their places, in the order in which it named them.
  void receive_parcels(int from, const std::vector<std::span<std::byte>>& places);
  /// Until these have come, and the own ones have left.
  void finish_parcels();
  /// Collective.
  std::vector<std::string> gather(const std::string& text) { return ranks_->all_gather_texts(text); }

 private:
  struct Meeting;
  struct Moving {
    runtime::Request request;
    int peer = 0;
  };
  /// What a process says, beside its words.
  struct Said {
    Report report;
    bool is_passing = false;
    bool has_answered = false;  // something that was awaited in the meeting before
    std::vector<runtime::Awaited> awaited;
  };
  [[nodiscard]] bool has_answered() const;
  /// Those that have are forgotten.
  [[nodiscard]] bool have_moved(std::vector<Moving>& moving, bool waits);
  Said hear(Packet& packet) const;
  void say(const Report& own, Packet& packet) const;
  void want_beginnings();
  /// Once all beginnings have come.
  void receive_rests();

  std::unique_ptr<runtime::Communicator> ranks_;
  std::optional<std::vector<runtime::Awaited>> awaited_;
  std::unique_ptr<Meeting> meeting_;  ///< the one that is open, or the next
  std::vector<Moving> leaving_parcels_;
  std::vector<Moving> arriving_parcels_;
  std::vector<Said> before_;  // [rank], in the last meeting
};

}  // namespace fabricmark::dataflow
