#pragma once

#include <cstddef>
#include <vector>

#include "benchmarks/hpl/layout.hpp"

namespace fabricmark::hpl {

/// A rank's blocks from number `begin` up to, not including, `end`.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t count() const { return end - begin; }
  bool operator==(const Range&) const = default;
};

/// A rank's blocks in these rows and columns of blocks.
struct Rectangle {
  Range rows;
  Range columns;
  [[nodiscard]] std::size_t count() const { return rows.count() * columns.count(); }
  bool operator==(const Rectangle&) const = default;
};

/// What iteration k of the factorisation is on one rank, in its own blocks.
struct Step {
  std::size_t iteration = 0;
  bool is_in_row = false;     ///< holds blocks of block row k, which top updates
  bool is_in_column = false;  ///< holds blocks of block column k, which left updates
  Range below;                ///< rows of blocks below block (k, k)
  Range right;                ///< columns of blocks on its right
  [[nodiscard]] bool is_owner() const { return is_in_row && is_in_column; }
  /// Its row and column in the rank's blocks, where `is_in_row` and `is_in_column`.
  [[nodiscard]] std::size_t row() const { return below.begin - 1; }
  [[nodiscard]] std::size_t column() const { return right.begin - 1; }
  [[nodiscard]] bool updates_left() const { return is_in_column && below.count() > 0; }
  [[nodiscard]] bool updates_top() const { return is_in_row && right.count() > 0; }
};
Step make_step(const Layout& layout, std::size_t iteration);

/// The inner blocks of an iteration in the order of their updates: with lookahead the block column and the
/// block row that the next iteration begins with come first. Each block is in one of the three; some are
/// empty.
struct Update {
  Rectangle next_column;
  Rectangle next_row;
  Rectangle rest;
};
Update divide_update(const Layout& layout, std::size_t iteration, bool looks_ahead);

/// What ranks send each other: the inverses of L_kk and U_kk (or these themselves), and the panels of updated
/// blocks. The value is the message's tag.
enum class Content { kLower, kUpper, kLeft, kTop };

struct Delivery {
  Content content = Content::kLower;
  int peer = 0;
  bool operator==(const Delivery&) const = default;
};

/// What a rank sends and receives at one time. Every delivery stands once among the sends of one rank and
/// once among the receives of another; none of the two has nothing to do with it.
struct Deliveries {
  std::vector<Delivery> sends;
  std::vector<Delivery> receives;
  [[nodiscard]] bool empty() const { return sends.empty() && receives.empty(); }
};
/// After lu: from the owner of block (k, k) to the others in its row and column of the grid.
Deliveries inverse_deliveries(const Layout& layout, std::size_t iteration);
/// After left and top: along the rows and the columns of the grid.
Deliveries panel_deliveries(const Layout& layout, std::size_t iteration);

}  // namespace fabricmark::hpl
