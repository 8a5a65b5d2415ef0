#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "benchmarks/hpl/local.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::hpl {

/// Rows of so many elements for which starting a thread pays.
inline std::size_t rows_worth_a_thread(std::size_t columns) {
  constexpr std::size_t kElements = std::size_t{1} << 18;
  return kElements / std::max<std::size_t>(1, columns) + 1;
}

/// Vectors that are divided over the columns of the grid: every rank holds the elements of its own columns of
/// the matrix, so that the ranks of a grid column hold the same. All calls are collective, and every rank
/// gets the same results to the last bit. The messages are those of the communicator: no transport is tested
/// here.
class Vectors {
 public:
  Vectors(runtime::Communicator& ranks, const Layout& layout, double timeout_seconds)
      : ranks_(ranks), layout_(layout), timeout_seconds_(timeout_seconds) {}

  [[nodiscard]] runtime::Communicator& ranks() const { return ranks_; }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] double timeout_seconds() const { return timeout_seconds_; }
  /// Threads that this rank may use beside the others of its host.
  [[nodiscard]] int threads() const;

  /// Adds up what the ranks of each grid row have for their rows: `values` holds `width` numbers for each of
  /// the rank's rows, one row after the other. The sums of a row are in `values` of the rank that holds the
  /// row's diagonal element; the other ranks' are as they were.
  void add_rows(std::span<double> values, std::size_t width) const;
  /// The same sums, put where the columns of these numbers are: `width` numbers for each column of the rank.
  [[nodiscard]] std::vector<double> rows_to_columns(std::span<double> values, std::size_t width) const;

  [[nodiscard]] double dot(std::span<const double> left, std::span<const double> right) const;
  /// The largest absolute value; infinite where one is not a number.
  [[nodiscard]] double largest(std::span<const double> values) const;

 private:
  [[nodiscard]] bool holds_row(std::size_t block) const {
    return block % layout_.grid.rows == layout_.grid_row();
  }
  [[nodiscard]] bool holds_column(std::size_t block) const {
    return block % layout_.grid.columns == layout_.grid_column();
  }

  runtime::Communicator& ranks_;
  Layout layout_;
  double timeout_seconds_;
};

}  // namespace fabricmark::hpl
