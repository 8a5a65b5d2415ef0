#include "fabric/tuning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <limits>

namespace fabricmark::fabric {

namespace {

/// What is longer goes as what is as long: the ways differ by their first cost and their rate.
constexpr std::size_t kLongest = std::size_t{16} << 20;
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

Tuner::Tuner(Transport& transport, runtime::Communicator& ranks, std::size_t largest_bytes)
    : transport_(transport), ranks_(ranks), room_(tuned_sizes(largest_bytes).back()) {
  outgoing_ = transport.allocate(2 * room_);
  incoming_ = transport.allocate(2 * room_);
  const std::vector<std::byte> zeros(2 * room_);  // so that the system has given the pages
  outgoing_->write(0, zeros);
  incoming_->write(0, zeros);
}

double Tuner::one(std::size_t bytes) {
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

std::vector<double> Tuner::seconds(std::size_t bytes, std::size_t ways,
                                   const std::function<void(std::size_t)>& use) {
  constexpr std::size_t kRounds = 6;  // the first warms up
  constexpr std::size_t kInARow = 5;  // short messages: one begins while the ranks still wait for each other
  constexpr std::size_t kShort = std::size_t{16} << 10;
  std::vector<double> best(ways, std::numeric_limits<double>::infinity());
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t way = 0; way < ways; ++way) {
      use(way);
      const std::size_t count = bytes <= kShort ? kInARow : 1;
      double found = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < count; ++i) found = std::min(found, one(bytes));
      if (round > 0) best[way] = std::min(best[way], found);
    }
  }
  std::vector<double> slowest(ways, 0);
  for (const std::vector<double>& of_rank : ranks_.all_gather_numbers(best)) {
    for (std::size_t way = 0; way < ways; ++way) slowest[way] = std::max(slowest[way], of_rank.at(way));
  }
  return slowest;
}

}  // namespace fabricmark::fabric
