#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/benchmark.hpp"

namespace fabricmark::hpl {

/// Root mean squares of errors over bands of rows and over columns. The products of an arithmetic with fewer
/// digits make all errors of a part of the matrix a little larger, which no single element betrays.
class Precision {
 public:
  /// `threshold`: of the mean over a row or a column at the end.
  Precision(std::size_t size, std::size_t columns, double threshold)
      : half_(static_cast<double>(size) / 2), columns_(columns) {
    verdict_ = {.name = "precision", .measure = "root mean square of A - L U in eps times that of elements"};
    verdict_.threshold = threshold;
  }

  /// `number` of the column among those that are looked at, which is `column`; `error` in eps times the root
  /// mean square of ordinary elements.
  void add(std::size_t row, std::size_t number, std::size_t column, double error) {
    if (band_.count == 0) first_row_ = row;
    last_row_ = row;
    const auto updates = static_cast<double>(std::min(row, column));
    for (Sum* const sum : {&band_, &columns_[number], &all_}) sum->add(error, updates);
    ++verdict_.checked;
  }
  /// To be called after each block of rows.
  void end_block() {
    constexpr std::size_t kLeast = 256;  // few errors make no mean
    if (band_.count < kLeast) return;
    judge(band_, [&] { return fmt::format("rows {} to {}", first_row_, last_row_); });
    band_ = {};
  }
  /// `name(column)` says which it is.
  template <typename Name>
  runtime::Verdict verdict(Name&& name) {
    constexpr std::size_t kLeast = 128;  // of fewer, those behind one large element are the mean
    judge(all_, [] { return std::string("all rows of the rank"); });
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (columns_[column].count < kLeast) continue;
      judge(columns_[column], [&] { return fmt::format("column {}", name(column)); });
    }
    return verdict_;
  }

 private:
  struct Sum {
    double squares = 0;
    double updates = 0;
    std::size_t count = 0;
    void add(double error, double of_element) {
      squares += error * error;
      updates += of_element;
      ++count;
    }
  };
  template <typename Place>
  void judge(const Sum& sum, Place&& place) {
    if (sum.count == 0) return;
    // A rank may hold the later rows of a column alone, which are updated more often than half of n.
    const auto count = static_cast<double>(sum.count);
    double error = std::sqrt(sum.squares / count / std::max(1.0, sum.updates / count / half_));
    if (error <= verdict_.error) return;
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    verdict_.error = error;
    verdict_.worst = {place(), 0, error};
  }

  double half_;  ///< of n
  std::vector<Sum> columns_;
  Sum band_;
  Sum all_;
  std::size_t first_row_ = 0;
  std::size_t last_row_ = 0;
  runtime::Verdict verdict_;
};

}  // namespace fabricmark::hpl
