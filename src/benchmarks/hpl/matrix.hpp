#pragma once

#include <cmath>

#include "base/parallel.hpp"
#include "benchmarks/hpl/dot.hpp"
#include "benchmarks/hpl/inputs.hpp"
#include "benchmarks/hpl/vectors.hpp"

namespace fabricmark::hpl {

/// For each row of the matrix, divided as Vectors says: the sum of its elements and of their absolute values.
struct RowSums {
  std::vector<double> plain;
  std::vector<double> absolute;
};

/// The matrix of one repetition with its elements rounded to T, made anew wherever it is used: nothing that a
/// device or a mistake could have changed.
template <typename T>
class Matrix {
 public:
  explicit Matrix(const Vectors& vectors, int repetition = 0)
      : vectors_(vectors), inputs_(vectors.layout().size, repetition) {}

  [[nodiscard]] double diagonal(std::size_t row) const { return rounded(inputs_.diagonal(row)); }

  /// This rank's part with the padding, as Layout says.
  void fill(T* values) const {
    const Layout& layout = vectors_.layout();
    const std::size_t columns = layout.local_columns();
    over_rows([&](std::size_t r, std::vector<double>& room) {
      T* const line = values + r * columns;
      const std::size_t row = layout.global_row(r);
      std::fill_n(line, columns, T{0});
      const std::size_t on_diagonal = columns_below(layout, row);
      const bool has_diagonal = on_diagonal < columns && layout.global_column(on_diagonal) == row;
      if (row < layout.size) off_diagonals(row, line, room);
      if (has_diagonal) line[on_diagonal] = row < layout.size ? static_cast<T>(inputs_.diagonal(row)) : T{1};
    });
  }

  /// The rank's elements of one row; in the place of the diagonal stands another number.
  void off_diagonals(std::size_t row, T* line, std::vector<double>& room) const {
    const Layout& layout = vectors_.layout();
    room.resize(layout.block);
    const Inputs::Row elements = inputs_.row(row);
    for_each_run(layout, 0, real_columns(layout), [&](const Run& run) {
      elements.off_diagonals(run.global, run.count, room.data());
      for (std::size_t i = 0; i < run.count; ++i) line[run.local + i] = static_cast<T>(room[i]);
    });
  }

  /// The product with a vector, whose padding may hold anything.
  [[nodiscard]] std::vector<double> multiply(std::span<const double> x) const {
    const std::size_t real = real_columns(vectors_.layout());
    std::vector<double> sums(vectors_.layout().local_rows());
    over_rows([&, line = std::vector<T>()](std::size_t r, std::vector<double>& room) mutable {
      const std::size_t row = vectors_.layout().global_row(r);
      if (row >= vectors_.layout().size) return;
      line.resize(real);
      off_diagonals(row, line.data(), room);
      sums[r] = without_diagonal(r, line.data(), [&](const T* part, std::size_t first, std::size_t count) {
        return dot(part, x.data() + first, count);
      });
    });
    return with_diagonal(sums, x);
  }

  /// The same from the elements as `fill` has stored them: faster, and as trustworthy as that memory.
  [[nodiscard]] std::vector<double> multiply_stored(const T* values, std::span<const double> x) const {
    std::vector<double> sums(vectors_.layout().local_rows());
    over_rows([&](std::size_t r, std::vector<double>&) {
      const T* const line = values + r * vectors_.layout().local_columns();
      sums[r] = without_diagonal(r, line, [&](const T* part, std::size_t first, std::size_t count) {
        return dot(part, x.data() + first, count);
      });
    });
    return with_diagonal(sums, x);
  }

  /// Of the elements as `fill` has stored them.
  [[nodiscard]] RowSums row_sums(const T* values) const {
    const std::vector<double> ones(vectors_.layout().local_columns(), 1);
    std::vector<double> absolute(vectors_.layout().local_rows());
    over_rows([&](std::size_t r, std::vector<double>&) {
      const T* const line = values + r * vectors_.layout().local_columns();
      absolute[r] = without_diagonal(
          r, line, [&](const T* part, std::size_t, std::size_t count) { return absolute_sum(part, count); });
    });
    return {.plain = multiply_stored(values, ones), .absolute = with_diagonal(absolute, ones)};
  }

 private:
  static double rounded(double value) { return static_cast<double>(static_cast<T>(value)); }

  /// Calls `body(local row, room)` for each of the rank's rows, on several threads, with room of the
  /// thread's.
  template <typename Body>
  void over_rows(Body&& body) const {
    const Layout& layout = vectors_.layout();
    const std::size_t least = rows_worth_a_thread(layout.local_columns());
    parallel_for(layout.local_rows(), vectors_.threads(), least, [&](std::size_t begin, std::size_t end) {
      auto own = body;
      std::vector<double> room;
      for (std::size_t r = begin; r < end; ++r) own(r, room);
    });
  }

  /// The sum of `term(elements, first, count)` of the parts of a row on both sides of the diagonal.
  template <typename Term>
  double without_diagonal(std::size_t r, const T* line, Term&& term) const {
    const Layout& layout = vectors_.layout();
    const std::size_t real = real_columns(layout);
    const std::size_t left_end = std::min(columns_below(layout, layout.global_row(r)), real);
    const std::size_t right_start = std::min(columns_below(layout, layout.global_row(r) + 1), real);
    return term(line, 0, left_end) + term(line + right_start, right_start, real - right_start);
  }

  /// The sums of all ranks and the diagonal's part. That last, so that the many small terms are not rounded
  /// at its size.
  [[nodiscard]] std::vector<double> with_diagonal(std::span<double> sums, std::span<const double> x) const {
    std::vector<double> all = vectors_.rows_to_columns(sums, 1);
    for_each_run(vectors_.layout(), 0, real_columns(vectors_.layout()), [&](const Run& run) {
      for (std::size_t i = run.local; i < run.local + run.count; ++i) {
        all[i] += diagonal(run.global + i - run.local) * x[i];
      }
    });
    return all;
  }

  const Vectors& vectors_;
  Inputs inputs_;
};

}  // namespace fabricmark::hpl
