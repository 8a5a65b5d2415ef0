#include "transport/protocol_race.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace fabricmark::transport {

namespace {

constexpr double kClearly = 1.02;
constexpr double kHardlyLonger = 1.005;
/// A protocol is behind that takes so many times as long in each of its rounds: of two of long messages, of
/// some more of short ones, which are over before the machine lets go of whatever it was at.
constexpr double kFarBehind = 1.5;
constexpr double kLongSeconds = 1e-3;  // of the leader, in all rounds
constexpr std::size_t kRoundsOfLong = 2;
constexpr std::size_t kRoundsOfShort = 6;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Of the middle half: hardly less sure than the mean where all is well, and no stall moves it far.
double middle_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  const auto count = static_cast<double>(values.size()) - 2 * static_cast<double>(quarter);
  return std::accumulate(values.begin() + quarter, values.end() - quarter, 0.0) / count;
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

ProtocolRace::ProtocolRace(std::size_t protocols) : running_(protocols), seconds_(protocols) {
  std::iota(running_.begin(), running_.end(), std::size_t{0});
}

void ProtocolRace::add(const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < running_.size(); ++i) seconds_[running_[i]].push_back(seconds.at(i));
  const std::size_t first = leader();
  std::erase_if(running_,
                [&](std::size_t protocol) { return protocol != first && is_behind(protocol, first); });
}

std::vector<double> ProtocolRace::relative(std::size_t protocol, std::size_t other) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < seconds_[protocol].size(); ++i) {
    ratios.push_back(seconds_[protocol][i] / seconds_[other][i]);
  }
  return ratios;
}

bool ProtocolRace::is_behind(std::size_t protocol, std::size_t leader) const {
  const std::vector<double> ratios = relative(protocol, leader);
  const std::vector<double>& best = seconds_[leader];
  const bool is_long = std::accumulate(best.begin(), best.end(), 0.0) >= kLongSeconds;
  const std::size_t enough = is_long ? kRoundsOfLong : kRoundsOfShort;
  if (ratios.size() >= enough && std::ranges::min(ratios) > kFarBehind) return true;
  const auto slower = std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; });
  return median_of(ratios) > kClearly && is_no_chance(static_cast<std::size_t>(slower), ratios.size());
}

std::vector<double> ProtocolRace::round_means() const {
  std::vector<double> means(seconds_[running_.front()].size(), 1);
  const double share = 1.0 / static_cast<double>(running_.size());
  for (const std::size_t protocol : running_) {
    for (std::size_t i = 0; i < means.size(); ++i) means[i] *= std::pow(seconds_[protocol][i], share);
  }
  return means;
}

std::size_t ProtocolRace::leader() const {
  const std::vector<double> means = round_means();
  return *std::ranges::min_element(running_, {}, [&](std::size_t protocol) {
    std::vector<double> ratios = seconds_[protocol];
    for (std::size_t i = 0; i < means.size(); ++i) ratios[i] /= means[i];
    return middle_mean(std::move(ratios));
  });
}

std::size_t ProtocolRace::best(std::optional<std::size_t> usual) const {
  const std::size_t first = leader();
  if (!usual || std::ranges::find(running_, *usual) == running_.end()) return first;
  return middle_mean(relative(*usual, first)) < kHardlyLonger ? *usual : first;
}

std::vector<double> ProtocolRace::medians() const {
  std::vector<double> found;
  for (const std::vector<double>& seconds : seconds_) found.push_back(median_of(seconds));
  return found;
}

}  // namespace fabricmark::transport
