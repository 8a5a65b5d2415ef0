#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/hpl/steps.hpp"

namespace fabricmark::hpl {

/// A rank's rows of blocks, dealt to buffers in turn: row i lies in part i mod `parts`, behind the rows of
/// the part before it. So each part has a share of what is left in any iteration.
class RowParts {
 public:
  explicit RowParts(std::size_t parts = 1) : parts_(parts) {}

  [[nodiscard]] std::size_t count() const { return parts_; }
  [[nodiscard]] std::size_t part_of(std::size_t row) const { return row % parts_; }
  [[nodiscard]] std::size_t row_in_part(std::size_t row) const { return row / parts_; }
  /// Those of these rows that lie in a part, by their numbers there.
  [[nodiscard]] Range within(const Range& rows, std::size_t part) const {
    return {below(rows.begin, part), below(rows.end, part)};
  }
  /// Where the rows of a part begin, among `rows` in the order of the parts: as panels hold them.
  [[nodiscard]] std::size_t before(const Range& rows, std::size_t part) const {
    std::size_t found = 0;
    for (std::size_t other = 0; other < part; ++other) found += within(rows, other).count();
    return found;
  }

 private:
  [[nodiscard]] std::size_t below(std::size_t row, std::size_t part) const {
    return (row + parts_ - 1 - part) / parts_;
  }
  std::size_t parts_;
};

/// Bytes of what has to lie in memory banks, on the rank that has most of each.
struct BankNeeds {
  std::size_t rows = 0;               ///< of blocks
  std::uint64_t row_bytes = 0;        ///< of one
  std::vector<std::uint64_t> others;  ///< each in one bank: panels and inverses
};

/// The most parts of the matrix, at most `banks` and one of a row, with which all finds its place in
/// `all_banks` of `bank_bytes` (0: not known): part i in bank i, then each of the others in the emptiest.
/// Where nothing fits: as many as there may be.
std::size_t most_parts(const BankNeeds& needs, std::size_t banks, std::size_t all_banks,
                       std::uint64_t bank_bytes);

}  // namespace fabricmark::hpl
