// The sampler against sources of known power.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <utility>

#include "power/sampler.hpp"
#include "power_support.hpp"

namespace fabricmark::power {

namespace {

using std::chrono::milliseconds;
using test::mentions;
using test::Nothing;

Source scripted(Domain domain, double update_seconds = 0) {
  Source source{"test", update_seconds};
  source.domains.push_back(std::move(domain));
  return source;
}

void spend(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

TEST(Sampler, IntegratesARampExactlyOnAScriptedClock) {
  // The clock goes on by 10 ms while a sample is taken; the power is 100 W for each second since 0.
  std::atomic<int> ticks{0};
  const auto now = [&] { return ticks * 0.01; };
  const Domain ramp{"board", Quantity::kPower, 0, [&] { return (ticks++ + 0.5) * 0.01 * 100; }};
  Sampler sampler({scripted(ramp)}, milliseconds(1), now);
  sampler.start();
  spend(0.02);
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  const Energy& energy = reading.energies[0];
  EXPECT_EQ(energy.domain, "board");
  EXPECT_EQ(energy.source, "test");
  // The mean of a ramp is its value in the middle, so that this is when it began: at a tick of the clock.
  const double start = energy.watts() / 100 - energy.seconds / 2;
  EXPECT_GT(start, 0.005);
  EXPECT_NEAR(std::remainder(start, 0.01), 0, 1e-9);
}

TEST(Sampler, FindsThePeakOfAMeterExactlyAndKeepsItsSamples) {
  // The clock goes on by a second with each sample; one of them, behind the start, is a peak.
  constexpr double kPeak = 123.4375;
  std::atomic<int> taken{0};
  std::atomic<bool> wants_peak{false};
  std::atomic<int> peak{0};
  const Domain meter{"board", Quantity::kPower, 0, [&] {
                       ++taken;
                       if (!wants_peak.exchange(false)) return 50.0;
                       peak = taken.load();
                       return kPeak;
                     }};
  Sampler sampler({scripted(meter)}, milliseconds(1), [&] { return taken.load(); });
  sampler.start();
  wants_peak = true;
  for (int i = 0; i < 1000 && (peak == 0 || taken < peak + 2); ++i) spend(0.005);
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  const Energy& energy = reading.energies[0];
  EXPECT_EQ(energy.peak_watts, kPeak);
  EXPECT_EQ(energy.quantity, Quantity::kPower);
  ASSERT_EQ(energy.samples.size(), static_cast<std::size_t>(taken));
  ASSERT_GE(taken, peak + 2);
  ASSERT_GE(peak, 1);
  EXPECT_EQ(energy.samples[static_cast<std::size_t>(peak - 1)].value, kPeak);
  EXPECT_EQ(energy.samples[static_cast<std::size_t>(peak)].value, 50);
  EXPECT_LT(energy.watts(), kPeak);
}

TEST(Sampler, SeesNoPeakOfAPause) {
  std::atomic<double> seconds{1};
  std::atomic<double> watts{60};
  std::atomic<int> taken{0};
  const Domain meter{"board", Quantity::kPower, 0, [&] {
                       ++taken;
                       return watts.load();
                     }};
  Sampler sampler({scripted(meter)}, milliseconds(1), [&] { return seconds.load(); });
  const auto let_it_sample = [&] {
    const int enough = taken + 2;
    for (int i = 0; i < 1000 && taken < enough; ++i) spend(0.005);
  };
  sampler.start();
  let_it_sample();
  sampler.pause();
  seconds = 2;
  watts = 500;
  let_it_sample();
  watts = 40;
  seconds = 3;
  let_it_sample();
  sampler.resume();
  seconds = 4;
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  EXPECT_EQ(reading.energies[0].peak_watts, 60);
}

TEST(Sampler, CountsNothingOfAPause) {
  // The clock is set by hand; a counter gains 100 J for each of its seconds.
  std::atomic<double> seconds{1};
  const Domain counter{"board", Quantity::kEnergy, 1e9, [&] { return 100 * seconds; }};
  Sampler sampler({scripted(counter)}, milliseconds(1), [&] { return seconds.load(); });
  sampler.start();
  seconds = 3;
  sampler.pause();
  sampler.pause();
  seconds = 10;
  sampler.resume();
  seconds = 14;
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  EXPECT_DOUBLE_EQ(reading.energies[0].seconds, 2 + 4);
  EXPECT_NEAR(reading.energies[0].joules, 600, 1e-6);
}

TEST(Sampler, FindsTheEnergyOfAKnownPowerWithinOnePercent) {
  constexpr double kWatts = 50;
  constexpr double kStepSeconds = 5e-3;
  const Nothing host;
  std::atomic<double> time{0};
  const auto move = [&] {
    const double now = time + kStepSeconds;
    host.zone("intel-rapl:0", "package-0", std::to_string(std::llround(now * kWatts * 1e6)) + "\n");
    time = now;
  };
  move();
  // The sampler's looks at the clock move it and the counter, so that no busy machine comes between the two.
  const std::thread::id here = std::this_thread::get_id();
  const auto look = [&] {
    if (std::this_thread::get_id() != here) move();
    return time.load();
  };
  Sampler sampler(open_sources({}), milliseconds(2), look);
  sampler.start();
  const double start = time;
  while (time < start + 0.7) spend(kStepSeconds);
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  EXPECT_NEAR(reading.energies[0].watts(), kWatts, 0.01 * kWatts);
  EXPECT_DOUBLE_EQ(reading.energies[0].joules, reading.energies[0].watts() * reading.energies[0].seconds);
  EXPECT_GE(reading.energies[0].seconds, 0.7);
  EXPECT_TRUE(reading.notes.empty()) << reading.notes[0];
}

TEST(Sampler, SamplesACounterOftenEnoughForItsWraps) {
  // 40 J at 100 W are 400 ms: with an interval of an hour wraps would be lost.
  constexpr double kWrapSeconds = 0.4;
  constexpr int kTries = 5;  // a machine with other work may stop the sampler for as long
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const double begin = steady_seconds();
    double last = begin;
    double longest = 0;
    const auto read = [&] {
      const double now = steady_seconds();
      longest = std::max(longest, now - std::exchange(last, now));
      return std::fmod((now - begin) * 100, 40.0);
    };
    Sampler sampler({scripted({"package-0", Quantity::kEnergy, 40, read})}, milliseconds(3600000));
    sampler.start();
    spend(1);
    const Reading reading = sampler.stop();
    ASSERT_EQ(reading.energies.size(), 1U);
    if (longest >= kWrapSeconds) continue;
    EXPECT_NEAR(reading.energies[0].watts(), 100, 1);
    return;
  }
  FAIL() << "no try had all its samples less than a wrap apart";
}

TEST(Sampler, StopsAtOnceWhateverTheInterval) {
  Sampler sampler({scripted({"board", Quantity::kPower, 0, [] { return 10.0; }})}, milliseconds(3600000));
  sampler.start();
  const double start = steady_seconds();
  const Reading reading = sampler.stop();
  EXPECT_LT(steady_seconds() - start, 1);
  ASSERT_EQ(reading.energies.size(), 1U);
  EXPECT_DOUBLE_EQ(reading.energies[0].watts(), 10);
}

TEST(Sampler, EndsItsThreadsWhenARunIsGivenUp) {
  Sampler sampler({scripted({"board", Quantity::kPower, 0, [] { return 10.0; }})}, milliseconds(3600000));
  sampler.start();
}

TEST(Sampler, LeavesOutADomainThatVanishesAndSaysSo) {
  const Nothing host;
  host.zone("intel-rapl:0", "package-0", "0\n");
  host.zone("intel-rapl:1", "package-1", "0\n");
  std::atomic<int> looks{0};
  Sampler sampler(open_sources({}), milliseconds(1), [&] {
    ++looks;
    return steady_seconds();
  });
  // A sample of both domains takes two looks at the clock for each; another one may be in progress.
  const auto has_sampled = [&, deadline = steady_seconds() + 60] {
    const int enough = looks + 2 * 4;
    while (looks < enough && steady_seconds() < deadline) spend(1e-3);
    return looks >= enough;
  };
  sampler.start();
  ASSERT_TRUE(has_sampled());
  host.write("powercap/intel-rapl:0/energy_uj", "5000000\n");
  std::filesystem::remove_all(host.folder.path() / "powercap/intel-rapl:1");
  ASSERT_TRUE(has_sampled());
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 1U);
  EXPECT_EQ(reading.energies[0].domain, "package-0");
  EXPECT_NEAR(reading.energies[0].joules, 5, 1e-6);
  ASSERT_FALSE(reading.notes.empty());
  EXPECT_TRUE(mentions(reading.notes[0], "package-1") && mentions(reading.notes[0], "left out"));
}

TEST(Sampler, HasNoDomainRatherThanZero) {
  Sampler sampler({scripted({"board", Quantity::kPower, 0, [] { return 0.0; }})}, milliseconds(1));
  sampler.start();
  spend(0.005);
  const Reading reading = sampler.stop();
  EXPECT_TRUE(reading.energies.empty());
  EXPECT_TRUE(mentions(reading.notes.at(0), "no energy"));
}

TEST(Sampler, SaysWhenASourceIsTooSlowForTheRun) {
  Sampler sampler({scripted({"board", Quantity::kPower, 0, [] { return 7.0; }}, 1)}, milliseconds(1));
  sampler.start();
  spend(0.005);
  EXPECT_TRUE(mentions(sampler.stop().notes.at(0), "every 1 s"));
}

TEST(Sampler, LetsASlowSourceHoldUpNoOther) {
  const double begin = steady_seconds();
  const Domain slow{"slow", Quantity::kPower, 0, [] {
                      spend(0.3);
                      return 5.0;
                    }};
  const Domain quick{"quick", Quantity::kEnergy, 0, [&] { return (steady_seconds() - begin) * 20; }};
  Sampler sampler({scripted(slow), scripted(quick)}, milliseconds(10));
  sampler.start();
  spend(0.1);
  const Reading reading = sampler.stop();
  ASSERT_EQ(reading.energies.size(), 2U);
  EXPECT_EQ(reading.energies[0].seconds, reading.energies[1].seconds);
  EXPECT_NEAR(reading.energies[0].watts(), 5, 1e-9);
  EXPECT_NEAR(reading.energies[1].watts(), 20, 0.2);
}

}  // namespace

}  // namespace fabricmark::power
