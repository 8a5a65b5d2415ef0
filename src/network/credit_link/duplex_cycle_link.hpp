#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "network/credit_link/link_end.hpp"

namespace fabricmark::credit_link {

/// What a wire does to frames: a packet with its header is one. None of it unless it is told.
struct Disturbance {
  double frame_loss = 0;           ///< probability that a frame is lost
  double bit_error = 0;            ///< probability that a flit has one wrong bit
  std::set<std::uint64_t> losses;  ///< numbers of frames that are lost, counted from 0
  std::uint64_t seed = 1;
};

/// One direction: a flit that is put into it in cycle t is out in cycle t + latency.
class Wire {
 public:
  Wire(unsigned width_bits, std::size_t latency, const Disturbance& disturbance);
  /// What comes out in this cycle; good until `put`.
  [[nodiscard]] const Flit* out() const { return slots_[at_].is_there ? &slots_[at_].flit : nullptr; }
  /// Ends the cycle; `flit` may be none.
  void put(const Flit* flit);
  [[nodiscard]] bool is_empty() const { return std::ranges::none_of(slots_, &Slot::is_there); }
  /// Flits of data that are on their way.
  [[nodiscard]] std::uint32_t data_flits() const { return data_flits_; }
  [[nodiscard]] bool disturbs() const { return disturbs_; }

 private:
  struct Slot {
    Flit flit;
    bool is_there = false;
  };
  void disturb(Slot& slot);
  bool loses_frame();
  void flip_a_bit(Flit& flit);

  std::size_t latency_;
  std::vector<Slot> slots_;
  std::size_t at_ = 0;
  std::uint32_t data_flits_ = 0;
  unsigned width_bits_;
  Disturbance disturbance_;
  bool disturbs_;
  bool is_losing_ = false;
  std::mt19937_64 draw_;
  std::uint64_t frames_ = 0;
};

/// Words of 48 bits; a wrong bit shows above them.
class NumberedWords final : public Payloads {
 public:
  static constexpr unsigned kBits = 48;
  static std::uint64_t number(std::uint64_t word) { return word & ((std::uint64_t{1} << kBits) - 1); }
  static bool is_wrong(std::uint64_t word) { return word >> kBits != 0; }
  [[nodiscard]] std::uint32_t crc(std::uint32_t before, std::uint64_t word) const override;
};

/// Two ends and the wires between them, cycle by cycle.
class DuplexCycleLink {
 public:
  struct Cycle {
    std::array<LinkEnd::Output, 2> ends;
  };
  /// `latency`: the receiver sees in cycle t + latency + 1 what the sender decided in cycle t; 1 or more.
  DuplexCycleLink(const LinkParameters& parameters, std::size_t latency, const Disturbance& there = {},
                  const Disturbance& back = {});
  DuplexCycleLink(const DuplexCycleLink&) = delete;
  DuplexCycleLink& operator=(const DuplexCycleLink&) = delete;
  ~DuplexCycleLink() = default;

  /// The ends of an undisturbed link, when they have found each other and nothing moves any more.
  static std::array<LinkEnd, 2> ends_at_rest(const LinkParameters& parameters, std::size_t latency);

  Cycle step(const LinkEnd::Input& first, const LinkEnd::Input& second);

  [[nodiscard]] const LinkEnd& end(std::size_t i) const { return ends_[i]; }
  /// The wire from end `i`.
  [[nodiscard]] const Wire& wire(std::size_t i) const { return wires_[i]; }
  [[nodiscard]] std::size_t latency() const { return latency_; }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  /// Data flits that end `i` has sent and the other has not received.
  [[nodiscard]] std::uint32_t in_flight(std::size_t i) const {
    return wires_[i].data_flits() + (is_data(ends_[i].shown()) ? 1 : 0);
  }
  [[nodiscard]] bool is_up() const { return ends_[0].is_up() && ends_[1].is_up(); }
  /// Whether both are up and know each other's present epoch, so that their totals belong together.
  [[nodiscard]] bool is_agreed() const {
    return is_up() && ends_[0].peer_epoch() == ends_[1].epoch() && ends_[1].peer_epoch() == ends_[0].epoch();
  }

 private:
  [[nodiscard]] bool is_at_rest() const;

  NumberedWords words_;
  std::size_t latency_;
  std::array<LinkEnd, 2> ends_;
  std::array<Wire, 2> wires_;
  std::uint64_t now_ = 0;
};

}  // namespace fabricmark::credit_link
