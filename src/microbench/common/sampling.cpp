#include "microbench/common/sampling.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace fabricmark::microbench {

namespace {

/// Parts of a loop all of whose iterations have a check: what leads in after each would take as long again.
constexpr std::size_t kPartsOfFew = 50;

std::int64_t drawn() {
  std::random_device device;
  return static_cast<std::int64_t>(device() & 0x7fffffffU) << 31U | (device() & 0x7fffffffU);
}

}  // namespace

Sampling::Sampling(runtime::Communicator& ranks)
    : engine_(static_cast<std::uint64_t>(ranks.all_reduce_max(drawn()))) {}

std::size_t Sampling::below(std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(engine_);
}

std::vector<std::size_t> Sampling::some(std::size_t count, std::size_t of) {
  std::vector<std::size_t> all(of);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::size_t> chosen;
  std::ranges::sample(all, std::back_inserter(chosen), static_cast<std::ptrdiff_t>(count), engine_);
  return chosen;
}

void Sampling::go(std::size_t iterations, std::size_t least,
                  const std::function<void(std::size_t, std::size_t)>& count,
                  const std::function<void(std::size_t)>& check) {
  if (iterations == 0) return;
  const std::size_t wanted = std::min(iterations, kSampledIterations);
  if (iterations == wanted) least = std::max(least, 1 + iterations / kPartsOfFew);
  const std::size_t parts = std::clamp<std::size_t>(iterations / least, 1, wanted);
  std::size_t done = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * iterations / parts;
    const std::size_t last = (part + 1) * iterations / parts;
    const std::size_t place = first + below(last - first);
    if (place > done) count(done, place);
    done = place;
    check((part + 1) * wanted / parts - part * wanted / parts);
  }
  count(done, iterations);
}

}  // namespace fabricmark::microbench
