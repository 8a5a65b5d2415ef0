#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "network/credit_link/duplex_cycle_link.hpp"

namespace fabricmark::credit_link {

/// Looks after each cycle of a link whether what must always hold does. Sources number their words from 0.
class LinkWatch {
 public:
  explicit LinkWatch(const DuplexCycleLink& link) : link_(link) {}
  /// After a cycle with these inputs.
  void look(const LinkEnd::Input& first, const LinkEnd::Input& second, const DuplexCycleLink::Cycle& cycle);
  /// When nothing is in flight and no word waits: that no credit is missing.
  void look_at_rest();
  /// The first that did not hold, with its cycle; empty: all has held.
  [[nodiscard]] const std::string& violation() const { return violation_; }
  /// Words that end `i` has delivered.
  [[nodiscard]] std::uint64_t delivered(std::size_t i) const { return delivered_[i]; }

 private:
  void require(bool holds, const char* what, std::size_t end);
  void look_at_places(std::size_t receiver);
  void look_at_order(std::size_t receiver, bool takes, const LinkEnd::Output& output);
  void look_at_credits(std::size_t sender);
  void look_at_speech(std::size_t sender, bool wire_ready);
  void look_at_agreement(bool links_up, bool wires_ready);
  void look_at_progress(std::size_t sender, bool takes, bool sink_ready, bool wires_ready);
  [[nodiscard]] bool disturbs() const { return link_.wire(0).disturbs() || link_.wire(1).disturbs(); }
  /// Whether words may be lost.
  [[nodiscard]] bool loses() const { return disturbs() || has_fallen_; }
  [[nodiscard]] std::uint64_t times(std::uint64_t cycles) const { return disturbs() ? 20 * cycles : cycles; }

  const DuplexCycleLink& link_;
  std::string violation_;
  std::array<std::uint64_t, 2> delivered_{};
  std::array<std::uint64_t, 2> next_word_{};
  std::array<std::uint64_t, 2> held_up_{};  // cycles in which the wire was not ready, since a header
  std::array<std::uint64_t, 2> without_{};  // progress, though there could be some
  std::uint64_t apart_ = 0;  // cycles without an epoch that both know, though there could be one
  bool has_fallen_ = false;  // or has begun again
};

}  // namespace fabricmark::credit_link
