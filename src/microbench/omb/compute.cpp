#include "microbench/omb/compute.hpp"

#include "microbench/omb/measure.hpp"

namespace fabricmark::microbench::omb {

Computed compute(double seconds, int probes, const std::function<void()>& look) {
  Computed done;
  const double start = now();
  const double piece = seconds / (probes + 1);
  for (int number = 0; number <= probes; ++number) {
    const double begin = now();
    while (now() - begin < piece) {
    }
    if (number == probes) break;
    const double before = now();
    look();
    done.looks += now() - before;
  }
  done.seconds = now() - start;
  return done;
}

}  // namespace fabricmark::microbench::omb
