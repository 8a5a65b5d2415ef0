#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/random_bits.hpp"
#include "benchmarks/hpl/local.hpp"

namespace fabricmark::hpl {

/// The columns of the matrix in groups of few, so that the errors of right elements do not add up to much.
/// Two partitions into groups: columns that share one of the first do not share one of the second (with up to
/// `most`^3 columns), so that a row's diagonal element is in the way of no other in both.
class Groups {
 public:
  static constexpr std::size_t kMost = 512;

  Groups(std::size_t size, int partition, std::size_t most = kMost)
      : count_(std::min(size, most)), partition_(partition) {
    members_.resize(count_);
    for (std::size_t column = 0; column < size; ++column) ++members_[group(column)];
  }
  /// Partitions that say something new: with as many groups as columns one is enough.
  static int partitions(std::size_t size, std::size_t most = kMost) { return size <= most ? 1 : 2; }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t members(std::size_t group) const { return members_[group]; }
  [[nodiscard]] std::size_t group(std::size_t column) const {
    if (partition_ == 0) return column % count_;
    const std::size_t shift = column / count_;
    return (column + shift + shift / count_) % count_;
  }
  /// A random sign, so that errors of equal sign do not cancel.
  [[nodiscard]] double sign(std::size_t column) const {
    const std::uint64_t bits = mixed_bits(2 * column + static_cast<std::uint64_t>(partition_) + 1);
    return (bits & 1U) == 0 ? 1 : -1;
  }

 private:
  std::size_t count_;
  int partition_;
  std::vector<std::size_t> members_;
};

/// Some columns by themselves, evenly spread, each at a place that no kernel knows.
class Samples {
 public:
  static constexpr std::size_t kMost = 64;

  Samples(std::size_t size, int repetition) : count_(std::min(size, kMost)) {
    const std::uint64_t seed = mixed_bits(static_cast<std::uint64_t>(repetition) + 1);
    for (std::size_t number = 0; number < count_; ++number) {
      const std::size_t first = number * size / count_;
      const std::size_t end = (number + 1) * size / count_;
      const std::uint64_t bits = mixed_bits(seed + (number + 1) * kRandomStep);
      columns_.push_back(first + bits % (end - first));
    }
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t column(std::size_t number) const { return columns_[number]; }
  /// The sample of a column, where it is one.
  [[nodiscard]] std::optional<std::size_t> number(std::size_t column) const {
    const auto found = std::ranges::lower_bound(columns_, column);
    if (found == columns_.end() || *found != column) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
  }

 private:
  std::size_t count_;
  std::vector<std::size_t> columns_;  // ascending
};

/// Vectors that A and L U are multiplied with at the same time, as this rank's columns take part in them.
class ProbeVectors {
 public:
  /// A column's element of one vector.
  struct Entry {
    std::size_t local = 0;
    std::size_t vector = 0;
    double sign = 1;
  };

  explicit ProbeVectors(const Layout& layout) : layout_(layout) {}

  /// Both return the number of the first of the added vectors. The entries are in the order of their columns
  /// for each call.
  std::size_t add(const Groups& groups) {
    std::vector<Entry> entries;
    for (std::size_t c = 0; c < real_columns(layout_); ++c) {
      const std::size_t column = layout_.global_column(c);
      entries.push_back({c, width_ + groups.group(column), groups.sign(column)});
    }
    return add(std::move(entries), groups.count());
  }
  std::size_t add(const Samples& samples) {
    std::vector<Entry> entries;
    for (std::size_t c = 0; c < real_columns(layout_); ++c) {
      if (const auto number = samples.number(layout_.global_column(c)))
        entries.push_back({c, width_ + *number, 1});
    }
    return add(std::move(entries), samples.count());
  }

  [[nodiscard]] std::size_t width() const { return width_; }
  /// Calls `left`, `diagonal` and `right` with the entries of columns before `left_end`, of that one where it
  /// comes before `right_start`, and of those from there on.
  template <typename Left, typename Diagonal, typename Right>
  void for_each(std::size_t left_end, std::size_t right_start, Left&& left, Diagonal&& diagonal,
                Right&& right) const {
    for (const std::vector<Entry>& entries : families_) {
      auto entry = entries.begin();
      for (; entry != entries.end() && entry->local < left_end; ++entry) left(*entry);
      for (; entry != entries.end() && entry->local < right_start; ++entry) diagonal(*entry);
      for (; entry != entries.end(); ++entry) right(*entry);
    }
  }

 private:
  std::size_t add(std::vector<Entry> entries, std::size_t count) {
    families_.push_back(std::move(entries));
    const std::size_t first = width_;
    width_ += count;
    return first;
  }

  Layout layout_;
  std::size_t width_ = 0;
  std::vector<std::vector<Entry>> families_;
};

}  // namespace fabricmark::hpl
