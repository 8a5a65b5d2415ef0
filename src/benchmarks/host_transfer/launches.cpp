#include "benchmarks/host_transfer/launches.hpp"

namespace fabricmark::host_transfer {

namespace {
constexpr const char* kOneByOne = "launches one by one";
constexpr const char* kRow = "launches in a row";
}  // namespace

Launches::Launches(const runtime::Context& context, const device::Placement& place)
    : kernel_(context.replications(1, kIncrement)),
      word_(context.device(), sizeof(std::uint32_t), device::MemoryKind::kBuffer, place),
      queue_(context.device().queue()) {
  word_.fill(queue_, std::byte{0});
  queue_.finish();
  kernel_.set(0, {{"words", word_}, {"count", std::uint32_t{1}}});
}

void Launches::start() {
  kernel_.start_on(queue_, 0, {}, /*after=*/nullptr, /*done=*/nullptr);
  queue_.flush();
}

std::uint32_t Launches::counted() {
  std::uint32_t found = 0;
  word_.read(queue_, &found, sizeof(found));
  queue_.finish();
  return found;
}

void Launches::run(runtime::TimedRegions& regions, bool lose_one) {
  regions.aside([&] { before_ = counted(); });
  regions.time(
      std::string("launch/") + kOneByOne,
      [&] {
        for (std::size_t i = 0; i < kInARow; ++i) {
          start();
          queue_.finish();
        }
      },
      kInARow);
  regions.time(
      std::string("launch/") + kRow,
      [&] {
        for (std::size_t i = lose_one ? 1 : 0; i < kInARow; ++i) start();
        queue_.finish();
      },
      kInARow);
}

std::size_t Launches::count_wrong() {
  const std::uint32_t expected = before_ + static_cast<std::uint32_t>(count());
  const std::uint32_t found = counted();
  return found < expected ? expected - found : found - expected;
}

std::vector<runtime::Metric> Launches::metrics() {
  std::vector<runtime::Metric> metrics;
  for (const char* order : {kOneByOne, kRow}) {
    metrics.push_back(
        runtime::duration("launch_time", {{"order", order}}, std::string("launch/") + order, "us", 1e6));
  }
  return metrics;
}

}  // namespace fabricmark::host_transfer
