#include "microbench/omb/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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

double Row::together() const {
  if (batch_seconds.empty()) return mean();
  const std::vector<double> of_batches = runtime::spans(batch_seconds, batch_starts);
  const std::vector<Batch> batches = batches_of(seconds.front().size());
  double sum = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    sum += of_batches[i] * static_cast<double>(batches[i].last - batches[i].first);
  }
  return sum / static_cast<double>(seconds.front().size());
}

double Row::percentile(int percent) const {
  std::vector<double> means = spans;
  for (const auto& one : seconds) {
    if (one.empty() || !spans.empty()) continue;
    means.resize(one.size());
    std::ranges::transform(means, one, means.begin(), std::plus<>());
  }
  if (spans.empty()) {
    for (double& value : means) value /= static_cast<double>(measuring());
  }
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

namespace {

/// One batch of a rank, from the first start of any rank on.
struct BatchTimes {
  double start = 0;
  double end = 0;
};

/// Lets each stretch begin when the last rank has ended the one before: between two of them checks were made.
void join_stretches(runtime::PerRank& starts, const runtime::PerRank& seconds,
                    const std::vector<std::size_t>& stretches) {
  double gaps = 0;
  for (std::size_t next = 1; next <= stretches.size(); ++next) {
    const std::size_t first = stretches[next - 1];
    const std::size_t last = next < stretches.size() ? stretches[next] : starts.front().size();
    double begin = starts.front()[first];
    double end = -std::numeric_limits<double>::infinity();
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      begin = std::min(begin, starts[rank][first]);
      if (first > 0) end = std::max(end, starts[rank][first - 1] + seconds[rank][first - 1]);
    }
    // Those before are where they belong already.
    if (first > 0) gaps = begin - end;
    for (std::vector<double>& own : starts) {
      for (std::size_t i = first; i < last; ++i) own[i] -= gaps;
    }
  }
}

/// Of iterations that began together each, one after the other: what lies between the last rank's end of one
/// and the first one's start of the next does not count.
std::vector<BatchTimes> joined(const runtime::PerRank& starts, const runtime::PerRank& seconds,
                               const std::vector<double>& spans, const Batch& batch) {
  std::vector<BatchTimes> times(starts.size());
  double before = 0;
  for (std::size_t i = batch.first; i < batch.last; ++i) {
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
      if (i == batch.first) times[rank].start = starts[rank][i];
      times[rank].end = before + starts[rank][i] + seconds[rank][i];
    }
    before += spans[i];
  }
  return times;
}

}  // namespace

void add_batches(runtime::Communicator& ranks, const runtime::SharedClock& clock, const Begun& begun,
                 Row& row) {
  constexpr double kNanoseconds = 1e9;
  std::vector<double> own;
  for (const double start : begun.starts) own.push_back(clock.seconds_at(std::llround(start * kNanoseconds)));
  runtime::PerRank starts = ranks.all_gather_numbers(own);
  starts.resize(row.measuring());
  const runtime::PerRank seconds(row.seconds.begin(),
                                 row.seconds.begin() + static_cast<std::ptrdiff_t>(starts.size()));
  if (begun.are_apart) {
    starts = runtime::after_the_first(std::move(starts));
    row.spans = runtime::spans(seconds, starts);
  } else {
    join_stretches(starts, seconds, begun.stretches);
  }
  runtime::PerRank batch_starts(starts.size());
  row.batch_seconds.assign(starts.size(), {});
  for (const Batch& batch : batches_of(seconds.front().size())) {
    const auto count = static_cast<double>(batch.last - batch.first);
    std::vector<BatchTimes> times;
    if (begun.are_apart) times = joined(starts, seconds, row.spans, batch);
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      if (!begun.are_apart) {
        times.push_back(
            {starts[rank][batch.first], starts[rank][batch.last - 1] + seconds[rank][batch.last - 1]});
      }
      batch_starts[rank].push_back(times[rank].start / count);
      row.batch_seconds[rank].push_back((times[rank].end - times[rank].start) / count);
    }
  }
  row.batch_starts = runtime::after_the_first(std::move(batch_starts));
}

}  // namespace fabricmark::microbench::omb
