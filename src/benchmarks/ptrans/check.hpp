#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "benchmarks/common/digest.hpp"
#include "benchmarks/ptrans/inputs.hpp"
#include "benchmarks/ptrans/plan.hpp"
#include "runtime/benchmark.hpp"

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
    parallel_for(count(), threads, kLeast / (block_size_ * block_size_) + 1,
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

/// A sum and how far c is from the exact one. The sum of two doubles has 54 digits: it is kept as a double
/// and what rounding has cut off (Knuth's sum of two).
struct Sum {
  double sum = 0;
  double difference = 0;
};
template <typename T>
Sum compare_sum(T c, T b, T a) {
  const auto left = static_cast<double>(b);
  const auto right = static_cast<double>(a);
  const double sum = left + right;
  const double part = sum - left;
  const double rest = (left - (sum - part)) + (right - part);
  return {sum, std::abs((static_cast<double>(c) - sum) - rest)};
}
/// The difference in eps of the sum.
template <typename T>
double error_of_sum(T c, T b, T a) {
  const Sum compared = compare_sum(c, b, a);
  return compared.difference / (static_cast<double>(std::numeric_limits<T>::epsilon()) * compared.sum);
}

/// Checks the rows of a block of C for one thread, against B and a transposed block of A.
template <typename T>
class RowCheck {
 public:
  RowCheck(const Inputs<T>& inputs, const Layout& layout, std::span<const T> c)
      : inputs_(inputs), layout_(layout), c_(c), terms_(layout.block_size()) {}

  void check(std::size_t number, const Block& from, runtime::Verdict& own) {
    const Layout::Extent extent = layout_.extent(number);
    for (std::size_t i = 0; i < extent.rows; ++i) {
      if (from == opposite(layout_.block(number))) {
        for (std::size_t j = 0; j < extent.columns; ++j) {
          terms_[j] = inputs_.terms(extent.row + i, extent.column + j);
        }
      } else {
        take_other_terms(extent, i, from);
      }
      judge(extent, i, own);
    }
    own.checked += extent.rows * extent.columns;
  }

 private:
  static constexpr auto kEps = static_cast<double>(std::numeric_limits<T>::epsilon());

  /// Beyond the matrix A is padded with zeros.
  void take_other_terms(const Layout::Extent& extent, std::size_t i, const Block& from) {
    const std::size_t column = from.column * layout_.block_size() + i;
    for (std::size_t j = 0; j < extent.columns; ++j) {
      const std::size_t row = from.row * layout_.block_size() + j;
      const bool is_inside = row < layout_.size() && column < layout_.size();
      terms_[j] = {inputs_.b(extent.row + i, extent.column + j), is_inside ? inputs_.a(row, column) : T{0}};
    }
  }
  /// First all at once, without a division: nearly all rows have no larger error than known. NaN is larger.
  void judge(const Layout::Extent& extent, std::size_t i, runtime::Verdict& own) const {
    const T* const c = c_.data() + extent.place + i * layout_.block_size();
    const double limit = own.error * kEps;
    std::size_t smaller = 0;
    for (std::size_t j = 0; j < extent.columns; ++j) {
      const Sum compared = compare_sum(c[j], terms_[j].b, terms_[j].a);
      smaller += compared.difference <= limit * compared.sum ? 1 : 0;
    }
    for (std::size_t j = 0; j < extent.columns && smaller < extent.columns; ++j) {
      const double error = error_of_sum(c[j], terms_[j].b, terms_[j].a);
      if (error <= own.error) continue;
      own.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
      own.worst = {"c[" + std::to_string(extent.row + i) + "," + std::to_string(extent.column + j) + "]",
                   static_cast<double>(terms_[j].b) + static_cast<double>(terms_[j].a),
                   static_cast<double>(c[j])};
    }
  }

  const Inputs<T>& inputs_;
  const Layout& layout_;
  std::span<const T> c_;
  std::vector<typename Inputs<T>::Terms> terms_;  // of a row of the block
};

/// Every element of C that this rank has, against B and the transposed block of A that `source(number)` says
/// for block number `number`. A sum of two numbers is right to half a place, half an epsilon relative to it;
/// one epsilon is allowed, for arithmetic that cuts off instead of rounding.
template <typename T, typename Source>
runtime::Verdict check(const std::string& name, const Inputs<T>& inputs, const Layout& layout,
                       std::span<const T> c, Source&& source, int threads = 1) {
  runtime::Verdict verdict{.name = name, .threshold = 1, .measure = "largest error in eps |B + A^T|"};
  std::mutex mutex;
  parallel_for(layout.count(), threads, 1, [&](std::size_t begin, std::size_t end) {
    RowCheck<T> rows(inputs, layout, c);
    runtime::Verdict own;
    for (std::size_t number = begin; number < end; ++number) rows.check(number, source(number), own);
    const std::scoped_lock lock(mutex);
    verdict.checked += own.checked;
    if (own.error <= verdict.error) return;
    verdict.error = own.error;
    verdict.worst = own.worst;
  });
  return verdict;
}

/// Every element of C with the bits of the sum as IEEE 754 rounds it, which dataflow kernels on this machine
/// have to make: a bit that is wrong in A alone may be less than `check` allows. Padding, which has to be
/// zero, is looked at, too, and not counted: what is wrong there came wrong.
template <typename T>
runtime::Verdict check_bits(const Inputs<T>& inputs, const Layout& layout, std::span<const T> c,
                            int threads) {
  runtime::Verdict verdict{.name = "bits", .measure = "elements that are not B + A^T as it is rounded"};
  std::mutex mutex;
  parallel_for(layout.count(), threads, 1, [&](std::size_t begin, std::size_t end) {
    runtime::Verdict own;
    for (std::size_t number = begin; number < end; ++number) {
      const Layout::Extent inside = layout.extent(number);
      Layout::Extent all = inside;
      all.rows = all.columns = layout.block_size();
      own.checked += inside.rows * inside.columns;
      layout.for_each_of(all, [&](std::size_t row, std::size_t column, std::size_t place) {
        const bool is_padding = row >= layout.size() || column >= layout.size();
        const auto [b, a] = is_padding ? typename Inputs<T>::Terms{0, 0} : inputs.terms(row, column);
        const T expected = b + a;
        if (c[place] == expected || own.error++ > 0) return;
        own.worst = {"c[" + std::to_string(row) + "," + std::to_string(column) + "]",
                     static_cast<double>(expected), static_cast<double>(c[place])};
      });
    }
    const std::scoped_lock lock(mutex);
    verdict.checked += own.checked;
    verdict.error += own.error;
    if (!verdict.worst) verdict.worst = own.worst;
  });
  return verdict;
}

/// A number of a rank's part of C that has all bits and places in it; the sum over the ranks is the same
/// however the blocks lie on them.
template <typename T>
std::uint64_t digest_of(const Layout& layout, std::span<const T> c, int threads) {
  return parallel_sum(layout.count(), threads, 1, [&](std::size_t begin, std::size_t end) {
    std::uint64_t own = 0;
    for (std::size_t number = begin; number < end; ++number) {
      layout.for_each_of(layout.extent(number), [&](std::size_t row, std::size_t column, std::size_t place) {
        own += common::digest_of_element(c[place], row, column, layout.size());
      });
    }
    return own;
  });
}

/// Blocks of A that an exchange has brought, in the order of `layout`: every element as it was sent.
template <typename T>
runtime::Verdict check_exchange(const Inputs<T>& inputs, const Layout& layout, std::span<const T> arrived) {
  runtime::Verdict verdict{.name = "exchange", .measure = "elements of A that did not arrive as they were"};
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
