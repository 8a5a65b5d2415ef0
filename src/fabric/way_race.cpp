#include "fabric/way_race.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace fabricmark::fabric {

namespace {

constexpr double kClearly = 1.02;
/// After so many rounds a way is behind whose median and least time are longer by this factor.
constexpr std::array<std::pair<std::size_t, double>, 2> kSeen{{{2, 2.0}, {5, 1.1}}};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

bool is_no_chance(std::size_t successes, std::size_t attempts) {
  constexpr double kOnceInTwenty = 0.05;
  const auto of = static_cast<double>(attempts);
  double chance = 0;
  for (std::size_t k = successes; k <= attempts; ++k) {
    const auto got = static_cast<double>(k);
    const double choices = std::lgamma(of + 1) - std::lgamma(got + 1) - std::lgamma(of - got + 1);
    chance += std::exp(choices - of * std::numbers::ln2);
  }
  return chance < kOnceInTwenty;
}

WayRace::WayRace(std::size_t ways, std::size_t turns)
    : turns_(std::max(turns, ways)), running_(ways), seconds_(ways) {
  std::iota(running_.begin(), running_.end(), std::size_t{0});
}

void WayRace::add(const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < running_.size(); ++i) seconds_[running_[i]].push_back(seconds.at(i));
  turns_ -= std::min(turns_, running_.size());
  const std::size_t first = leader();
  std::erase_if(running_, [&](std::size_t way) { return way != first && is_behind(way, first); });
}

bool WayRace::is_behind(std::size_t way, std::size_t leader) const {
  const std::vector<double>& own = seconds_[way];
  const std::vector<double>& best = seconds_[leader];
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.size(); ++i) ratios.push_back(own[i] / best[i]);
  const double median = median_of(ratios);
  const double of_least = *std::ranges::min_element(own) / *std::ranges::min_element(best);
  for (const auto& [rounds, margin] : kSeen) {
    if (own.size() >= rounds && median > margin && of_least > margin) return true;
  }
  const auto slower = std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; });
  return median > kClearly && is_no_chance(static_cast<std::size_t>(slower), own.size());
}

std::size_t WayRace::leader() const {
  return *std::ranges::min_element(running_, {}, [&](std::size_t way) { return median_of(seconds_[way]); });
}

std::size_t WayRace::best() const { return running_.front() == 0 ? 0 : leader(); }

std::vector<double> WayRace::medians() const {
  std::vector<double> found;
  for (const std::vector<double>& seconds : seconds_) found.push_back(median_of(seconds));
  return found;
}

}  // namespace fabricmark::fabric
