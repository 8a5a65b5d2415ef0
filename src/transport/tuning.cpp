#include "transport/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "transport/protocol_race.hpp"
#include "transport/turns.hpp"

namespace fabricmark::transport {

namespace {

/// What is longer goes as what is as long: the protocols differ by their first cost and their rate.
constexpr std::size_t kLongest = std::size_t{64} << 20;
constexpr std::size_t kFineFrom = std::size_t{16} << 10;  // the protocols of longer messages differ more

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

constexpr std::size_t kMoreRounds = 16;  // times as many, where there is time
/// Messages from 4 bytes to here cost their commands alone. Drivers may send a single byte in a way of its
/// own.
constexpr std::size_t kLongestOfShort = 256;

/// Sizes that are measured together, a round with each in turn, and the race of their protocols.
struct Contest {
  std::vector<std::size_t> places;  // size classes
  std::vector<std::string> protocols;
  ProtocolRace race;
  std::size_t rounds = 0;
  std::size_t turns = 0;
};

std::vector<Contest> contests_of(const Transport& transport, const std::vector<std::size_t>& sizes) {
  std::vector<Contest> contests;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    std::vector<std::string> protocols = transport.protocols(sizes[place]);
    if (place > 1 && sizes[place] <= kLongestOfShort && contests.back().protocols == protocols) {
      contests.back().places.push_back(place);
      continue;
    }
    const ProtocolRace race(protocols.size());
    contests.push_back({.places = {place}, .protocols = std::move(protocols), .race = race});
  }
  return contests;
}

class Tuner {
 public:
  Tuner(Transport& transport, const Tuning& tuning, const std::vector<std::size_t>& sizes)
      : transport_(transport),
        tuning_(tuning),
        sizes_(sizes),
        timer_(transport, tuning.pattern, sizes.back()),
        contests_(contests_of(transport, sizes)) {}

  void measure() {
    for (Contest& contest : contests_) round(contest);  // warms up
    while (pass(false) > 0) continue;
    const auto start = std::chrono::steady_clock::now();
    while (agreed_seconds_since(start, transport_.ranks()) < tuning_.patience_seconds && pass(true) > 0)
      continue;
  }

  /// By size class.
  [[nodiscard]] std::vector<TunedSize> found() const {
    std::vector<TunedSize> found;
    for (const Contest& contest : contests_) {
      const std::string usual =
          found.empty() ? contest.protocols[0] : found.back().protocols[found.back().best];
      const auto at = std::ranges::find(contest.protocols, usual);
      const std::optional<std::size_t> protocol =
          at == contest.protocols.end() ? std::nullopt : std::optional(at - contest.protocols.begin());
      for (const std::size_t place : contest.places) {
        found.push_back({.bytes = sizes_[place],
                         .protocols = contest.protocols,
                         .seconds = contest.race.medians(),
                         .best = contest.race.best(protocol)});
      }
    }
    return found;
  }

 private:
  /// A round of each size that needs one; how many of them still do.
  std::size_t pass(bool has_time) {
    std::size_t undecided = 0;
    for (Contest& contest : contests_) {
      if (!goes_on(contest, has_time)) continue;
      contest.race.add(round(contest));
      undecided += goes_on(contest, has_time) ? 1 : 0;
    }
    if (tuning_.told) tuning_.told(undecided);
    return undecided;
  }

  [[nodiscard]] bool goes_on(const Contest& contest, bool has_time) const {
    if (contest.turns == 0) return true;
    const std::size_t next = contest.race.running().size();
    if (next == 1) return false;
    const auto rounds = static_cast<std::size_t>(tuning_.rounds);
    return contest.turns + next <= rounds * contest.protocols.size() ||
           (has_time && contest.rounds <= kMoreRounds * rounds);
  }

  /// Seconds of the slowest rank, of the protocols that are still running.
  std::vector<double> round(Contest& contest) {
    const std::size_t place = contest.places[contest.rounds % contest.places.size()];
    std::vector<double> slowest =
        in_turns(transport_.ranks(), contest.race.running().size(), contest.rounds, [&](std::size_t i) {
          transport_.take(place, contest.protocols[contest.race.running()[i]]);
          return timer_.turn(sizes_[place]);
        });
    if (contest.rounds++ > 0) contest.turns += slowest.size();
    return slowest;
  }

  Transport& transport_;
  const Tuning& tuning_;
  const std::vector<std::size_t>& sizes_;
  PatternTimer timer_;
  std::vector<Contest> contests_;
};

}  // namespace

std::vector<std::size_t> agreed_sizes(Transport& transport, std::size_t largest_bytes) {
  return tuned_sizes(
      static_cast<std::size_t>(transport.ranks().all_reduce_max(static_cast<std::int64_t>(largest_bytes))));
}

std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning) {
  if (transport.protocols(1).empty()) return {};
  const std::vector<std::size_t> sizes = agreed_sizes(transport, tuning.largest_bytes);
  Tuner tuner(transport, tuning, sizes);
  tuner.measure();
  std::vector<TunedSize> found = tuner.found();
  for (std::size_t i = 0; i < found.size(); ++i) transport.take(i, found[i].protocols[found[i].best]);
  return found;
}

void take_all(Transport& transport, const std::vector<std::string>& protocols) {
  for (std::size_t i = 0; i < protocols.size(); ++i) transport.take(i, protocols[i]);
}

std::string choice_in_words(const Transport& transport, const std::vector<std::string>& protocols) {
  if (protocols.empty()) return {};
  std::string text = fmt::format("protocols over {}: {}", transport.name(), protocols[0]);
  const std::vector<std::size_t> sizes = tuned_sizes(std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 1; i < protocols.size(); ++i) {
    if (protocols[i] != protocols[i - 1])
      text += fmt::format(", from {} bytes on {}", sizes[i], protocols[i]);
  }
  return text;
}

}  // namespace fabricmark::transport
