#include "microbench/common/calls/row.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace fabricmark::microbench {

namespace {

enum Number : std::uint8_t { kStarted, kEnded, kWall };

std::vector<double> numbers_of(const Told& told) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> numbers{told.started.value_or(kNever), told.ended.value_or(-1)};
  numbers.insert(numbers.end(), told.wall_seconds.begin(), told.wall_seconds.end());
  return numbers;
}

}  // namespace

double Row::seconds() const {
  return modelled_seconds.empty() ? std::ranges::min(spans()) : std::ranges::max(modelled_seconds);
}

Row gathered(runtime::Communicator& ranks, const Told& own, bool is_modelled) {
  const std::vector<std::vector<double>> told = ranks.all_gather_numbers(numbers_of(own));
  double first = std::numeric_limits<double>::infinity();
  for (const auto& one : told) first = std::min(first, one[kStarted]);
  Row row;
  row.found = gathered(ranks, own.found);
  for (const auto& one : told) {
    if (is_modelled) row.modelled_seconds.push_back(one[kEnded] < 0 ? 0 : one[kEnded] - first);
    row.wall_seconds.emplace_back(one.begin() + kWall, one.end());
  }
  return row;
}

}  // namespace fabricmark::microbench
