#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace fabricmark::codec {

/// What compression gains of a link that carries a frame as flits (the gain law). Words come in one a cycle,
/// of which each adds z_i flits, and a compressor makes one flit a cycle. So the frame takes
///
///     max(sum max(1, z_i), sum z_i / supply)  cycles
///
/// `supply`: flits that leave in a cycle of the words, of a packet of D flits with k cycles beside them
/// D / (D + k) F_link / F. The first sum is the number of words, where flits are wide enough. The link is as
/// fast as one of r times its bytes a second, r being the ratio, where a FIFO before it holds what comes
/// faster for a while: the largest demand less supply of any words that follow each other. No FIFO makes good
/// what a link could have carried before the words came: `cycles_in_order` has that, too.
class Gain {
 public:
  explicit Gain(double supply) : supply_(supply) {}

  /// The flits of the next word.
  void add(std::size_t flits) {
    const double cycles = std::max(1.0, static_cast<double>(flits));
    ++words_;
    flits_ += flits;
    compressor_cycles_ += cycles;
    waiting_ = std::max(0.0, waiting_ + static_cast<double>(flits) - supply_ * cycles);
    most_waiting_ = std::max(most_waiting_, waiting_);
  }
  [[nodiscard]] std::uint64_t words() const { return words_; }
  [[nodiscard]] std::uint64_t flits() const { return flits_; }
  /// Of the words' clock.
  [[nodiscard]] double cycles() const {
    return std::max(compressor_cycles_, static_cast<double>(flits_) / supply_);
  }
  /// The same where words come in their order: what is left at their end takes its time behind them.
  [[nodiscard]] double cycles_in_order() const { return compressor_cycles_ + most_waiting_ / supply_; }
  /// Flits that the FIFO must hold, so that no word waits.
  [[nodiscard]] double elastic_flits() const { return most_waiting_; }

 private:
  double supply_;
  std::uint64_t words_ = 0;
  std::uint64_t flits_ = 0;
  double compressor_cycles_ = 0;
  double waiting_ = 0;
  double most_waiting_ = 0;
};

}  // namespace fabricmark::codec
