#pragma once

#include <cmath>

#include "benchmarks/hpl/dot.hpp"
#include "benchmarks/hpl/inputs.hpp"
#include "benchmarks/hpl/vectors.hpp"

namespace fabricmark::hpl {

/// The matrix with its elements rounded to T, made anew wherever it is used: nothing that a device or a
/// mistake could have changed.
template <typename T>
class Matrix {
 public:
  explicit Matrix(const Vectors& vectors) : vectors_(vectors), inputs_(vectors.layout().size) {}

  [[nodiscard]] double diagonal(std::size_t row) const { return rounded(inputs_.diagonal(row)); }

  /// This rank's part with the padding, as Layout says.
  void fill(T* values) const {
    const Layout& layout = vectors_.layout();
    const std::size_t columns = layout.local_columns();
    const std::size_t real = real_columns(layout);
    for (std::size_t r = 0; r < layout.local_rows(); ++r, values += columns) {
      const std::size_t row = layout.global_row(r);
      std::fill_n(values, columns, T{0});
      const std::size_t on_diagonal = columns_below(layout, row);
      const bool has_diagonal = on_diagonal < columns && layout.global_column(on_diagonal) == row;
      if (row < layout.size) {
        const Inputs::Row elements = inputs_.row(row);
        for_each_run(layout, 0, real, [&](const Run& run) {
          for (std::size_t i = 0; i < run.count; ++i) {
            values[run.local + i] = static_cast<T>(elements.off_diagonal(run.global + i));
          }
        });
      }
      if (has_diagonal)
        values[on_diagonal] = row < layout.size ? static_cast<T>(inputs_.diagonal(row)) : T{1};
    }
  }

  /// The product with a vector, whose padding may hold anything.
  [[nodiscard]] std::vector<double> multiply(std::span<const double> x) const {
    std::vector<double> product =
        over_rows([&](double element, std::size_t column) { return element * x[column]; });
    add_diagonal(product, [&](double element, std::size_t column) { return element * x[column]; });
    return product;
  }

  /// The same from the elements as `fill` has stored them: faster, and as trustworthy as that memory.
  [[nodiscard]] std::vector<double> multiply_stored(const T* values, std::span<const double> x) const {
    const Layout& layout = vectors_.layout();
    const std::size_t real = real_columns(layout);
    std::vector<double> sums(layout.local_rows());
    for (std::size_t r = 0; r < sums.size(); ++r, values += layout.local_columns()) {
      const std::size_t left_end = std::min(columns_below(layout, layout.global_row(r)), real);
      const std::size_t right_start = std::min(columns_below(layout, layout.global_row(r) + 1), real);
      sums[r] = dot(values, x.data(), left_end) +
                dot(values + right_start, x.data() + right_start, real - right_start);
    }
    std::vector<double> product = vectors_.rows_to_columns(sums, 1);
    add_diagonal(product, [&](double element, std::size_t column) { return element * x[column]; });
    return product;
  }

  /// The sum of the absolute values of each row.
  [[nodiscard]] std::vector<double> absolute_row_sums() const {
    std::vector<double> sums = over_rows([](double element, std::size_t) { return std::abs(element); });
    add_diagonal(sums, [](double element, std::size_t) { return element; });
    return sums;
  }

 private:
  static double rounded(double value) { return static_cast<double>(static_cast<T>(value)); }

  /// The sum of `term(element, local column)` over the off-diagonal elements of each row.
  template <typename Term>
  std::vector<double> over_rows(Term&& term) const {
    const Layout& layout = vectors_.layout();
    std::vector<double> sums(layout.local_rows());
    for (std::size_t r = 0; r < sums.size(); ++r) {
      const std::size_t row = layout.global_row(r);
      if (row >= layout.size) break;  // padding comes last
      const std::size_t left_end = columns_below(layout, row);
      const std::size_t right_start = columns_below(layout, row + 1);
      sums[r] = over_part(row, 0, left_end, term) + over_part(row, right_start, real_columns(layout), term);
    }
    return vectors_.rows_to_columns(sums, 1);
  }

  template <typename Term>
  double over_part(std::size_t row, std::size_t first, std::size_t end, Term&& term) const {
    constexpr std::size_t kLanes = 4;  // side by side, as one addition takes as long as several
    double lanes[kLanes] = {};
    const Inputs::Row elements = inputs_.row(row);
    for_each_run(vectors_.layout(), first, end, [&](const Run& run) {
      std::size_t i = 0;
      for (; i + kLanes <= run.count; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          lanes[lane] += term(rounded(elements.off_diagonal(run.global + i + lane)), run.local + i + lane);
        }
      }
      for (; i < run.count; ++i)
        lanes[0] += term(rounded(elements.off_diagonal(run.global + i)), run.local + i);
    });
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  }

  /// Last, so that the many small terms are not rounded at the size of the diagonal.
  template <typename Term>
  void add_diagonal(std::vector<double>& sums, Term&& term) const {
    for_each_run(vectors_.layout(), 0, real_columns(vectors_.layout()), [&](const Run& run) {
      for (std::size_t i = 0; i < run.count; ++i) {
        sums[run.local + i] += term(diagonal(run.global + i), run.local + i);
      }
    });
  }

  const Vectors& vectors_;
  Inputs inputs_;
};

}  // namespace fabricmark::hpl
