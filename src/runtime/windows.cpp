#include "runtime/windows.hpp"

#include <algorithm>
#include <limits>

#include "base/statistics.hpp"

namespace fabricmark::runtime {

namespace {

/// Of one repetition.
struct Window {
  double first_start = std::numeric_limits<double>::infinity();
  double last_start = -std::numeric_limits<double>::infinity();
  double first_end = std::numeric_limits<double>::infinity();
  double last_end = -std::numeric_limits<double>::infinity();
  double shortest = std::numeric_limits<double>::infinity();
};

std::vector<Window> windows_of(const PerRank& seconds, const PerRank& starts) {
  std::vector<Window> windows(seconds.empty() ? 0 : seconds.front().size());
  for (std::size_t rank = 0; rank < seconds.size(); ++rank) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const double start = starts.at(rank).at(i);
      const double end = start + seconds[rank].at(i);
      Window& all = windows[i];
      all.first_start = std::min(all.first_start, start);
      all.last_start = std::max(all.last_start, start);
      all.first_end = std::min(all.first_end, end);
      all.last_end = std::max(all.last_end, end);
      all.shortest = std::min(all.shortest, seconds[rank][i]);
    }
  }
  return windows;
}

}  // namespace

std::vector<double> spans(const PerRank& seconds, const PerRank& starts) {
  if (starts.empty()) return slowest(seconds);
  std::vector<double> found;
  for (const Window& window : windows_of(seconds, after_the_first(starts))) found.push_back(window.last_end);
  return found;
}

double overlap(const PerRank& seconds, const PerRank& starts) {
  if (starts.empty() || seconds.empty()) return 1;
  std::vector<double> shares;
  for (const Window& one : windows_of(seconds, starts)) {
    const double common = std::max(one.first_end - one.last_start, 0.0);
    shares.push_back(one.shortest > 0 ? std::min(common / one.shortest, 1.0) : 1);
  }
  return shares.empty() ? 1 : statistics(std::move(shares)).median;
}

PerRank after_the_first(PerRank starts) {
  for (std::size_t i = 0; !starts.empty() && i < starts.front().size(); ++i) {
    double first = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& of_rank : starts) first = std::min(first, of_rank.at(i));
    for (std::vector<double>& of_rank : starts) of_rank[i] -= first;
  }
  return starts;
}

}  // namespace fabricmark::runtime
