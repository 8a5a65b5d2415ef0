#include "runtime/step_windows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "runtime/exchange.hpp"

namespace fabricmark::runtime {

namespace {

std::uint64_t seed(int number) { return mixed_bits(static_cast<std::uint64_t>(number) + 1); }

TEST(DrawnSteps, TakeOneOfEachStretchAndTheLast) {
  for (const StepRange& range : {StepRange{0, 1000, 20}, {7, 100, 33}, {1, 1'000'000'000'000, 192}}) {
    const DrawnSteps drawn = draw_steps(range, seed(1));
    const double stretch = static_cast<double>(range.count) / static_cast<double>(range.recomputed);
    for (std::int64_t i = 0; i < range.recomputed; ++i) {
      const auto step = static_cast<double>(drawn.recomputed.at(static_cast<std::size_t>(i)) - range.first);
      EXPECT_GE(step, std::floor(static_cast<double>(i) * stretch) - 1);
      EXPECT_LE(step, std::ceil(static_cast<double>(i + 1) * stretch));
    }
    EXPECT_TRUE(std::ranges::is_sorted(drawn.recomputed));
    EXPECT_EQ(drawn.recomputed.back(), range.first + range.count - 1);
  }
}

TEST(DrawnSteps, AreAllWhereAllAreWanted) {
  const DrawnSteps drawn = draw_steps({3, 5, 100}, seed(1));
  EXPECT_EQ(drawn.recomputed, (std::vector<std::int64_t>{3, 4, 5, 6, 7}));
  EXPECT_TRUE(draw_steps({0, 1, 1}, seed(1)).pauses.empty());
}

TEST(DrawnSteps, CanBeAnyAndPauseAnywhere) {
  std::set<std::int64_t> steps;
  std::set<std::int64_t> pauses;
  for (int i = 0; i < 2000; ++i) {
    const DrawnSteps drawn = draw_steps({0, 100, 10}, seed(i));
    steps.insert(drawn.recomputed.begin(), drawn.recomputed.end());
    pauses.insert(drawn.pauses.begin(), drawn.pauses.end());
    EXPECT_EQ(drawn.pauses.size(), 1U);
  }
  EXPECT_EQ(steps.size(), 100U);
  EXPECT_EQ(pauses.size(), 99U);
  EXPECT_EQ(*pauses.begin(), 1);
}

TEST(DrawnSteps, OfALongRunAreStoppedAroundAndNothingElse) {
  const DrawnSteps drawn = draw_steps({10, 100'000, 192}, seed(2));
  EXPECT_FALSE(drawn.is_run_again);
  std::vector<std::int64_t> pauses;
  for (const std::int64_t step : drawn.recomputed) {
    for (const std::int64_t at : {step, step + 1}) {
      if (at > 10 && at < 100'010 && (pauses.empty() || pauses.back() != at)) pauses.push_back(at);
    }
  }
  EXPECT_EQ(drawn.pauses, pauses);
}

/// Of so many runs, in how many a fault in some of the steps of each repetition is missed.
int misses(std::int64_t steps, int repetitions, const std::function<bool(std::int64_t)>& is_wrong) {
  constexpr int kRuns = 2000;
  const StepShare share = share_of(steps * repetitions, 22e6, 2);
  int missed = 0;
  for (int run = 0; run < kRuns; ++run) {
    bool is_found = false;
    for (int repetition = 0; repetition < repetitions && !is_found; ++repetition) {
      const StepRange range{0, steps, (share.steps + repetitions - 1) / repetitions};
      const DrawnSteps drawn = draw_steps(range, seed(run * repetitions + repetition));
      is_found = std::ranges::any_of(drawn.recomputed, is_wrong);
    }
    missed += is_found ? 0 : 1;
  }
  return missed;
}

TEST(DrawnSteps, MissHardlyEverWhatIsWrongInATwentiethOfAll) {
  using Run = std::pair<std::int64_t, int>;
  for (const auto& [steps, repetitions] : {Run{100, 10}, Run{500, 3}, Run{2000, 1}, Run{20'000, 1}}) {
    const std::int64_t some = steps / 20;
    for (const std::int64_t start : {std::int64_t{0}, steps / 2 - some / 3, steps / 2, steps - 2 * some}) {
      EXPECT_LE(misses(steps, repetitions, [&](auto i) { return i >= start && i < start + some; }), 3)
          << steps << " steps, a block from " << start;
    }
    EXPECT_LE(misses(steps, repetitions, [](auto i) { return i % 20 == 7; }), 3) << steps << ", each 20th";
    EXPECT_LE(misses(steps, repetitions, [](auto i) { return seed(static_cast<int>(i)) % 20 == 0; }), 3)
        << steps << ", scattered";
  }
}

TEST(StepShare, IsAllWhereThatIsCheapAndElseFewStepsOrAPartOfThem) {
  EXPECT_EQ(share_of(400, 1e5, 2).steps, 400);
  EXPECT_EQ(share_of(10'000, 22e6, 2).steps, 192);
  EXPECT_EQ(share_of(10'000, 22e6, 2).part, 1);
  EXPECT_EQ(share_of(1000, 687e6, 2).steps, 192);
  EXPECT_LT(share_of(1000, 687e6, 2).part, 0.05);
  EXPECT_EQ(share_of(10, 1e12, 2).steps, 10);
}

/// x becomes x / 2 + step, on a device that some steps of some calls are wrong on.
class Halving final : public Stepping {
 public:
  Halving() : Stepping("double") {}

  std::function<bool(std::int64_t step, bool is_again)> is_wrong = [](auto, auto) { return false; };
  std::vector<std::int64_t> recomputed;

  void begin() {
    x_ = 1;
    step_ = 0;
    recomputed.clear();
  }
  void advance(std::int64_t to) override { go(to, false); }
  void read(StepState& state) override { state = {x_}; }
  void restore(const StepState& state, std::int64_t step, std::uint64_t /*bits*/) override {
    x_ = state.at(0);
    step_ = step;
  }
  void run_again(std::int64_t from, std::int64_t to) override {
    EXPECT_EQ(from, step_);
    go(to, true);
  }
  StepError recompute(std::int64_t step, const StepState& before, const StepState& after,
                      const StepPart& /*part*/) override {
    recomputed.push_back(step);
    return difference(next(before.at(0), step), after.at(0));
  }
  StepError compare(const StepState& expected, const StepState& actual) override {
    return difference(expected.at(0), actual.at(0));
  }
  [[nodiscard]] double work_of_step() const override { return 1e8; }

 private:
  static double next(double x, std::int64_t step) { return x / 2 + static_cast<double>(step); }
  static StepError difference(double expected, double actual) {
    return {std::abs(expected - actual), WorstPlace{"x", expected, actual}};
  }
  void go(std::int64_t to, bool is_again) {
    for (; step_ < to; ++step_) {
      if (!is_wrong(step_, is_again)) x_ = next(x_, step_);
    }
  }

  double x_ = 1;
  std::int64_t step_ = 0;
};

/// The names of checks that fail.
std::set<std::string> failed(Halving& application, std::int64_t count) {
  const std::unique_ptr<Communicator> ranks = single_rank();
  StepWindows windows(*ranks, application, 1, 0, count);
  TimedRegions regions(*ranks, std::nullopt);
  windows.run(regions, "steps", -1);
  application.begin();
  windows.run(regions, "steps", 0);
  std::set<std::string> names;
  for (const Verdict& verdict : windows.check()) {
    if (!verdict.passed()) names.insert(verdict.name);
  }
  EXPECT_TRUE(windows.note().starts_with(std::to_string(application.recomputed.size()) + " of "));
  return names;
}

TEST(StepWindows, FindNothingWrongWhereNothingIs) {
  for (const std::int64_t count : {1, 2, 10, 500, 20'000}) {
    Halving right;
    EXPECT_TRUE(failed(right, count).empty()) << count;
  }
}

TEST(StepWindows, FindWrongStepsInShortAndLongRuns) {
  for (const std::int64_t count : {500, 20'000}) {
    Halving wrong;
    wrong.is_wrong = [=](auto step, auto) { return step > 10 && step < count - 10 && step % 2 == 0; };
    EXPECT_TRUE(failed(wrong, count).contains("steps")) << count;
  }
}

TEST(StepWindows, FindWhatIsWrongInTheTimedRunAlone) {
  Halving wrong;
  wrong.is_wrong = [](auto step, auto is_again) { return !is_again && step > 480; };
  EXPECT_EQ(failed(wrong, 500), std::set<std::string>{"steps again"});
}

TEST(StepWindows, FindAnotherEndAfterACheck) {
  for (const std::int64_t count : {500, 20'000}) {
    Halving right;
    const std::unique_ptr<Communicator> ranks = single_rank();
    StepWindows windows(*ranks, right, 1, 0, count);
    TimedRegions regions(*ranks, std::nullopt);
    windows.run(regions, "steps", 0);
    for (const Verdict& verdict : windows.check()) EXPECT_TRUE(verdict.passed());
    windows.replace_end({0.5});
    EXPECT_TRUE(std::ranges::any_of(windows.check(), [](const Verdict& one) { return !one.passed(); }));
  }
}

}  // namespace

}  // namespace fabricmark::runtime
