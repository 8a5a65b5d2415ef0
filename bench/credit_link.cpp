// How fast a credit link is stepped on one core: steps a second, both ends counted, of flits without payload
// at full speed in one direction, in both, and with nothing to do. Usage: bench_credit_link [REPETITIONS];
// prints the best rates as JSON.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "best_rate.hpp"
#include "network/credit_link/duplex_cycle_link.hpp"

namespace {

using namespace fabricmark;

double steps_per_second(bool first_sends, bool second_sends, int repetitions) {
  constexpr std::uint64_t kCycles = 2'000'000;
  constexpr std::size_t kLatency = 82;
  bool is_whole = true;
  const double rate = best_rate(repetitions, 2.0 * kCycles, [&] {
    credit_link::DuplexCycleLink link({}, kLatency);
    credit_link::LinkEnd::Input first;
    credit_link::LinkEnd::Input second;
    first.sink_ready = second.sink_ready = true;
    first.source_valid = first_sends;
    second.source_valid = second_sends;
    std::uint64_t taken = 0;
    for (std::uint64_t cycle = 0; cycle < kCycles; ++cycle) {
      const auto step = link.step(first, second);
      if (step.ends[0].sink_valid) ++taken;
      if (step.ends[1].sink_valid) ++taken;
    }
    // 32 of 33 flits are data, but for the start.
    const double expected = kCycles * (32.0 / 33) * ((first_sends ? 1 : 0) + (second_sends ? 1 : 0));
    is_whole &= static_cast<double>(taken) >= 0.99 * expected;
  });
  return is_whole ? rate : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 5;
  std::printf("{\"one direction\": %.6g, \"both directions\": %.6g, \"idle\": %.6g}\n",
              steps_per_second(true, false, repetitions), steps_per_second(true, true, repetitions),
              steps_per_second(false, false, repetitions));
}
