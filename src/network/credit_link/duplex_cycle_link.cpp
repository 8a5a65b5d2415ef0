#include "network/credit_link/duplex_cycle_link.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace fabricmark::credit_link {

namespace {

constexpr unsigned kHeaderBits = 128;

}  // namespace

Wire::Wire(unsigned width_bits, std::size_t latency, const Disturbance& disturbance)
    : latency_(latency),
      slots_(latency),
      width_bits_(width_bits),
      disturbance_(disturbance),
      disturbs_(disturbance.frame_loss > 0 || disturbance.bit_error > 0 || !disturbance.losses.empty()),
      draw_(disturbance.seed) {}

void Wire::disturb(Slot& slot) {
  if (slot.flit.first) is_losing_ = loses_frame();
  slot.is_there = !is_losing_;
  if (slot.is_there && disturbance_.bit_error > 0 &&
      std::bernoulli_distribution(disturbance_.bit_error)(draw_))
    flip_a_bit(slot.flit);
}

bool Wire::loses_frame() {
  const bool is_told = disturbance_.losses.contains(frames_++);
  const bool is_drawn =
      disturbance_.frame_loss > 0 && std::bernoulli_distribution(disturbance_.frame_loss)(draw_);
  return is_told || is_drawn;
}

/// A header is what its bits say afterwards.
void Wire::flip_a_bit(Flit& flit) {
  const auto bit = std::uniform_int_distribution<unsigned>(0, width_bits_ - 1)(draw_);
  if (!flit.first) {
    flit.word ^= std::uint64_t{1} << (NumberedWords::kBits + bit % (64 - NumberedWords::kBits));
    return;
  }
  auto bytes = pack(flit.header);
  if (bit >= 8 * bytes.size()) return;
  bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1U << bit % 8);
  const auto header = unpack(std::span(bytes).first(width_bits_ == kHeaderBits ? 16 : bytes.size()));
  flit.is_header = header.has_value();
  if (header) flit.header = *header;
}

void Wire::put(const Flit* flit) {
  Slot& slot = slots_[at_];
  if (slot.is_there && is_data(&slot.flit)) --data_flits_;
  slot.is_there = flit != nullptr;
  if (flit != nullptr) {
    slot.flit = *flit;
    if (disturbs_) disturb(slot);
    if (slot.is_there && is_data(flit)) ++data_flits_;
  }
  at_ = at_ + 1 == latency_ ? 0 : at_ + 1;
}

std::uint32_t NumberedWords::crc(std::uint32_t before, std::uint64_t word) const {
  std::array<std::uint8_t, sizeof(word)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(word >> 8 * i);
  return crc32(before, bytes);
}

DuplexCycleLink::DuplexCycleLink(const LinkParameters& parameters, std::size_t latency,
                                 const Disturbance& there, const Disturbance& back)
    : latency_(latency),
      // The check sum of payloads costs time, and tells something only where bits may be wrong.
      ends_{LinkEnd(parameters, there.bit_error + back.bit_error > 0 ? &words_ : nullptr),
            LinkEnd(parameters, there.bit_error + back.bit_error > 0 ? &words_ : nullptr)},
      wires_{Wire(parameters.width_bits, latency, there), Wire(parameters.width_bits, latency, back)} {}

std::array<LinkEnd, 2> DuplexCycleLink::ends_at_rest(const LinkParameters& parameters, std::size_t latency) {
  DuplexCycleLink link(parameters, latency);
  while (!link.is_at_rest()) link.step({}, {});
  return std::move(link.ends_);  // which do not use `words_`, as no bit is wrong
}

bool DuplexCycleLink::is_at_rest() const {
  const auto is_quiet = [](const LinkEnd& end) { return end.quiet_cycles() == LinkEnd::kForEver; };
  return is_up() && std::ranges::all_of(ends_, is_quiet) && std::ranges::all_of(wires_, &Wire::is_empty);
}

DuplexCycleLink::Cycle DuplexCycleLink::step(const LinkEnd::Input& first, const LinkEnd::Input& second) {
  const Cycle cycle{{ends_[0].step(first, wires_[1].out()), ends_[1].step(second, wires_[0].out())}};
  wires_[0].put(first.wire_ready ? cycle.ends[0].sent : nullptr);
  wires_[1].put(second.wire_ready ? cycle.ends[1].sent : nullptr);
  ++now_;
  return cycle;
}

}  // namespace fabricmark::credit_link
