#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "benchmarks/hpl/inputs.hpp"
#include "benchmarks/hpl/tile.hpp"
#include "benchmarks/hpl/vectors.hpp"
#include "harness/benchmark.hpp"
#include "harness/element.hpp"
#include "harness/random_bits.hpp"

namespace fabricmark::hpl {

/// The columns of the matrix in groups of few, so that the errors of right elements do not add up to much.
/// Two partitions into groups: columns that share one of the first do not share one of the second (with up to
/// 512^3 columns), so that a row's diagonal element is in the way of no other in both.
class Groups {
 public:
  static constexpr std::size_t kMost = 512;

  Groups(std::size_t size, int partition) : count_(std::min(size, kMost)), partition_(partition) {
    members_.resize(count_);
    for (std::size_t column = 0; column < size; ++column) ++members_[group(column)];
  }
  /// Partitions that say something new: with as many groups as columns one is enough.
  static int partitions(std::size_t size) { return size <= kMost ? 1 : 2; }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t members(std::size_t group) const { return members_[group]; }
  [[nodiscard]] std::size_t group(std::size_t column) const {
    if (partition_ == 0) return column % count_;
    const std::size_t shift = column / count_;
    return (column + shift + shift / count_) % count_;
  }
  /// A random sign, so that errors of equal sign do not cancel.
  [[nodiscard]] double sign(std::size_t column) const {
    const std::uint64_t bits = harness::mixed_bits(2 * column + static_cast<std::uint64_t>(partition_) + 1);
    return (bits & 1U) == 0 ? 1 : -1;
  }

 private:
  std::size_t count_;
  int partition_;
  std::vector<std::size_t> members_;
};

/// Errors that right factors may have, in units of the type's epsilon. An element takes part in up to n
/// multiplications and additions, whose random rounding errors add up with the root of their number (Higham
/// and Mary 2019); the largest of all is six or so standard deviations out.
inline double probe_threshold(std::size_t size) { return 8 + 1.5 * std::sqrt(static_cast<double>(size)); }

/// Compares A with L U: for a vector v of random signs in one group of columns and zeros elsewhere, A v with
/// L (U v), in double precision, for every group. Unlike a residual of the solution this has no large numbers
/// in it that would hide a small error.
template <typename T>
class Probes {
 public:
  Probes(const Vectors& vectors, const T* factors)
      : vectors_(vectors), layout_(vectors.layout()), inputs_(layout_.size), factors_(factors) {}

  /// Collective; each rank judges the rows whose diagonal it holds.
  [[nodiscard]] std::vector<harness::Verdict> check() {
    elements_ = {.name = "factors",
                 .measure = "largest |A v - L U v| in eps times the terms' root of squares"};
    diagonal_ = {.name = "diagonal of U", .measure = "largest relative error in eps"};
    elements_.threshold = diagonal_.threshold = probe_threshold(layout_.size);
    for (int partition = 0; partition < Groups::partitions(layout_.size); ++partition) {
      const Groups groups(layout_.size, partition);
      std::vector<double> differences(layout_.local_rows() * groups.count());
      std::vector<double> products(differences.size());
      add_upper(groups, differences, products);
      subtract_lower(groups, vectors_.rows_to_columns(products, groups.count()), differences);
      vectors_.add_rows(differences, groups.count());
      judge(groups, differences);
    }
    return {elements_, diagonal_};
  }

  /// Bytes that a check needs on the host, with room for messages.
  static double bytes(const Layout& layout) {
    const std::size_t lines = 3 * layout.local_rows() + layout.local_columns();
    return static_cast<double>(lines * Groups::kMost) * sizeof(double);
  }

 private:
  /// differences: A v - U v of the off-diagonal elements, of which those above the diagonal nearly cancel one
  /// by one, and what the diagonal's differ by; products: U v.
  void add_upper(const Groups& groups, std::vector<double>& differences,
                 std::vector<double>& products) const {
    const std::size_t real = real_columns(layout_);
    std::vector<std::size_t> group(real);
    std::vector<double> sign(real);
    for (std::size_t c = 0; c < real; ++c) {
      group[c] = groups.group(layout_.global_column(c));
      sign[c] = groups.sign(layout_.global_column(c));
    }
    for (std::size_t r = 0; r < layout_.local_rows() && layout_.global_row(r) < layout_.size; ++r) {
      const std::size_t row = layout_.global_row(r);
      const std::size_t left_end = columns_below(layout_, row);
      const std::size_t right_start = columns_below(layout_, row + 1);
      const T* const factors = factors_ + r * layout_.local_columns();
      double* const difference = differences.data() + r * groups.count();
      double* const product = products.data() + r * groups.count();
      const Inputs::Row elements = inputs_.row(row);
      for_each_run(layout_, 0, left_end, [&](const Run& run) {
        for (std::size_t i = 0; i < run.count; ++i) {
          const std::size_t c = run.local + i;
          difference[group[c]] += sign[c] * rounded(elements.off_diagonal(run.global + i));
        }
      });
      if (right_start > left_end) {
        const auto element = static_cast<double>(factors[left_end]);
        difference[group[left_end]] += sign[left_end] * (rounded(inputs_.diagonal(row)) - element);
        product[group[left_end]] += sign[left_end] * element;
      }
      for_each_run(layout_, right_start, real, [&](const Run& run) {
        for (std::size_t i = 0; i < run.count; ++i) {
          const std::size_t c = run.local + i;
          const auto element = static_cast<double>(factors[c]);
          difference[group[c]] += sign[c] * (rounded(elements.off_diagonal(run.global + i)) - element);
          product[group[c]] += sign[c] * element;
        }
      });
    }
  }

  /// differences -= L products, with L without its diagonal; tile by tile.
  void subtract_lower(const Groups& groups, const std::vector<double>& products,
                      std::vector<double>& differences) const {
    const std::size_t real = real_columns(layout_);
    Tile tile;
    for (std::size_t row = 0; row < layout_.local_rows(); row += Tile::kRows) {
      const std::size_t rows = std::min(Tile::kRows, layout_.local_rows() - row);
      const std::size_t end = std::min(columns_below(layout_, layout_.global_row(row + rows - 1)), real);
      for (std::size_t column = 0; column < end; column += Tile::kColumns) {
        const std::size_t columns = std::min(Tile::kColumns, end - column);
        for (std::size_t i = 0; i < rows; ++i) {
          const T* const factors = factors_ + (row + i) * layout_.local_columns() + column;
          const std::size_t below = columns_below(layout_, layout_.global_row(row + i));
          const std::size_t kept = std::clamp(below, column, column + columns) - column;
          double* const line = tile.row(i, columns);
          for (std::size_t j = 0; j < kept; ++j) line[j] = static_cast<double>(factors[j]);
          std::fill(line + kept, line + columns, 0.0);
        }
        tile.subtract_product({rows, columns, groups.count()}, products.data() + column * groups.count(),
                              differences.data() + row * groups.count());
      }
    }
  }

  void judge(const Groups& groups, const std::vector<double>& differences) {
    constexpr double kVariance = 1.0 / 12;  // of the off-diagonal elements
    for (std::size_t r = 0; r < layout_.local_rows() && layout_.global_row(r) < layout_.size; ++r) {
      const std::size_t row = layout_.global_row(r);
      if (layout_.grid.owner(row / layout_.block, row / layout_.block) != layout_.rank) continue;
      for (std::size_t group = 0; group < groups.count(); ++group) {
        const double difference = differences[r * groups.count() + group];
        const bool is_own = group == groups.group(row);
        const double scale = is_own ? rounded(inputs_.diagonal(row))
                                    : std::sqrt(static_cast<double>(groups.members(group)) * kVariance);
        const double error = std::abs(difference) / (harness::kEpsilon<T> * scale);
        harness::Verdict& verdict = is_own ? diagonal_ : elements_;
        ++verdict.checked;
        if (error <= verdict.error) continue;
        verdict.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
        const bool is_element = groups.members(group) == 1;
        verdict.worst = {
            is_element ? fmt::format("element {},{}", row, is_own ? row : group) : fmt::format("row {}", row),
            0, difference};
      }
    }
  }

  static double rounded(double value) { return static_cast<double>(static_cast<T>(value)); }

  const Vectors& vectors_;
  Layout layout_;
  Inputs inputs_;
  const T* factors_;
  harness::Verdict elements_;
  harness::Verdict diagonal_;
};

}  // namespace fabricmark::hpl
