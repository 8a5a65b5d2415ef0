#include "collectives/replay/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "collectives/replay/replay.hpp"

namespace fabricmark::collectives {

std::string text_of(const Shape& shape) {
  const std::string circuits = shape.only_neighbours_talk ? " of circuits" : "";
  switch (shape.wiring) {
    case Wiring::kAnyToAny:
      return "any to any" + circuits;
    case Wiring::kRing:
      return "a ring" + circuits;
    case Wiring::kTorus:
      return fmt::format("a torus of {}x{}{}", shape.rows, shape.columns, circuits);
  }
  return {};
}

namespace {

std::string text_of(const Problem& problem) {
  return fmt::format("{} of {} B on {} ranks, {}", name_of(problem.operation), problem.bytes, problem.ranks,
                     text_of(problem.shape));
}

std::vector<Choice> replayed(const Problem& problem, const Costs& costs) {
  std::vector<Choice> found;
  for (const Algorithm& one : algorithms()) {
    if (one.fits(problem)) {
      const CallTimes times = replayed_times(one, problem, costs);
      found.push_back({.algorithm = &one, .seconds = times.last, .mean = times.mean});
    }
  }
  if (found.empty()) {
    throw bad_use(fmt::format("no algorithm does {}", text_of(problem)),
                  "use a ring, or a network in which any two ranks can talk");
  }
  std::ranges::sort(found, {},
                    [](const Choice& one) { return std::tuple(one.seconds, one.algorithm->name); });
  return found;
}

std::string times_of(const std::vector<Choice>& choices) {
  std::vector<std::string> texts;
  for (const Choice& one : choices)
    texts.push_back(fmt::format("{} {:.3g} us", one.algorithm->name, one.seconds * 1e6));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// What they lack.
std::string without_room(const CostModel& model, const std::vector<Choice>& choices) {
  std::string text;
  for (const Choice& one : choices) {
    const std::size_t needed = one.algorithm->needed_buffers(model);
    if (needed <= model.receive_buffers()) continue;
    text += fmt::format("; {} needs {} receive buffers of {}", one.algorithm->name, needed,
                        model.receive_buffers());
  }
  return text;
}

}  // namespace

std::vector<Choice> fitting(const Problem& problem, const Costs& costs) {
  constexpr std::size_t kMostKnown = 4096;
  static std::mutex mutex;
  static std::map<std::pair<Problem, Costs>, std::vector<Choice>> known;
  check(costs, problem);
  {
    const std::scoped_lock lock(mutex);
    const auto found = known.find({problem, costs});
    if (found != known.end()) return found->second;
  }
  std::vector<Choice> found = replayed(problem, costs);
  const std::scoped_lock lock(mutex);
  if (known.size() >= kMostKnown) known.clear();
  known.emplace(std::pair(problem, costs), found);
  return found;
}

Choice choose(const Problem& problem, const Costs& costs, const std::string& name) {
  const CostModel model(costs, problem);
  std::vector<Choice> found = fitting(problem, costs);
  const auto has_room = [&model](const Choice& one) {
    return one.algorithm->needed_buffers(model) <= model.receive_buffers();
  };
  if (name.empty()) {
    const auto fastest = std::ranges::find_if(found, has_room);
    // Where none has room, messages of the fastest are sent again.
    Choice chosen = fastest == found.end() ? found.front() : *fastest;
    chosen.reason = fmt::format("{}: {}, the fastest by its costs ({}){}", text_of(problem),
                                chosen.algorithm->name, times_of(found), without_room(model, found));
    return chosen;
  }
  for (Choice& one : found) {
    if (one.algorithm->name != name) continue;
    one.reason = fmt::format("{}: {}, as asked for; by their costs: {}{}", text_of(problem), name,
                             times_of(found), without_room(model, found));
    return one;
  }
  std::vector<std::string_view> names;
  for (const Choice& one : found) names.push_back(one.algorithm->name);
  throw bad_use(fmt::format("'{}' is no algorithm for {}", name, text_of(problem)),
                fmt::format("use {}", fmt::join(names, " or ")));
}

}  // namespace fabricmark::collectives
