#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "network/credit_link/counters.hpp"
#include "network/credit_link/flit.hpp"
#include "network/credit_link/link_parameters.hpp"

namespace fabricmark::credit_link {

/// One end of a credit link, both directions of it, cycle by cycle as its hardware: what it shows in a cycle
/// follows from the cycles before, and what it hears in it counts from the next on.
class LinkEnd {
 public:
  enum class State : std::uint8_t { kSync, kReady, kData, kDown };
  struct Input {
    bool source_valid = false;
    bool source_last = false;
    bool sink_ready = false;
    bool wire_ready = true;
    bool link_up = true;
    std::uint8_t source_tail = 0;  ///< bytes of a last word - 1
    std::uint64_t source_word = 0;
  };
  struct Output {
    bool source_ready = false;
    bool sink_valid = false;
    bool sink_last = false;
    std::uint8_t sink_tail = 0;
    std::uint64_t sink_word = 0;
    const Flit* sent =
        nullptr;  ///< shown to the wire, which takes it where it is ready; good until the next step
  };

  /// `payloads` outlives the end; without it the payload's CRC is that of no bytes. Throws Error (2) for
  /// parameters that cannot work.
  explicit LinkEnd(const LinkParameters& parameters, const Payloads* payloads = nullptr);

  /// One cycle, in which `received` comes off the wire.
  Output step(const Input& input, const Flit* received = nullptr);
  static constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
  /// How many next cycles change nothing that anybody sees if nothing comes in and nothing is taken: until a
  /// time-out, a keep-alive or a SYNC, or for ever.
  [[nodiscard]] std::uint64_t quiet_cycles() const;
  /// What the next step will show.
  [[nodiscard]] const Flit* shown() const { return has_flit_ ? &flits_[shown_] : nullptr; }
  /// In place of so many steps, of those cycles.
  void leave_out(std::uint64_t cycles);

  [[nodiscard]] const LinkParameters& parameters() const { return parameters_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool is_up() const {
    return (state_ == State::kReady || state_ == State::kData) && !is_draining_;
  }
  [[nodiscard]] std::uint8_t epoch() const { return epoch_; }
  [[nodiscard]] std::uint8_t peer_epoch() const { return peer_epoch_; }
  /// Data flits that may leave.
  [[nodiscard]] int credit() const {
    return static_cast<int>(peer_depth_) - static_cast<std::int16_t>(sent_ - freed_by_peer_) +
           (parameters_.fault == LinkFault::kCreditOneTooMany ? 1 : 0);
  }
  [[nodiscard]] std::uint16_t freed() const { return freed_; }
  [[nodiscard]] std::uint16_t told() const { return told_; }
  [[nodiscard]] std::uint16_t freed_by_peer() const { return freed_by_peer_; }
  /// Flits in the receive buffer.
  [[nodiscard]] std::uint32_t fill() const { return fill_; }
  /// Whether the sink sees a word.
  [[nodiscard]] bool has_word() const { return fill_ > unseen_; }
  /// Whether a word of the source finds a place.
  [[nodiscard]] bool takes_word() const { return waiting_ < parameters_.transmit_flits; }
  /// Words in the transmit buffer.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  [[nodiscard]] bool has_closed_packet() const { return packets_ > 0; }
  /// Cycles since the last header.
  [[nodiscard]] std::uint64_t since_header() const { return since_header_; }

 private:
  struct Packet {
    std::uint16_t length = 0;
    bool first = false;
    bool last = false;
    std::uint8_t tail = 0;
    std::uint32_t crc = 0;
  };
  struct Place {
    std::uint64_t word = 0;
    bool last = false;
    std::uint8_t tail = 0;
  };
  [[nodiscard]] bool is_syncing() const { return state_ == State::kSync || is_draining_; }
  [[nodiscard]] bool may_leave(const Packet& packet) const {
    return parameters_.counts_credit_by_flit || credit() >= packet.length;
  }
  [[nodiscard]] bool must_speak() const;
  void send(bool link_up);
  void send_sync();
  void send_header(const Packet& packet, bool credit_only);
  void send_data();
  void packetise(const Input& input, bool accepts);
  void close_packet(bool last, std::uint8_t tail);
  void take_place();
  void receive(const Flit& flit);
  void receive_bad_header();
  void receive_sync(const Header& header);
  void receive_packet(const Header& header);
  void receive_data(const Flit& flit);
  void end_packet();
  void take_back();
  void end_cycle(bool link_fell);
  void begin_epoch(bool link_fell);
  static std::uint32_t after(std::uint32_t place, std::uint32_t size) {
    return place + 1 == size ? 0 : place + 1;
  }

  LinkParameters parameters_;
  const Payloads* payloads_;
  std::uint8_t full_tail_;
  Counters counters_;

  State state_ = State::kSync;
  bool is_draining_ = false;  // a packet of the epoch before leaves whole
  bool was_up_ = true;
  bool has_seen_ = false;  // a SYNC in this epoch
  bool has_ack_ = false;
  bool owes_header_ = false;
  bool has_heard_packet_ = false;  // in this cycle
  bool must_resync_ = false;       // likewise
  bool has_new_peer_ = false;      // likewise: one that has begun again
  std::uint8_t epoch_ = 0;
  std::uint8_t peer_epoch_ = 0;
  std::uint16_t peer_depth_ = 0;
  std::uint16_t told_depth_;
  std::uint32_t sync_wait_ = 0;
  std::uint64_t sync_cycles_ = 0;
  std::uint32_t errors_ = 0;
  std::uint32_t window_ = 0;

  // Sending.
  std::array<Flit, 2> flits_;
  unsigned shown_ = 0;
  bool has_flit_ = false;
  std::vector<std::uint64_t> transmit_;
  std::vector<Packet> queue_;
  std::uint32_t transmit_write_ = 0;
  std::uint32_t transmit_read_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t queue_write_ = 0;
  std::uint32_t queue_read_ = 0;
  std::uint32_t packets_ = 0;
  std::uint32_t open_ = 0;
  std::uint32_t idle_ = 0;
  std::uint32_t open_crc_ = 0;
  bool begins_frame_ = true;
  std::uint16_t left_ = 0;
  std::uint16_t sent_ = 0;
  std::uint16_t freed_by_peer_ = 0;
  std::uint64_t since_header_ = 0;

  // Receiving.
  std::vector<Place> receive_;
  std::uint32_t receive_write_ = 0;
  std::uint32_t receive_read_ = 0;
  std::uint32_t fill_ = 0;
  std::uint32_t unseen_ = 0;  // by the sink: of a packet that is not all there
  std::uint32_t due_ = 0;
  bool is_discarding_ = false;
  bool is_hunting_ = false;
  bool is_wrong_ = false;
  Packet head_;
  std::uint32_t received_crc_ = 0;
  std::uint16_t expected_ = 0;
  std::uint16_t freed_ = 0;
  std::uint16_t told_ = 0;
};

}  // namespace fabricmark::credit_link
