#include "transport/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>
#include <vector>

#include "base/error.hpp"

namespace fabricmark::transport {

namespace {

constexpr int kPatternTag = 1 << 13;
constexpr std::size_t kInARow = 10;  // exchanges of a turn: more only take longer
constexpr std::size_t kOfShort = 3;  // of which the fastest counts
/// In which messages in a row have places of their own, as those of b_eff.
constexpr std::size_t kRowBytes = std::size_t{2} << 20;
/// Up to here the first exchange of a turn still shows how the ranks wait for each other.
constexpr std::size_t kShort = std::size_t{16} << 10;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

std::string name(Pattern pattern) {
  constexpr std::array kNames{"exchange", "in-a-row", "one-way"};
  return kNames.at(static_cast<std::size_t>(pattern));
}

Pattern pattern_named(const std::string& wanted) {
  std::vector<std::string> names;
  for (const Pattern pattern : kPatterns) {
    if (name(pattern) == wanted) return pattern;
    names.push_back(name(pattern));
  }
  throw bad_use(fmt::format("there is no pattern '{}' of messages", wanted),
                fmt::format("use {}", fmt::join(names, " or ")));
}

PatternTimer::PatternTimer(Transport& transport, Pattern pattern, std::size_t largest_bytes)
    : transport_(transport),
      pattern_(pattern),
      room_(pattern == Pattern::kInARow
                ? std::max(largest_bytes, std::min(kInARow * largest_bytes, kRowBytes))
                : largest_bytes),
      outgoing_(transport.allocate(2 * room_)),
      incoming_(transport.allocate(2 * room_)) {
  const std::vector<std::byte> zeros(2 * room_);  // so that the system has given the pages
  outgoing_->write(0, zeros);
  incoming_->write(0, zeros);
}

std::size_t PatternTimer::count(std::size_t bytes) const {
  if (pattern_ == Pattern::kInARow) return std::clamp<std::size_t>(kRowBytes / bytes, 1, kInARow);
  return bytes <= kShort ? kOfShort : 1;
}

double PatternTimer::turn(std::size_t bytes) {
  transport_.ranks().barrier();
  const std::size_t times = count(bytes);
  if (pattern_ == Pattern::kInARow) {
    const auto start = Clock::now();
    for (std::size_t place = 0; place < times; ++place) exchange(bytes, place);
    return seconds_since(start) / static_cast<double>(times);
  }
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times; ++i) {
    if (pattern_ == Pattern::kOneWay && i > 0) transport_.ranks().barrier();
    const auto start = Clock::now();
    pattern_ == Pattern::kOneWay ? to_and_fro(bytes) : exchange(bytes, 0);
    best = std::min(best, seconds_since(start));
  }
  return pattern_ == Pattern::kOneWay ? best / 2 : best;
}

void PatternTimer::exchange(std::size_t bytes, std::size_t place) {
  const runtime::Communicator& ranks = transport_.ranks();
  const int right = (ranks.rank() + 1) % ranks.size();
  const int left = (ranks.rank() + ranks.size() - 1) % ranks.size();
  const std::size_t first = place * bytes;
  const std::size_t second = room_ + place * bytes;
  const std::array<Message, 2> sends{{{{outgoing_.get(), first, bytes}, right, kPatternTag},
                                      {{outgoing_.get(), second, bytes}, left, kPatternTag + 1}}};
  const std::array<Message, 2> receives{{{{incoming_.get(), first, bytes}, left, kPatternTag},
                                         {{incoming_.get(), second, bytes}, right, kPatternTag + 1}}};
  transport_.exchange(sends, receives);
}

void PatternTimer::to_and_fro(std::size_t bytes) {
  const int other = transport_.ranks().rank() ^ 1;
  if (other >= transport_.ranks().size()) return;
  const bool is_first = transport_.ranks().rank() < other;
  const Message out{{outgoing_.get(), 0, bytes}, other, kPatternTag};
  const Message in{{incoming_.get(), 0, bytes}, other, kPatternTag};
  if (is_first) transport_.send(out).wait();
  transport_.receive(in).wait();
  if (!is_first) transport_.send(out).wait();
}

}  // namespace fabricmark::transport
