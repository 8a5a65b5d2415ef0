#include "fabric/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "fabric/turns.hpp"
#include "fabric/way_race.hpp"

namespace fabricmark::fabric {

namespace {

/// What is longer goes as what is as long: the ways differ by their first cost and their rate.
constexpr std::size_t kLongest = std::size_t{64} << 20;
constexpr std::size_t kLasting = std::size_t{512} << 10;  // shorter messages can be checked more often
constexpr std::size_t kFineFrom = std::size_t{16} << 10;  // the ways of longer messages differ more

}  // namespace

std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes) {
  std::vector<std::size_t> sizes;
  const std::size_t longest = std::clamp<std::size_t>(largest_bytes, 1, kLongest);
  for (std::size_t bytes = 1; bytes <= longest; bytes *= bytes < kFineFrom ? 4 : 2) sizes.push_back(bytes);
  return sizes;
}

std::size_t size_class(std::size_t bytes) {
  if (bytes == 0) return 0;
  constexpr std::size_t kCoarse = std::bit_width(kFineFrom) / 2;  // sizes below
  const auto log = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
  return bytes < kFineFrom ? log / 2 : kCoarse + log - 2 * kCoarse;
}

namespace {

/// Ways of short messages differ by a few percent, which a few rounds do not show, and many take no time: so
/// many times as many, as long as all that was measured takes less than this.
constexpr std::size_t kMoreRounds = 8;
constexpr double kPatienceSeconds = 4e-3;

void find_fastest(Transport& transport, PatternTimer& timer, std::size_t rounds, TunedSize& size) {
  const std::size_t place = size_class(size.bytes);
  const std::size_t turns = rounds * size.ways.size();
  WayRace race(size.ways.size(), kMoreRounds * turns);
  std::size_t taken = 0;
  double seconds = 0;
  const auto goes_on = [&] {
    return race.goes_on() && (taken + race.running().size() <= turns || seconds < kPatienceSeconds);
  };
  const auto round = [&](std::size_t number) {
    return in_turns(transport.ranks(), race.running().size(), number, [&](std::size_t i) {
      transport.take(place, size.ways[race.running()[i]]);
      return timer.turn(size.bytes);
    });
  };
  round(0);  // warms up
  for (std::size_t number = 1; number == 1 || goes_on(); ++number) {
    const std::vector<double> slowest = round(number);
    taken += slowest.size();
    seconds += std::accumulate(slowest.begin(), slowest.end(), 0.0);
    race.add(slowest);
  }
  size.seconds = race.medians();
  size.best = race.best();
  transport.take(place, size.ways[size.best]);
}

std::size_t agreed_largest(Transport& transport, std::size_t largest_bytes) {
  return static_cast<std::size_t>(transport.ranks().all_reduce_max(static_cast<std::int64_t>(largest_bytes)));
}

}  // namespace

std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning) {
  if (transport.ways(1).empty()) return {};
  const std::vector<std::size_t> sizes = tuned_sizes(agreed_largest(transport, tuning.largest_bytes));
  PatternTimer timer(transport, tuning.pattern, sizes.back(), tuning.in_a_row);
  std::vector<TunedSize> found;
  for (const std::size_t bytes : sizes) {
    found.push_back({.bytes = bytes, .ways = transport.ways(bytes), .seconds = {}});
    const auto rounds = static_cast<std::size_t>(tuning.rounds);
    find_fastest(transport, timer, bytes < kFineFrom ? 2 * rounds : rounds, found.back());
    if (tuning.told) tuning.told(found.back());
  }
  return found;
}

std::vector<CheckedSize> check_ways(Transport& transport, const std::vector<std::string>& chosen,
                                    const Tuning& tuning) {
  if (chosen.empty()) return {};
  const std::vector<std::size_t> sizes = tuned_sizes(agreed_largest(transport, tuning.largest_bytes));
  PatternTimer timer(transport, tuning.pattern, sizes.back(), tuning.in_a_row);
  std::vector<CheckedSize> found;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    CheckedSize size{.bytes = sizes[place],
                     .chosen = chosen[std::min(place, chosen.size() - 1)],
                     .ways = transport.ways(sizes[place]),
                     .seconds = {}};
    const std::size_t ways = size.ways.size();
    size.seconds.resize(ways + 1);
    const std::size_t rounds = static_cast<std::size_t>(tuning.rounds) * (size.bytes < kLasting ? 4 : 1);
    for (std::size_t round = 0; round <= rounds; ++round) {  // the first warms up
      const std::vector<double> taken = in_turns(transport.ranks(), ways + 1, round, [&](std::size_t i) {
        take_all(transport, chosen);  // for each way too: the ranks rest while they do
        if (i < ways) transport.take(place, size.ways[i]);
        return timer.turn(size.bytes);
      });
      for (std::size_t i = 0; round > 0 && i <= ways; ++i) size.seconds[i].push_back(taken[i]);
    }
    found.push_back(std::move(size));
    if (tuning.checked) tuning.checked(found.back());
  }
  take_all(transport, chosen);
  return found;
}

void take_all(Transport& transport, const std::vector<std::string>& ways) {
  for (std::size_t i = 0; i < ways.size(); ++i) transport.take(i, ways[i]);
}

std::string choice_in_words(const Transport& transport, const std::vector<std::string>& ways) {
  if (ways.empty()) return {};
  std::string text = fmt::format("over {}, messages go {}", transport.name(), ways[0]);
  const std::vector<std::size_t> sizes = tuned_sizes(std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 1; i < ways.size(); ++i) {
    if (ways[i] != ways[i - 1]) text += fmt::format(", from {} bytes on {}", sizes[i], ways[i]);
  }
  return text;
}

}  // namespace fabricmark::fabric
