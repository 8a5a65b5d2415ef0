#include "transport/protocol_check.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "transport/tuning.hpp"
#include "transport/turns.hpp"

namespace fabricmark::transport {

namespace {

constexpr std::size_t kMoreChecks = 16;
constexpr std::size_t kRoundsOfPass = 4;
constexpr double kFarFromChosen = 1.5;
constexpr std::size_t kSeenFar =
    5;  // rounds after which a protocol that takes so many times as long is left out

/// One size, while it is measured. The last of its protocols is what was chosen.
struct Check {
  CheckedSize size;
  std::vector<std::size_t> running;
  std::size_t rounds = 0;
  double seconds = 0;
};

bool is_far_behind(std::vector<double> own, const std::vector<double>& chosen) {
  if (own.size() < kSeenFar) return false;
  const double of_least = std::ranges::min(own) / std::ranges::min(chosen);
  const auto middle = static_cast<std::ptrdiff_t>(own.size() / 2);
  for (std::size_t i = 0; i < own.size(); ++i) own[i] /= chosen[i];
  std::ranges::nth_element(own, own.begin() + middle);
  return of_least > kFarFromChosen && own[static_cast<std::size_t>(middle)] > kFarFromChosen;
}

class Checker {
 public:
  Checker(Transport& transport, const std::vector<std::string>& chosen, const Checking& checking)
      : transport_(transport),
        chosen_(chosen),
        checking_(checking),
        sizes_(agreed_sizes(transport, checking.largest_bytes)),
        timer_(transport, checking.pattern, sizes_.back()) {
    for (const std::size_t bytes : sizes_) {
      Check check{.size = {.bytes = bytes,
                           .chosen = chosen[std::min(checks_.size(), chosen.size() - 1)],
                           .protocols = transport.protocols(bytes),
                           .seconds = {}},
                  .running = {}};
      check.size.seconds.resize(check.size.protocols.size() + 1);
      check.running.resize(check.size.seconds.size());
      std::iota(check.running.begin(), check.running.end(), std::size_t{0});
      checks_.push_back(std::move(check));
    }
  }

  std::vector<CheckedSize> measured() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t place = 0; place < checks_.size(); ++place) any = pass(place) || any;
    }
    std::vector<CheckedSize> sizes;
    for (Check& check : checks_) sizes.push_back(std::move(check.size));
    return sizes;
  }

 private:
  /// Whether there was still something to measure.
  bool pass(std::size_t place) {
    Check& check = checks_[place];
    if (!goes_on(check)) return false;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kRoundsOfPass; ++i) round(place);
    check.seconds += agreed_seconds_since(start, transport_.ranks());
    std::erase_if(check.running, [&](std::size_t protocol) {
      return protocol < check.size.protocols.size() &&
             is_far_behind(check.size.seconds[protocol], check.size.seconds.back());
    });
    return true;
  }

  [[nodiscard]] bool goes_on(const Check& check) const {
    const auto least = static_cast<std::size_t>(checking_.rounds);
    return check.rounds <= least ||
           (check.seconds < checking_.seconds && check.rounds <= kMoreChecks * least);
  }

  void round(std::size_t place) {
    Check& check = checks_[place];
    const std::vector<double> taken =
        in_turns(transport_.ranks(), check.running.size(), check.rounds, [&](std::size_t i) {
          take_all(transport_, chosen_);  // for each protocol too: the ranks rest while they do
          const std::size_t protocol = check.running[i];
          if (protocol < check.size.protocols.size()) transport_.take(place, check.size.protocols[protocol]);
          return timer_.turn(check.size.bytes);
        });
    if (check.rounds++ == 0) return;  // it warms up
    for (std::size_t i = 0; i < taken.size(); ++i) check.size.seconds[check.running[i]].push_back(taken[i]);
  }

  Transport& transport_;
  const std::vector<std::string>& chosen_;
  const Checking& checking_;
  std::vector<std::size_t> sizes_;
  PatternTimer timer_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<CheckedSize> check_protocols(Transport& transport, const std::vector<std::string>& chosen,
                                         const Checking& checking) {
  if (chosen.empty()) return {};
  std::vector<CheckedSize> found = Checker(transport, chosen, checking).measured();
  take_all(transport, chosen);
  return found;
}

}  // namespace fabricmark::transport
