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

}  // namespace fabricmark::hpl
