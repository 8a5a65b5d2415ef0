#pragma once

#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/ptrans/inputs.hpp"
#include "benchmarks/ptrans/plan.hpp"
#include "harness/benchmark.hpp"
#include "harness/parallel.hpp"

namespace fabricmark::ptrans {

/// Where the elements of some blocks of the matrix lie in memory, one block behind the other.
class Layout {
 public:
  Layout(const std::vector<Block>& blocks, std::size_t size, std::size_t block_size)
      : blocks_(blocks), size_(size), block_size_(block_size) {}

  /// The part of a block that is not padding.
  struct Extent {
    std::size_t row = 0;     ///< in the matrix
    std::size_t column = 0;  ///< in the matrix
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t place = 0;  ///< of its first element in memory
  };
  [[nodiscard]] Extent extent(std::size_t number) const {
    const std::size_t row = blocks_[number].row * block_size_;
    const std::size_t column = blocks_[number].column * block_size_;
    return {row, column, std::min(block_size_, size_ - row), std::min(block_size_, size_ - column),
            number * block_size_ * block_size_};
  }
  [[nodiscard]] std::size_t count() const { return blocks_.size(); }
  [[nodiscard]] const Block& block(std::size_t number) const { return blocks_[number]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t block_size() const { return block_size_; }

  /// Calls `action(row, column, place)` for every element of the matrix that is here: without padding; on
  /// several threads where `threads` says so, each with blocks of its own.
  template <typename Action>
  void for_each(Action&& action, int threads = 1) const {
    harness::parallel_for(count(), threads, kLeast / (block_size_ * block_size_) + 1,
                          [&](std::size_t begin, std::size_t end) {
                            for (std::size_t number = begin; number < end; ++number) {
                              for_each_of(extent(number), action);
                            }
                          });
  }
  template <typename Action>
  void for_each_of(const Extent& extent, Action&& action) const {
    for (std::size_t i = 0; i < extent.rows; ++i) {
      const std::size_t start = extent.place + i * block_size_;
      for (std::size_t j = 0; j < extent.columns; ++j) action(extent.row + i, extent.column + j, start + j);
    }
  }
  [[nodiscard]] std::size_t elements() const {
    std::size_t sum = 0;
    for (std::size_t number = 0; number < count(); ++number) {
      sum += extent(number).rows * extent(number).columns;
    }
    return sum;
  }
  static constexpr std::size_t kLeast = std::size_t{1} << 18U;  ///< elements worth a thread

 private:
  const std::vector<Block>& blocks_;
  std::size_t size_;
  std::size_t block_size_;
};

/// Which block of A was added to a block of C: the opposite one, or what an exchange has left in its place.
inline Block opposite(const Block& block) { return {block.column, block.row}; }

/// How far c is from the exact sum, in eps of it. The sum of two doubles has 54 digits: it is kept as a
/// double and what rounding has cut off (Knuth's sum of two).
template <typename T>
double error_of_sum(T c, T b, T a) {
  const auto left = static_cast<double>(b);
  const auto right = static_cast<double>(a);
  const double sum = left + right;
  const double part = sum - left;
  const double rest = (left - (sum - part)) + (right - part);
  const double difference = std::abs((static_cast<double>(c) - sum) - rest);
  return difference / (static_cast<double>(std::numeric_limits<T>::epsilon()) * sum);
}

/// Every element of C that this rank has, against B and the transposed block of A that `source(number)` says
/// for block number `number`. A sum of two numbers is right to half a place, half an epsilon relative to it;
/// one epsilon is allowed, for arithmetic that cuts off instead of rounding.
template <typename T, typename Source>
harness::Verdict check(const std::string& name, const Inputs<T>& inputs, const Layout& layout,
                       std::span<const T> c, Source&& source, int threads = 1) {
  harness::Verdict verdict{.name = name, .threshold = 1, .measure = "largest error in eps |B + A^T|"};
  std::mutex mutex;
  const auto check_block = [&](std::size_t number, harness::Verdict& own) {
    const Layout::Extent extent = layout.extent(number);
    const Block from = source(number);
    const bool is_opposite = from == opposite(layout.block(number));
    // Beyond the matrix A is padded with zeros.
    const auto a = [&](std::size_t row, std::size_t column) {
      row += from.row * layout.block_size();
      column += from.column * layout.block_size();
      return row < layout.size() && column < layout.size() ? inputs.a(row, column) : T{0};
    };
    layout.for_each_of(extent, [&](std::size_t row, std::size_t column, std::size_t place) {
      const typename Inputs<T>::Terms terms =
          is_opposite
              ? inputs.terms(row, column)
              : typename Inputs<T>::Terms{inputs.b(row, column), a(column - extent.column, row - extent.row)};
      double error = error_of_sum(c[place], terms.b, terms.a);
      if (error <= own.error) return;
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      if (error <= own.error) return;
      own.error = error;
      own.worst = {"c[" + std::to_string(row) + "," + std::to_string(column) + "]",
                   static_cast<double>(terms.b) + static_cast<double>(terms.a),
                   static_cast<double>(c[place])};
    });
    own.checked += extent.rows * extent.columns;
  };
  harness::parallel_for(layout.count(), threads, 1, [&](std::size_t begin, std::size_t end) {
    harness::Verdict own;
    for (std::size_t number = begin; number < end; ++number) check_block(number, own);
    const std::lock_guard lock(mutex);
    verdict.checked += own.checked;
    if (own.error <= verdict.error) return;
    verdict.error = own.error;
    verdict.worst = own.worst;
  });
  return verdict;
}

/// Blocks of A that an exchange has brought, in the order of `layout`: every element as it was sent.
template <typename T>
harness::Verdict check_exchange(const Inputs<T>& inputs, const Layout& layout, std::span<const T> arrived) {
  harness::Verdict verdict{.name = "exchange", .measure = "elements of A that did not arrive as they were"};
  layout.for_each([&](std::size_t row, std::size_t column, std::size_t place) {
    const T expected = inputs.a(row, column);
    ++verdict.checked;
    if (arrived[place] == expected) return;
    if (verdict.error++ > 0) return;
    verdict.worst = {"a[" + std::to_string(row) + "," + std::to_string(column) + "]",
                     static_cast<double>(expected), static_cast<double>(arrived[place])};
  });
  return verdict;
}

}  // namespace fabricmark::ptrans
