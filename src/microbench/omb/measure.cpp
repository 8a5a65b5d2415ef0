#include "microbench/omb/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace fabricmark::microbench::omb {

namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

double Overlap::share(double pure_seconds) const {
  return std::max(0.0, 100 - (overall - compute) / pure_seconds * 100);
}

std::size_t Row::measuring() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(seconds, [](const auto& one) { return !one.empty(); }));
}

double Row::mean() const {
  double sum = 0;
  for (const auto& one : seconds) sum += one.empty() ? 0 : mean_of(one);
  return sum / static_cast<double>(measuring());
}

double Row::least() const {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& one : seconds) least = one.empty() ? least : std::min(least, mean_of(one));
  return least;
}

double Row::greatest() const {
  double greatest = 0;
  for (const auto& one : seconds) greatest = one.empty() ? greatest : std::max(greatest, mean_of(one));
  return greatest;
}

double Row::percentile(int percent) const {
  std::vector<double> means;
  for (const auto& one : seconds) {
    if (one.empty()) continue;
    means.resize(one.size());
    std::ranges::transform(means, one, means.begin(), std::plus<>());
  }
  for (double& value : means) value /= static_cast<double>(measuring());
  const auto place =
      std::max<std::size_t>((means.size() * static_cast<std::size_t>(percent) + 99) / 100, 1) - 1;
  std::ranges::nth_element(means, means.begin() + static_cast<std::ptrdiff_t>(place));
  return means[place];
}

std::vector<Batch> batches_of(std::size_t iterations) {
  const std::size_t count = std::min(kBatches, iterations);
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < count; ++i) {
    batches.push_back({i * iterations / count, (i + 1) * iterations / count});
  }
  return batches;
}

void gather(runtime::Communicator& ranks, const std::vector<double>& seconds, const Found& found, Row& row) {
  row.seconds = ranks.all_gather_numbers(seconds);
  const auto numbers = ranks.all_gather_numbers(
      {static_cast<double>(found.checked), static_cast<double>(found.wrong), found.expected, found.actual});
  const auto places = ranks.all_gather_texts(found.place);
  row.found = {};
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
    const auto& one = numbers[rank];
    row.found.checked += static_cast<std::size_t>(one[0]);
    if (one[1] > 0 && row.found.wrong == 0) {
      row.wrong_rank = static_cast<int>(rank);
      row.found.place = places[rank];
      row.found.expected = one[2];
      row.found.actual = one[3];
    }
    row.found.wrong += static_cast<std::size_t>(one[1]);
  }
}

}  // namespace fabricmark::microbench::omb
