#include "benchmarks/hpl/vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "benchmarks/hpl/dot.hpp"
#include "transport/messages.hpp"

namespace fabricmark::hpl {

namespace {

constexpr std::size_t kTags = 32768;

transport::HostMessage message(std::span<double> values, std::size_t block, int peer) {
  return {std::as_writable_bytes(values), peer, static_cast<int>(block % kTags)};
}

}  // namespace

int Vectors::threads() const { return runtime::host_threads(ranks_); }

void Vectors::add_rows(std::span<double> values, std::size_t width) const {
  const common::Grid& grid = layout_.grid;
  const std::size_t length = layout_.block * width;
  const std::size_t own_column = layout_.grid_column();
  std::vector<transport::HostMessage> sends;
  std::vector<transport::HostMessage> receives;
  std::vector<std::size_t> owned;  // blocks whose diagonal the rank holds
  for (std::size_t block = layout_.grid_row(); block < layout_.blocks(); block += grid.rows) {
    if (holds_column(block)) {
      owned.push_back(block);
    } else {
      const std::span<double> own = values.subspan(block / grid.rows * length, length);
      sends.push_back(message(own, block, grid.owner(block, block)));
    }
  }
  const std::size_t others = grid.columns - 1;
  std::vector<double> arrived(owned.size() * others * length);
  std::span<double> rest(arrived);
  for (const std::size_t block : owned) {
    for (std::size_t column = 0; column < grid.columns; ++column) {
      if (column == own_column) continue;
      receives.push_back(message(rest.first(length), block, grid.rank_at(layout_.grid_row(), column)));
      rest = rest.subspan(length);
    }
  }
  transport::exchange_host_messages(ranks_, timeout_seconds_, transport::Waiting::kSleep, sends, receives);
  const double* next = arrived.data();
  for (const std::size_t block : owned) {
    double* const sums = values.data() + block / grid.rows * length;
    for (std::size_t other = 0; other < others; ++other, next += length) {
      for (std::size_t i = 0; i < length; ++i) sums[i] += next[i];
    }
  }
}

std::vector<double> Vectors::rows_to_columns(std::span<double> values, std::size_t width) const {
  add_rows(values, width);
  const common::Grid& grid = layout_.grid;
  const std::size_t length = layout_.block * width;
  std::vector<double> columns(layout_.local_columns() * width);
  std::vector<transport::HostMessage> sends;
  std::vector<transport::HostMessage> receives;
  for (std::size_t block = layout_.grid_column(); block < layout_.blocks(); block += grid.columns) {
    const std::span<double> target(columns.data() + block / grid.columns * length, length);
    if (!holds_row(block)) {
      receives.push_back(message(target, block, grid.owner(block, block)));
      continue;
    }
    const std::span<double> sums = values.subspan(block / grid.rows * length, length);
    std::ranges::copy(sums, target.begin());
    for (std::size_t row = 0; row < grid.rows; ++row) {
      if (row == layout_.grid_row()) continue;
      sends.push_back(message(sums, block, grid.rank_at(row, layout_.grid_column())));
    }
  }
  transport::exchange_host_messages(ranks_, timeout_seconds_, transport::Waiting::kSleep, sends, receives);
  return columns;
}

double Vectors::dot(std::span<const double> left, std::span<const double> right) const {
  const double own = is_column_root(layout_) ? hpl::dot(left.data(), right.data(), left.size()) : 0;
  return ranks_.all_reduce_sum(own);
}

double Vectors::largest(std::span<const double> values) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double own = 0;
  for (const double value : values) own = std::isnan(value) ? kInfinity : std::max(own, std::abs(value));
  return ranks_.all_reduce_max_number(own);
}

}  // namespace fabricmark::hpl
