#include "runtime/laps.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"

namespace fabricmark::runtime {

Delay parse_delay(const std::string& text) {
  const bool is_share = text.ends_with('%');
  const char* const end = text.data() + text.size() - (is_share ? 1 : 0);
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end || !std::isfinite(number) || number < 0) {
    throw bad_use("--inject-delay '" + text + "' is not a time",
                  "give seconds like 0.001 or a share like 10%");
  }
  constexpr double kMostSeconds = 60;
  constexpr double kMostPercent = 10000;
  if (number > (is_share ? kMostPercent : kMostSeconds)) {
    throw bad_use("--inject-delay '" + text + "' would hardly end", "give at most 60 (seconds) or 10000%");
  }
  return is_share ? Delay{.share = number / 100} : Delay{.seconds = number};
}

void Laps::record(std::string_view name, double seconds) {
  if (!counting_) return;
  const auto found = std::ranges::find(samples_.names, name);
  const auto index = static_cast<std::size_t>(found - samples_.names.begin());
  if (found == samples_.names.end()) {
    samples_.names.emplace_back(name);
    samples_.seconds.emplace_back();
  }
  samples_.seconds[index].push_back(seconds);
}

void Laps::wait(Clock::time_point start) const {
  // A busy wait: a sleep would add the scheduler's own delay.
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> elapsed = now - start;
  const std::chrono::duration<double> extra(delay_->seconds + delay_->share * elapsed.count());
  while (Clock::now() - now < extra) {
  }
}

}  // namespace fabricmark::runtime
