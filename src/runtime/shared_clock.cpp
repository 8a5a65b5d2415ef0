#include "runtime/shared_clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "base/host.hpp"

namespace fabricmark::runtime {

namespace {

constexpr int kBarriers = 32;

std::string target_of(const char* link) {
  std::array<char, 64> text{};
  const ssize_t length = readlink(link, text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

/// When the ranks of a machine came to a barrier and left it.
struct Passage {
  double last_in = -std::numeric_limits<double>::infinity();
  double first_out = std::numeric_limits<double>::infinity();
};

}  // namespace

ClockSource monotonic_clock() {
  // Of one boot of a kernel: names of hosts may be the same, or differ between containers. A time namespace
  // moves the clock of those inside.
  std::string machine = first_line("/proc/sys/kernel/random/boot_id");
  if (machine.empty()) machine = describe_host().name;
  machine += ' ' + target_of("/proc/self/ns/time");
  return {std::move(machine), [] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::int64_t{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
          }};
}

SharedClock::SharedClock(Communicator& ranks, ClockSource source)
    : ranks_(ranks), source_(std::move(source)) {
  const std::vector<std::string> names = ranks.all_gather_texts(source_.machine);
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(distinct, name);
    machine_of_.push_back(static_cast<std::size_t>(found - distinct.begin()));
    if (found == distinct.end()) distinct.push_back(name);
  }
  machines_ = distinct.size();
  const auto first = std::ranges::find(names, source_.machine) - names.begin();
  // Counted from a reading that all ranks of the machine know, so that small numbers keep every nanosecond.
  const std::int64_t now = source_.nanoseconds();
  const std::vector<std::vector<std::byte>> all = ranks.all_gather(std::as_bytes(std::span(&now, 1)));
  std::memcpy(&origin_, all[static_cast<std::size_t>(first)].data(), sizeof(origin_));
}

double SharedClock::own_seconds(std::int64_t nanoseconds) const {
  return 1e-9 * static_cast<double>(nanoseconds - origin_);
}

void SharedClock::compare() {
  if (machines_ == 1) return;
  std::vector<double> times;  // came, left, came, left, ...
  for (int i = 0; i < kBarriers; ++i) {
    times.push_back(own_seconds(source_.nanoseconds()));
    ranks_.barrier();
    times.push_back(own_seconds(source_.nanoseconds()));
  }
  const std::vector<std::vector<double>> all = ranks_.all_gather_numbers(times);
  std::vector<double> least(machines_, -std::numeric_limits<double>::infinity());
  std::vector<double> most(machines_, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < times.size(); i += 2) {
    std::vector<Passage> passages(machines_);
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      Passage& one = passages[machine_of_[rank]];
      one.last_in = std::max(one.last_in, all[rank].at(i));
      one.first_out = std::min(one.first_out, all[rank].at(i + 1));
    }
    for (std::size_t machine = 1; machine < machines_; ++machine) {
      least[machine] = std::max(least[machine], passages[machine].last_in - passages[0].first_out);
      most[machine] = std::min(most[machine], passages[machine].first_out - passages[0].last_in);
    }
  }
  const std::size_t own = machine_of_[static_cast<std::size_t>(ranks_.rank())];
  comparisons_.push_back({times.back(), own == 0 ? 0 : (least[own] + most[own]) / 2});
  for (std::size_t machine = 1; machine < machines_; ++machine) {
    spread_ = std::max(spread_, std::abs(most[machine] - least[machine]) / 2);
  }
}

std::vector<std::string> SharedClock::notes() const {
  if (machines_ == 1) return {};
  return {fmt::format(
      "the clocks of {} machines were compared by barriers: starts and ends are known to {:.2g} us",
      machines_, spread_ * 1e6)};
}

double SharedClock::seconds_at(std::int64_t nanoseconds) const {
  const double own = own_seconds(nanoseconds);
  if (comparisons_.empty()) return own;
  const Comparison& first = comparisons_.front();
  const Comparison& last = comparisons_.back();
  const double length = last.at - first.at;
  const double share = length > 0 ? std::clamp((own - first.at) / length, 0.0, 1.0) : 0;
  return own - (first.ahead + share * (last.ahead - first.ahead));
}

}  // namespace fabricmark::runtime
