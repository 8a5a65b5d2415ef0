#include "fabric/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>
#include <memory>

namespace fabricmark::fabric {

namespace {

/// What is longer goes as what is as long: the ways differ by their first cost and their rate.
constexpr std::size_t kLongest = std::size_t{64} << 20;
constexpr std::size_t kFineFrom = std::size_t{16} << 10;  // the ways of longer messages differ more
constexpr int kTag = 1 << 13;

}  // namespace

std::vector<std::size_t> tuned_sizes(std::size_t largest_bytes) {
  std::vector<std::size_t> sizes;
  const std::size_t longest = std::clamp<std::size_t>(largest_bytes, 1, kLongest);
  for (std::size_t bytes = 1; bytes <= longest; bytes *= bytes < kFineFrom ? 4 : 2) sizes.push_back(bytes);
  return sizes;
}

std::size_t size_class(std::size_t bytes) {
  if (bytes == 0) return 0;
  constexpr std::size_t kCoarse = std::bit_width(kFineFrom) / 2;  // sizes below
  const auto log = static_cast<std::size_t>(std::bit_width(bytes)) - 1;
  return bytes < kFineFrom ? log / 2 : kCoarse + log - 2 * kCoarse;
}

namespace {

class Tuner {
 public:
  Tuner(Transport& transport, const Tuning& tuning);
  /// The seconds of each way, and their best.
  void measure(TunedSize& size);

 private:
  [[nodiscard]] double one(std::size_t bytes) { return is_one_way_ ? to_and_fro(bytes) / 2 : ring(bytes); }
  double ring(std::size_t bytes);
  double to_and_fro(std::size_t bytes);
  /// The largest of all ranks' by way; the same on all.
  [[nodiscard]] std::vector<double> slowest_of(const std::vector<double>& own) const;

  Transport& transport_;
  runtime::Communicator& ranks_;
  int rounds_;
  bool is_one_way_;
  std::size_t room_;
  std::unique_ptr<Memory> outgoing_, incoming_;
};

Tuner::Tuner(Transport& transport, const Tuning& tuning)
    : transport_(transport),
      ranks_(transport.ranks()),
      rounds_(tuning.rounds),
      is_one_way_(tuning.is_one_way),
      room_(tuned_sizes(tuning.largest_bytes).back()),
      outgoing_(transport.allocate(2 * room_)),
      incoming_(transport.allocate(2 * room_)) {
  const std::vector<std::byte> zeros(2 * room_);  // so that the system has given the pages
  outgoing_->write(0, zeros);
  incoming_->write(0, zeros);
}

double Tuner::to_and_fro(std::size_t bytes) {
  ranks_.barrier();
  const int other = ranks_.rank() ^ 1;
  if (other >= ranks_.size()) return 0;
  const bool is_first = ranks_.rank() < other;
  const Message out{{outgoing_.get(), 0, bytes}, other, kTag};
  const Message in{{incoming_.get(), 0, bytes}, other, kTag};
  const auto start = std::chrono::steady_clock::now();
  if (is_first) transport_.send(out).wait();
  transport_.receive(in).wait();
  if (!is_first) transport_.send(out).wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Tuner::ring(std::size_t bytes) {
  const int right = (ranks_.rank() + 1) % ranks_.size();
  const int left = (ranks_.rank() + ranks_.size() - 1) % ranks_.size();
  const std::array<Message, 2> sends{
      {{{outgoing_.get(), 0, bytes}, right, kTag}, {{outgoing_.get(), room_, bytes}, left, kTag + 1}}};
  const std::array<Message, 2> receives{
      {{{incoming_.get(), 0, bytes}, left, kTag}, {{incoming_.get(), room_, bytes}, right, kTag + 1}}};
  const auto start = std::chrono::steady_clock::now();
  transport_.exchange(sends, receives);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> Tuner::slowest_of(const std::vector<double>& own) const {
  std::vector<double> slowest(own.size(), 0);
  for (const std::vector<double>& of_rank : ranks_.all_gather_numbers(own)) {
    for (std::size_t way = 0; way < own.size(); ++way) slowest[way] = std::max(slowest[way], of_rank.at(way));
  }
  return slowest;
}

void Tuner::measure(TunedSize& size) {
  constexpr int kOfAll = 2;           // rounds that count, before ways that are far behind are left out
  constexpr std::size_t kInARow = 5;  // short messages: one begins while the ranks still wait for each other
  constexpr std::size_t kShort = std::size_t{16} << 10;
  constexpr double kFarBehind = 2;
  constexpr double kClearly = 0.98;  // of the time of the first way
  const std::size_t ways = size.ways.size();
  std::vector<double> best(ways, std::numeric_limits<double>::infinity());
  std::vector<bool> is_tried(ways, true);
  for (int round = 0; round <= rounds_; ++round) {  // the first warms up
    if (round == kOfAll + 1) {
      const std::vector<double> so_far = slowest_of(best);
      const double fastest = *std::ranges::min_element(so_far);
      for (std::size_t way = 0; way < ways; ++way) is_tried[way] = so_far[way] <= kFarBehind * fastest;
    }
    for (std::size_t way = 0; way < ways; ++way) {
      if (!is_tried[way]) continue;
      transport_.take(size_class(size.bytes), size.ways[way]);
      const std::size_t count = size.bytes <= kShort ? kInARow : 1;
      double found = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < count; ++i) found = std::min(found, one(size.bytes));
      if (round > 0) best[way] = std::min(best[way], found);
    }
  }
  size.seconds = slowest_of(best);
  size.best = static_cast<std::size_t>(std::ranges::min_element(size.seconds) - size.seconds.begin());
  if (size.seconds[size.best] > kClearly * size.seconds[0]) size.best = 0;
  transport_.take(size_class(size.bytes), size.ways[size.best]);
}

}  // namespace

std::vector<TunedSize> tune(Transport& transport, const Tuning& tuning) {
  if (transport.ways(1).empty()) return {};
  Tuning agreed = tuning;
  agreed.largest_bytes = static_cast<std::size_t>(
      transport.ranks().all_reduce_max(static_cast<std::int64_t>(tuning.largest_bytes)));
  Tuner tuner(transport, agreed);
  std::vector<TunedSize> found;
  for (const std::size_t bytes : tuned_sizes(agreed.largest_bytes)) {
    found.push_back({.bytes = bytes, .ways = transport.ways(bytes), .seconds = {}});
    tuner.measure(found.back());
    if (tuning.told) tuning.told(found.back());
  }
  return found;
}

std::string choice_in_words(const Transport& transport, const std::vector<std::string>& ways) {
  if (ways.empty()) return {};
  std::string text = fmt::format("over {}, messages go {}", transport.name(), ways[0]);
  const std::vector<std::size_t> sizes = tuned_sizes(std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 1; i < ways.size(); ++i) {
    if (ways[i] != ways[i - 1]) text += fmt::format(", from {} bytes on {}", sizes[i], ways[i]);
  }
  return text;
}

}  // namespace fabricmark::fabric
