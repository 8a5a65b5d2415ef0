#include "runtime/timed_regions.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/number_from.hpp"

namespace fabricmark::runtime {

Delay parse_delay(const std::string& text) {
  const bool is_share = text.ends_with('%');
  const double number =
      number_from<double>(std::string_view(text).substr(0, text.size() - (is_share ? 1 : 0))).value_or(-1);
  if (!std::isfinite(number) || number < 0) {
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

bool Samples::are_modelled() const {
  return std::ranges::any_of(modelled_seconds, [](const std::vector<double>& of_part) {
    return std::ranges::any_of(of_part, [](double each) { return each > 0; });
  });
}

std::size_t TimedRegions::place_of(std::string_view name) {
  const auto found = std::ranges::find(samples_.names, name);
  const auto place = static_cast<std::size_t>(found - samples_.names.begin());
  if (found == samples_.names.end()) {
    samples_.names.emplace_back(name);
    samples_.seconds.emplace_back();
    samples_.modelled_seconds.emplace_back();
    samples_.inner_seconds.emplace_back();
    samples_.starts.emplace_back();
    samples_.times.emplace_back();
  }
  return place;
}

Elapsed TimedRegions::record(std::string_view name, const Elapsed& all, std::size_t times) {
  const auto count = static_cast<double>(times);
  Elapsed one{all.wall_seconds / count};
  if (all.modelled_seconds) one.modelled_seconds = *all.modelled_seconds / count;
  if (!counting_) return one;
  total_seconds_ += all.wall_seconds;
  const std::size_t place = place_of(name);
  samples_.seconds[place].push_back(one.wall_seconds);
  samples_.modelled_seconds[place].push_back(one.modelled_seconds.value_or(0));
  samples_.starts[place].push_back(start_);
  samples_.times[place].push_back(count);
  return one;
}

void TimedRegions::keep(std::string_view name, double seconds) {
  if (!counting_) return;
  const std::size_t place = place_of(name);
  samples_.seconds[place].push_back(seconds);
  samples_.modelled_seconds[place].push_back(0);
}

void TimedRegions::record_inner(std::string_view name, std::vector<double> ends, double end) {
  if (!counting_) return;
  if (!ends.empty()) ends.back() = end;
  double before = start_;
  for (double& seconds : ends) seconds -= std::exchange(before, seconds);
  samples_.inner_seconds[place_of(name)].push_back(std::move(ends));
}

void TimedRegions::end_in_timeline(std::string_view name) {
  clock_->set_witness(nullptr);
  timeline_->end_part(std::string(name), ranks_.all_reduce_max_number(clock_->seconds()));
}

void TimedRegions::wait() const {
  // A busy wait: a sleep would add the scheduler's own delay.
  const double now = wall_.seconds();
  const double extra = delay_->seconds + delay_->share * (now - start_ - paused_.wall_seconds);
  while (wall_.seconds() - now < extra) {
  }
}

}  // namespace fabricmark::runtime
