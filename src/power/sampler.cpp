#include "power/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace fabricmark::power {

Sampler::Sampler(std::vector<Source> sources, std::chrono::milliseconds interval, Now now)
    : interval_(interval), now_(std::move(now)) {
  for (Source& source : sources) tracks_.push_back({std::move(source)});
}

std::chrono::duration<double> Sampler::period(const Source& source) const {
  // A counter must not wrap twice between two samples. No package and no board takes more than this.
  constexpr double kMostWatts = 1000;
  constexpr double kSamplesPerWrap = 4;
  constexpr double kShortestSeconds = 1e-3;
  double seconds = std::chrono::duration<double>(interval_).count();
  for (const Domain& domain : source.domains) {
    if (domain.wrap_joules > 0) {
      seconds = std::min(seconds, domain.wrap_joules / kMostWatts / kSamplesPerWrap);
    }
  }
  return std::chrono::duration<double>(std::max(seconds, kShortestSeconds));
}

void Sampler::read_all(Track& track) const {
  for (std::size_t i = 0; i < track.source.domains.size(); ++i) {
    const double before = now_();
    const std::optional<double> value = track.source.domains[i].read();
    if (value) track.samples[i].push_back({(before + now_()) / 2, *value});
  }
}

void Sampler::run(Track& track) {
  read_all(track);
  std::unique_lock lock(mutex_);
  --waiting_for_;
  changed_.notify_all();
  auto next = std::chrono::steady_clock::now();
  while (true) {
    // Late samples do not pile up: the next one is due a period after the one before, or now.
    next = std::max(next + std::chrono::duration_cast<std::chrono::nanoseconds>(period(track.source)),
                    std::chrono::steady_clock::now());
    changed_.wait_until(lock, next, [this] { return is_ended_; });
    const bool is_last = is_ended_;
    lock.unlock();
    read_all(track);
    if (is_last) return;
    lock.lock();
  }
}

void Sampler::start() {
  std::unique_lock lock(mutex_);
  for (Track& track : tracks_) {
    track.samples.assign(track.source.domains.size(), {});
    if (track.source.domains.empty()) continue;
    try {
      track.thread = std::thread([this, &track] { run(track); });
      ++waiting_for_;
    } catch (const std::system_error&) {
      track.source.notes.push_back(
          fmt::format("power: no thread could be started for {}", track.source.name));
    }
  }
  changed_.wait(lock, [this] { return waiting_for_ == 0; });
  lock.unlock();
  resume();
}

void Sampler::pause() {
  if (is_counting_) spans_.back().end = now_();
  is_counting_ = false;
}

void Sampler::resume() {
  if (!is_counting_) spans_.push_back({now_(), 0});
  is_counting_ = true;
}

void Sampler::end_threads() {
  {
    const std::scoped_lock lock(mutex_);
    is_ended_ = true;
  }
  changed_.notify_all();
  for (Track& track : tracks_) {
    if (track.thread.joinable()) track.thread.join();
  }
}

Reading Sampler::stop() {
  pause();
  end_threads();
  Reading reading;
  for (const Track& track : tracks_) evaluate(track, reading);
  return reading;
}

void Sampler::evaluate(const Track& track, Reading& reading) const {
  const Source& source = track.source;
  reading.notes.insert(reading.notes.end(), source.notes.begin(), source.notes.end());
  double seconds = 0;
  for (const Span& span : spans_) seconds += span.end - span.start;
  bool is_any = false;
  for (std::size_t i = 0; i < track.samples.size(); ++i) {
    const std::string& name = source.domains[i].name;
    std::optional<double> joules = 0;
    for (const Span& span : spans_) {
      const auto part = energy_between(track.samples[i], source.domains[i], span.start, span.end);
      joules = joules && part ? std::optional(*joules + *part) : std::nullopt;
    }
    if (!joules) {
      reading.notes.push_back(
          fmt::format("power: {} of {} could not be read to the end and is left out", name, source.name));
    } else if (*joules <= 0 || seconds <= 0) {
      reading.notes.push_back(fmt::format(
          "power: {} of {} showed no energy in {:.3g} s and is left out; use --min-time if that is "
          "too short for it",
          name, source.name, seconds));
    } else {
      // A counter grows in steps: over ten of them the mean is right within a tenth.
      constexpr double kSteps = 10;
      constexpr double kShortestWindow = 1e-3;
      const std::optional<double> peak =
          peak_power(track.samples[i], source.domains[i], spans_,
                     std::max(kSteps * source.update_seconds, kShortestWindow));
      Energy energy{.domain = name, .source = source.name, .joules = *joules, .seconds = seconds};
      energy.peak_watts = std::max(energy.watts(), peak.value_or(0));
      energy.quantity = source.domains[i].quantity;
      energy.samples = kept_samples(track.samples[i], source.domains[i], spans_.front().start);
      reading.energies.push_back(std::move(energy));
      is_any = true;
    }
  }
  if (is_any) remark_coarse(source, seconds / static_cast<double>(spans_.size()), reading);
}

void Sampler::remark_coarse(const Source& source, double seconds, Reading& reading) const {
  constexpr double kNoteworthy = 0.1;
  const bool is_power = std::ranges::any_of(
      source.domains, [](const Domain& domain) { return domain.quantity == Quantity::kPower; });
  const double between = std::max(source.update_seconds, is_power ? period(source).count() : 0);
  if (between <= kNoteworthy * seconds) return;
  reading.notes.push_back(
      fmt::format("power: {} gives a new value every {:.3g} s, which is coarse for repetitions of {:.3g} s; "
                  "use a larger size",
                  source.name, between, seconds));
}

}  // namespace fabricmark::power
