#pragma once

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "benchmarks/common/products.hpp"
#include "benchmarks/hpl/matrix.hpp"
#include "benchmarks/hpl/precision.hpp"
#include "benchmarks/hpl/probe_vectors.hpp"
#include "benchmarks/hpl/rounding.hpp"
#include "benchmarks/hpl/tile.hpp"

namespace fabricmark::hpl {

/// Compares A with L U: for a vector v of random signs in one group of columns and zeros elsewhere, A v with
/// L (U v), in double precision, for every group; and some columns by themselves. Unlike a residual of the
/// solution this has no large numbers in it that would hide a small error.
template <typename T>
class Probes {
 public:
  Probes(const Vectors& vectors, const T* factors, int repetition = 0)
      : Probes(vectors, factors, repetition, Rounding::of<T>(vectors.layout().size)) {}
  Probes(const Vectors& vectors, const T* factors, int repetition, const Rounding& rounding)
      : vectors_(vectors),
        rounding_(rounding),
        layout_(vectors.layout()),
        matrix_(vectors, repetition),
        inputs_(layout_.size, repetition),
        samples_(layout_.size, repetition),
        factors_(factors) {}

  /// With so few groups a check is quick, and finds errors that are larger by the root of the columns that
  /// share a group.
  static constexpr std::size_t kQuick = 32;

  /// Collective; each rank judges the rows whose diagonal it holds.
  [[nodiscard]] std::vector<runtime::Verdict> check(std::size_t most_groups = Groups::kMost) {
    elements_ = {.name = "factors",
                 .measure = "largest |A v - L U v| in eps times the terms' root of squares"};
    diagonal_ = {.name = "diagonal of U", .measure = "largest relative error in eps"};
    elements_.threshold = diagonal_.threshold = rounding_.of_element;
    // Up to a width that memory is kept for, all in one pass over the factors.
    const int partitions = Groups::partitions(layout_.size, most_groups);
    for (int first = 0; first<partitions; first += most_groups> kQuick ? 1 : partitions) {
      const int end = most_groups > kQuick ? first + 1 : partitions;
      std::vector<Groups> groups;
      for (int partition = first; partition < end; ++partition) {
        groups.emplace_back(layout_.size, partition, most_groups);
      }
      pass(groups, first == 0);
    }
    if (layout_.size == 1) return {diagonal_};  // there are no other elements
    return {elements_, diagonal_, precision_};
  }

  /// Bytes that a check needs on the host, with room for messages.
  static double bytes(const Layout& layout) {
    const std::size_t lines = 4 * layout.local_rows() + layout.local_columns();
    return static_cast<double>(lines * (Groups::kMost + Samples::kMost)) * sizeof(double);
  }

 private:
  /// For each row and vector: A v - U v of the off-diagonal elements, of which those above the diagonal
  /// nearly cancel one by one, and what the diagonal's differ by; U v; and the squares of the terms.
  struct Lines {
    Lines(std::size_t rows, std::size_t vectors)
        : width(vectors), differences(rows * width), products(rows * width), squares(rows * width) {}
    std::size_t width;
    std::vector<double> differences;
    std::vector<double> products;
    std::vector<double> squares;
  };

  void pass(const std::vector<Groups>& groups, bool with_samples) {
    ProbeVectors probes(layout_);
    std::vector<std::size_t> starts;
    for (const Groups& partition : groups) starts.push_back(probes.add(partition));
    if (with_samples) starts.push_back(probes.add(samples_));
    Lines lines(layout_.local_rows(), probes.width());
    add_upper(probes, lines);
    subtract_lower(probes.width(), vectors_.rows_to_columns(lines.products, probes.width()),
                   lines.differences);
    vectors_.add_rows(lines.differences, probes.width());
    vectors_.add_rows(lines.squares, probes.width());
    for (std::size_t i = 0; i < groups.size(); ++i) judge(groups[i], lines, starts[i]);
    if (with_samples) judge_samples(lines, starts.back());
  }

  void add_upper(const ProbeVectors& probes, Lines& lines) const {
    std::vector<double> diagonals;  // of the rank's columns, which make L's elements as large as A's
    for (std::size_t c = 0; c < real_columns(layout_); ++c) {
      diagonals.push_back(matrix_.diagonal(layout_.global_column(c)));
    }
    constexpr std::size_t kLeastRows = 64;
    parallel_for(layout_.local_rows(), vectors_.threads(), kLeastRows,
                 [&](std::size_t begin, std::size_t end) {
                   std::vector<T> line(diagonals.size());
                   std::vector<double> room;
                   for (std::size_t r = begin; r < end && layout_.global_row(r) < layout_.size; ++r) {
                     matrix_.off_diagonals(layout_.global_row(r), line.data(), room);
                     add_row(probes, r, line.data(), diagonals, lines);
                   }
                 });
  }

  void add_row(const ProbeVectors& probes, std::size_t r, const T* line, const std::vector<double>& diagonals,
               Lines& lines) const {
    const std::size_t row = layout_.global_row(r);
    const T* const factors = factors_ + r * layout_.local_columns();
    double* const difference = lines.differences.data() + r * lines.width;
    double* const product = lines.products.data() + r * lines.width;
    double* const square = lines.squares.data() + r * lines.width;
    using Entry = ProbeVectors::Entry;
    const auto larger_square = [](double one, double other) { return std::max(one * one, other * other); };
    probes.for_each(
        columns_below(layout_, row), columns_below(layout_, row + 1),
        [&](const Entry& entry) {
          const auto element = static_cast<double>(line[entry.local]);
          difference[entry.vector] += entry.sign * element;
          square[entry.vector] +=
              larger_square(element, static_cast<double>(factors[entry.local]) * diagonals[entry.local]);
        },
        [&](const Entry& entry) {
          const auto factor = static_cast<double>(factors[entry.local]);
          difference[entry.vector] += entry.sign * (diagonals[entry.local] - factor);
          product[entry.vector] += entry.sign * factor;
        },
        [&](const Entry& entry) {
          const auto element = static_cast<double>(line[entry.local]);
          const auto factor = static_cast<double>(factors[entry.local]);
          difference[entry.vector] += entry.sign * (element - factor);
          product[entry.vector] += entry.sign * factor;
          square[entry.vector] += larger_square(element, factor);
        });
  }

  /// differences -= L products, with L without its diagonal; tile by tile, with rows of tiles dealt to the
  /// threads in turn, as those further down are longer.
  void subtract_lower(std::size_t width, const std::vector<double>& products,
                      std::vector<double>& differences) const {
    const std::size_t tiles = (layout_.local_rows() + Tile::kRows - 1) / Tile::kRows;
    const std::size_t threads = std::min(tiles, static_cast<std::size_t>(vectors_.threads()));
    common::prepare_products(static_cast<int>(threads));
    parallel_for(threads, vectors_.threads(), 1, [&](std::size_t begin, std::size_t end) {
      Tile tile;
      for (std::size_t thread = begin; thread < end; ++thread) {
        for (std::size_t number = thread; number < tiles; number += threads) {
          subtract_rows(tile, number * Tile::kRows, width, products, differences);
        }
      }
    });
  }

  void subtract_rows(Tile& tile, std::size_t row, std::size_t width, const std::vector<double>& products,
                     std::vector<double>& differences) const {
    const std::size_t rows = std::min(Tile::kRows, layout_.local_rows() - row);
    const std::size_t end =
        std::min(columns_below(layout_, layout_.global_row(row + rows - 1)), real_columns(layout_));
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
      tile.subtract_product({rows, columns, width}, products.data() + column * width,
                            differences.data() + row * width);
    }
  }

  /// Calls `judge_row(local row, row)` for the rows that this rank judges, and `end_block()` after each
  /// block.
  template <typename JudgeRow, typename EndBlock>
  void over_judged_rows(JudgeRow&& judge_row, EndBlock&& end_block) const {
    for (std::size_t first = 0; first < layout_.local_rows(); first += layout_.block) {
      const std::size_t block = layout_.global_row(first) / layout_.block;
      if (layout_.grid.owner(block, block) != layout_.rank) continue;
      for (std::size_t r = first; r < first + layout_.block && layout_.global_row(r) < layout_.size; ++r) {
        judge_row(r, layout_.global_row(r));
      }
      end_block();
    }
  }

  void judge(const Groups& groups, const Lines& lines, std::size_t start) {
    over_judged_rows(
        [&](std::size_t r, std::size_t row) {
          for (std::size_t group = 0; group < groups.count(); ++group) {
            const std::size_t place = r * lines.width + start + group;
            const bool is_own = group == groups.group(row);
            const double least = kVariance * static_cast<double>(groups.members(group));
            const double scale =
                is_own ? matrix_.diagonal(row) : std::sqrt(std::max(least, lines.squares[place]));
            const bool is_element = groups.members(group) == 1;
            judge_one(is_own ? diagonal_ : elements_, lines.differences[place], scale, [&] {
              return is_element ? fmt::format("element {},{}", row, is_own ? row : group)
                                : fmt::format("row {}", row);
            });
          }
        },
        [] {});
  }
  template <typename Place>
  void judge_one(runtime::Verdict& verdict, double difference, double scale, Place&& place) const {
    const double error = std::abs(difference) / (rounding_.epsilon * scale);
    ++verdict.checked;
    if (error <= verdict.error) return;
    verdict.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    verdict.worst = {place(), 0, difference};
  }

  /// The large elements' errors, and the diagonal's, say nothing of the products' precision.
  void judge_samples(const Lines& lines, std::size_t start) {
    Precision precision(layout_.size, samples_.count(), rounding_.mean);
    over_judged_rows(
        [&](std::size_t r, std::size_t row) {
          const Inputs::Row elements = inputs_.row(row);
          for (std::size_t number = 0; number < samples_.count(); ++number) {
            const std::size_t column = samples_.column(number);
            if (column == row || std::abs(elements.off_diagonal(column)) > Inputs::kOrdinary) continue;
            const double difference = lines.differences[r * lines.width + start + number];
            precision.add(row, number, column, difference / (rounding_.epsilon * std::sqrt(kVariance)));
          }
        },
        [&] { precision.end_block(); });
    precision_ = precision.verdict([&](std::size_t number) { return samples_.column(number); });
  }

  static constexpr double kVariance = 1.0 / 12;  // of the ordinary elements

  const Vectors& vectors_;
  Rounding rounding_;
  Layout layout_;
  Matrix<T> matrix_;
  Inputs inputs_;
  Samples samples_;
  const T* factors_;
  runtime::Verdict elements_;
  runtime::Verdict diagonal_;
  runtime::Verdict precision_;
};

}  // namespace fabricmark::hpl
