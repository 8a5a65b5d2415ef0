#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "network/stack/stack.hpp"

namespace fabricmark::test {

using network::Protocol;
using network::Stack;
using network::StackSettings;

struct SentMessage {
  network::Time at = 0;
  int from = 0;
  int to = 0;
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
};

/// A stack and what it told, in order.
struct StackRun {
  StackRun(network::Topology made, const StackSettings& settings)
      : topology(std::make_unique<network::Topology>(std::move(made))),
        stack(network::make_stack(
            *topology, settings,
            {.arrived = [this](const Stack::Arrival& one) { arrived.push_back(one); },
             .completed = [this](const Stack::Completion& one) { completed.push_back(one); }})) {}
  StackRun(const StackRun&) = delete;
  StackRun& operator=(const StackRun&) = delete;

  void send(const SentMessage& one) { stack->send(one.at, one.from, one.to, one.id, one.bytes); }
  void run() { stack->advance_until(network::kEndOfTime); }
  /// When a message that is sent at 0 has arrived.
  network::Time time_of(int from, int to, std::uint64_t bytes) {
    stack->send(0, from, to, 0, bytes);
    run();
    return arrived.back().time;
  }

  std::unique_ptr<network::Topology> topology;
  std::vector<Stack::Arrival> arrived;
  std::vector<Stack::Completion> completed;
  std::unique_ptr<Stack> stack;
};

/// All that was told, to compare two runs.
using StackLog =
    std::vector<std::tuple<network::Time, int, int, std::uint64_t, std::uint64_t, std::uint64_t, int>>;

inline StackLog log_of(const StackRun& run) {
  StackLog log;
  for (const Stack::Arrival& one : run.arrived) {
    log.emplace_back(one.time, one.from, one.to, one.id, one.offset, one.bytes,
                     (one.is_lost ? 1 : 0) + (one.is_last ? 2 : 0));
  }
  for (const Stack::Completion& one : run.completed) {
    log.emplace_back(one.time, one.from, one.to, one.id, 0, 0, one.has_failed ? 5 : 4);
  }
  return log;
}

/// What is wrong with what was told of messages; empty where each byte of each message was told once, in the
/// order in which its flow sent them. `losses`: whether some may have been told as lost.
inline std::string wrong_in_arrivals(std::vector<SentMessage> sent,
                                     const std::vector<Stack::Arrival>& arrived, bool losses) {
  std::ranges::sort(sent, {}, [](const SentMessage& one) { return std::pair(one.at, one.id); });
  std::map<std::pair<int, int>, std::vector<SentMessage>> expected;
  for (const SentMessage& one : sent) expected[{one.from, one.to}].push_back(one);
  std::map<std::pair<int, int>, std::pair<std::size_t, std::uint64_t>> places;
  network::Time last = 0;
  for (const Stack::Arrival& one : arrived) {
    const auto& flow = expected[{one.from, one.to}];
    auto& [place, offset] = places[{one.from, one.to}];
    const std::string what = fmt::format("message {} from {} to {}", one.id, one.from, one.to);
    if (one.time < std::exchange(last, one.time)) return what + " in the past";
    if (place == flow.size()) return what + " more than was sent";
    if (flow[place].id != one.id) return fmt::format("{} in place of {}", what, flow[place].id);
    if (one.offset != offset) return fmt::format("{}: byte {} in place of {}", what, one.offset, offset);
    if (one.is_lost && !losses) return what + " lost";
    offset += one.bytes;
    if (one.is_last != (offset == flow[place].bytes)) return what + " ends at the wrong place";
    if (!one.is_last) continue;
    ++place;
    offset = 0;
  }
  for (const auto& [devices, flow] : expected) {
    if (places[devices].first < flow.size())
      return fmt::format("message {} has not come", flow[places[devices].first].id);
  }
  return "";
}

/// The same of the ends at the senders: one of each message, and none has failed.
inline std::string wrong_in_completions(const std::vector<SentMessage>& sent,
                                        const std::vector<Stack::Completion>& completed) {
  std::map<std::pair<int, std::uint64_t>, int> ended;
  for (const Stack::Completion& one : completed) {
    ++ended[{one.from, one.id}];
    if (one.has_failed) return fmt::format("message {} of {} has failed", one.id, one.from);
  }
  for (const SentMessage& one : sent) {
    if (ended[{one.from, one.id}] != 1) return fmt::format("message {} of {} has no end", one.id, one.from);
  }
  return completed.size() == sent.size() ? "" : "more ends than messages";
}

}  // namespace fabricmark::test
