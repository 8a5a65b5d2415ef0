#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "codec/form.hpp"

namespace fabricmark::codec {

/// The 32 bits before a block: cells - 1 in bits 0 to 7, then flags, and in bits 16 to 31 its flits with the
/// head; 0 of a stream, whose head leaves before they are known.
struct Head {
  std::size_t cells = 0;
  bool is_raw = false;
  Predictor predictor = Predictor::kLine;
  bool is_last = false;
  std::size_t flits = 0;

  [[nodiscard]] std::uint32_t bits() const {
    return static_cast<std::uint32_t>(cells - 1) | std::uint32_t{is_raw} << kRaw |
           (static_cast<std::uint32_t>(predictor) - 1) << kPredictor | std::uint32_t{is_last} << kLast |
           static_cast<std::uint32_t>(flits) << kFlits;
  }
  /// Throws Damage where a bit is set that means nothing.
  static Head of(std::uint32_t bits) {
    if ((bits >> kUnused & kUnusedMask) != 0) throw Damage("the head of a block has unknown flags");
    return {.cells = (bits & kCellsMask) + 1,
            .is_raw = (bits >> kRaw & 1U) != 0,
            .predictor = static_cast<Predictor>((bits >> kPredictor & kPredictorMask) + 1),
            .is_last = (bits >> kLast & 1U) != 0,
            .flits = bits >> kFlits};
  }
  /// The same of the block with which `left` cells of a frame begin. Throws Damage where it is none of it.
  static Head expected(std::uint32_t bits, Predictor predictor, std::size_t left) {
    const Head head = of(bits);
    if (head.predictor != predictor) throw Damage("a block has another predictor");
    if (head.cells != std::min(left, kBlockCells)) throw Damage("a block has another number of cells");
    if (head.is_last != (head.cells == left)) throw Damage("the last block is not where it should be");
    return head;
  }

 private:
  static constexpr unsigned kRaw = 8;
  static constexpr unsigned kPredictor = 9;
  static constexpr unsigned kLast = 11;
  static constexpr unsigned kUnused = 12;
  static constexpr unsigned kFlits = 16;
  static constexpr std::uint32_t kCellsMask = 0xFF;
  static constexpr std::uint32_t kPredictorMask = 3;
  static constexpr std::uint32_t kUnusedMask = 0xF;
};

}  // namespace fabricmark::codec
