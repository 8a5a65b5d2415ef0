#include "runtime/step_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/number_from.hpp"
#include "base/random_bits.hpp"

namespace fabricmark::runtime {

namespace {

/// Of each step that the device does again: kernels whose sums go in any order differ a little.
constexpr double kRoundingsAgain = 2;

/// By so many roundings of its numbers a step may be off. The reference's own, of doubles, count only beside
/// theirs.
double roundings_of(double epsilon) {
  constexpr double kOfDouble = 64;
  constexpr double kOfOthers = 16;
  return epsilon > std::numeric_limits<double>::epsilon() ? kOfOthers : kOfDouble;
}

/// A number below `count`.
std::int64_t below(std::int64_t count, std::uint64_t seed, std::uint64_t number) {
  const std::uint64_t bits = mixed_bits(seed + (number + 1) * kRandomStep);
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(count));
}

void keep_worse(Verdict& verdict, const StepError& found, const std::string& when) {
  const double error = std::isnan(found.error) ? std::numeric_limits<double>::infinity() : found.error;
  if (error <= verdict.error && verdict.worst) return;
  if (error == 0) return;
  verdict.error = error;
  verdict.worst = found.worst;
  if (verdict.worst) verdict.worst->place += when;
}

}  // namespace

std::uint32_t drawn_offset(std::uint64_t bits, std::int64_t steps, int phases) {
  constexpr std::int64_t kPart = 16;
  constexpr std::int64_t kFewest = 16;
  constexpr std::uint32_t kMost = (1U << 28U) - 1;  // the phases of the longest run still fit an int
  const auto some = static_cast<std::uint64_t>(steps / kPart + kFewest);
  const auto each = static_cast<std::uint64_t>(phases);
  return static_cast<std::uint32_t>(each * std::min<std::uint64_t>(bits % some, kMost / each));
}

DrawnSteps draw_steps(const StepRange& range, std::uint64_t seed) {
  const std::int64_t count = range.count;
  const std::int64_t wanted = std::clamp<std::int64_t>(range.recomputed, 1, count);
  DrawnSteps drawn;
  for (std::int64_t i = 0; i < wanted; ++i) {
    // Not i * count / wanted, which long runs exceed.
    const std::int64_t start = count / wanted * i + count % wanted * i / wanted;
    const std::int64_t end = count / wanted * (i + 1) + count % wanted * (i + 1) / wanted;
    drawn.recomputed.push_back(range.first + start + below(end - start, seed, static_cast<std::uint64_t>(i)));
  }
  const std::int64_t last = range.first + count;
  if (drawn.recomputed.back() != last - 1) drawn.recomputed.push_back(last - 1);
  constexpr std::int64_t kRare =
      64;  // a timed run of so many steps to each that is recomputed does not suffer
  drawn.is_run_again = count <= kRare * wanted;
  if (drawn.is_run_again) {
    if (count > 1) drawn.pauses = {range.first + 1 + below(count - 1, mixed_bits(seed), 0)};
    return drawn;
  }
  for (const std::int64_t step : drawn.recomputed) {
    for (const std::int64_t at : {step, step + 1}) {
      const bool is_known =
          at == range.first || at == last || (!drawn.pauses.empty() && drawn.pauses.back() == at);
      if (!is_known) drawn.pauses.push_back(at);
    }
  }
  return drawn;
}

StepShare share_of(std::int64_t steps, double work, int threads) {
  constexpr double kOfThread = 2.25e9;   // FLOP; a second or two
  constexpr double kOfStep = 1e6;        // what stopping the device for a state takes, in such
  constexpr std::int64_t kEnough = 192;  // 0.95^192 = 1 / 19000
  const double budget = kOfThread * std::max(2, threads);
  if (static_cast<double>(steps) * (work + kOfStep) <= budget) return {steps, 1};
  const std::int64_t some = std::min(steps, kEnough);
  return {some, std::min(1.0, budget / (static_cast<double>(some) * work))};
}

std::uint64_t drawn_seed(Communicator& ranks) {
  constexpr unsigned kBits = 48;  // which also a reduction of numbers keeps, and a person can type
  std::int64_t seed = 0;
  if (const char* text = std::getenv("FABRICMARK_SEED")) {  // NOLINT(concurrency-mt-unsafe)
    seed = number_from<std::int64_t>(text).value_or(-1);
    if (seed < 0 || seed >> kBits != 0) {
      throw bad_use(fmt::format("FABRICMARK_SEED is '{}'", text),
                    "give a whole number below 2^48, or unset it");
    }
  } else if (ranks.is_root()) {
    std::random_device device;
    seed = static_cast<std::int64_t>((std::uint64_t{device()} << 32U | device()) >> (64 - kBits));
  }
  return static_cast<std::uint64_t>(ranks.all_reduce_max(ranks.is_root() ? seed : 0));
}

StepWindows::StepWindows(Communicator& ranks, Stepping& application, int repetitions, std::int64_t first,
                         std::int64_t count)
    : ranks_(ranks),
      application_(application),
      first_(first),
      count_(count),
      repetitions_(std::max(1, repetitions)),
      seed_(drawn_seed(ranks)),
      share_(share_of(count * repetitions_, application.work_of_step(),
                      static_cast<int>(ranks_.all_reduce_sum(host_threads(ranks_))))),
      draw_(mixed_bits(seed_)) {}

StepRange StepWindows::range_of_repetition() const {
  // Rounded up: all, where all are wanted.
  return {first_, count_, (share_.steps + repetitions_ - 1) / repetitions_};
}

void StepWindows::run(TimedRegions& regions, const std::string& name, int repetition) {
  kept_.clear();
  verdicts_.clear();
  is_checked_ = repetition < 0;
  const std::uint64_t seed = mixed_bits(seed_ + static_cast<std::uint64_t>(repetition + 1) * kRandomStep);
  drawn_ = draw_steps(range_of_repetition(), seed);
  steps_ = {.name = "steps",
            .threshold = roundings_of(application_.epsilon()) * application_.epsilon(),
            .measure = "largest error of a step relative to the largest value"};
  again_ = {.name = "steps again",
            .threshold = kRoundingsAgain * application_.epsilon() * static_cast<double>(count_),
            .measure = "largest difference of the same steps run again relative to the largest value"};
  const std::int64_t last = first_ + count_;
  if (is_checked_) {  // a warm-up, which may be shorter
    constexpr std::int64_t kWarmUp = 20;
    regions.time(name, [&] { application_.advance(std::min(last, first_ + kWarmUp)); });
    return;
  }
  regions.aside([&] {
    keep(first_);
    // About as many bytes of states as are kept at once.
    constexpr std::size_t kMost = std::size_t{1} << 28U;
    const auto bytes = static_cast<std::size_t>(
        ranks_.all_reduce_max(static_cast<std::int64_t>(kept_.back().state.size() * sizeof(double))));
    constexpr std::size_t kFewest = 4;
    most_kept_ = std::max(kFewest, kMost / std::max<std::size_t>(1, bytes));
  });
  regions.time(name, [&] {
    for (const std::int64_t pause : drawn_.pauses) {
      application_.advance(pause);
      regions.pause([&] {
        keep(pause);
        if (!drawn_.is_run_again && kept_.size() > most_kept_) recompute_kept();
      });
    }
    application_.advance(last);
  });
  regions.aside([&] { keep(last); });
  counted_ += count_;
  recomputed_ += static_cast<std::int64_t>(drawn_.recomputed.size());
}

void StepWindows::keep(std::int64_t step) {
  kept_.push_back({step, {}});
  application_.read(kept_.back().state);
}

void StepWindows::replace_end(StepState state) {
  if (!kept_.empty()) kept_.back().state = std::move(state);
  is_checked_ = false;
}

void StepWindows::recompute(std::int64_t step, const StepState& before, const StepState& after) {
  constexpr double kBits = 0x1p-64;
  const StepPart part{static_cast<double>(bits()) * kBits, share_.part};
  steps_.checked += static_cast<std::size_t>(static_cast<double>(after.size()) * part.share);
  keep_worse(steps_, application_.recompute(step, before, after, part),
             fmt::format(" after step {}", step + 1));
}

void StepWindows::recompute_kept() {
  for (std::size_t i = 0; i + 1 < kept_.size(); ++i) {
    if (kept_[i + 1].step != kept_[i].step + 1) continue;
    if (!std::ranges::binary_search(drawn_.recomputed, kept_[i].step)) continue;
    recompute(kept_[i].step, kept_[i].state, kept_[i + 1].state);
  }
  // The last step stays, as its end may be replaced yet.
  if (kept_.size() > 2) kept_.erase(kept_.begin(), kept_.end() - 2);
}

void StepWindows::check_again(const Kept& from, const Kept& to) {
  application_.restore(from.state, from.step, bits());
  const auto begin = std::ranges::lower_bound(drawn_.recomputed, from.step);
  const auto end = std::ranges::lower_bound(drawn_.recomputed, to.step);
  std::int64_t at = from.step;
  StepState before;
  StepState after = from.state;  // at `known`
  std::int64_t known = from.step;
  for (auto step = begin; step != end; ++step) {
    if (at < *step) application_.run_again(at, *step);
    if (known != *step) application_.read(after);
    std::swap(before, after);
    application_.run_again(*step, *step + 1);
    at = known = *step + 1;
    application_.read(after);
    recompute(*step, before, after);
  }
  if (at < to.step) application_.run_again(at, to.step);
  if (known != to.step) application_.read(after);
  again_.checked += after.size();
  keep_worse(again_, application_.compare(after, to.state), fmt::format(" after step {}", to.step));
}

const std::vector<Verdict>& StepWindows::check() {
  const bool is_new = !std::exchange(is_checked_, true);
  if (ranks_.all_reduce_max(is_new ? 1 : 0) == 0) return verdicts_;
  if (drawn_.is_run_again) {
    for (std::size_t i = 0; i + 1 < kept_.size(); ++i) check_again(kept_[i], kept_[i + 1]);
  } else {
    recompute_kept();
  }
  verdicts_ = {steps_};
  if (drawn_.is_run_again) verdicts_.push_back(again_);
  return verdicts_;
}

std::string StepWindows::note() const {
  const std::string part =
      share_.part < 1 ? fmt::format(", each in {:.2g} % of the elements", 100 * share_.part) : "";
  return fmt::format("{} of {} steps recomputed by the host{} (drawn by FABRICMARK_SEED={})", recomputed_,
                     counted_, part, seed_);
}

}  // namespace fabricmark::runtime
