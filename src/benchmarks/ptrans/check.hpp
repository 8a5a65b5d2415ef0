#pragma once

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/ptrans/inputs.hpp"
#include "benchmarks/ptrans/plan.hpp"
#include "harness/benchmark.hpp"

namespace fabricmark::ptrans {

/// The blocks of one rank: where the elements of the matrix lie in its memory.
class Layout {
 public:
  Layout(const std::vector<Block>& blocks, std::size_t size, std::size_t block_size)
      : blocks_(blocks), size_(size), block_size_(block_size) {}

  /// Calls `action(row, column, place)` for every element of the matrix that is here: without padding.
  template <typename Action>
  void for_each(Action&& action) const {
    for (std::size_t number = 0; number < blocks_.size(); ++number) {
      const std::size_t first_row = blocks_[number].row * block_size_;
      const std::size_t first_column = blocks_[number].column * block_size_;
      const std::size_t rows = std::min(block_size_, size_ - first_row);
      const std::size_t columns = std::min(block_size_, size_ - first_column);
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t start = (number * block_size_ + i) * block_size_;
        for (std::size_t j = 0; j < columns; ++j) action(first_row + i, first_column + j, start + j);
      }
    }
  }
  [[nodiscard]] std::size_t elements() const {
    std::size_t count = 0;
    for (const Block& block : blocks_) {
      count += std::min(block_size_, size_ - block.row * block_size_) *
               std::min(block_size_, size_ - block.column * block_size_);
    }
    return count;
  }

 private:
  const std::vector<Block>& blocks_;
  std::size_t size_;
  std::size_t block_size_;
};

/// Every element of C that this rank has, against B + A^T. A sum of two numbers is right to half a place,
/// half an epsilon relative to it; one epsilon is allowed, for arithmetic that cuts off instead of rounding.
template <typename T>
harness::Verdict check(const Inputs<T>& inputs, const Layout& layout, std::span<const T> c) {
  constexpr long double kEps = std::numeric_limits<T>::epsilon();
  harness::Verdict verdict{.name = "elements", .threshold = 1, .measure = "largest error in eps |B + A^T|"};
  layout.for_each([&](std::size_t row, std::size_t column, std::size_t place) {
    const long double expected = inputs.c(row, column);
    const long double difference = std::abs(static_cast<long double>(c[place]) - expected);
    auto error = static_cast<double>(difference / (kEps * expected));
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    ++verdict.checked;
    if (error <= verdict.error) return;
    verdict.error = error;
    verdict.worst = {"c[" + std::to_string(row) + "," + std::to_string(column) + "]",
                     static_cast<double>(expected), static_cast<double>(c[place])};
  });
  return verdict;
}

}  // namespace fabricmark::ptrans
