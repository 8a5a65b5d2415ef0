#include "describe/rank_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "collectives/algorithm.hpp"
#include "collectives/program_record.hpp"
#include "describe/simulation.hpp"

namespace fabricmark::describe {

namespace {

using simulate::Op;
using simulate::Program;

constexpr double kLongest = 1e7;  // of work [s]
constexpr double kMostTurns = 1e12;
constexpr std::size_t kMostOps = 20'000'000;  // of all ranks, loops as they stand

/// A collective call of some ranks.
struct Collective {
  const collectives::Algorithm* algorithm = nullptr;
  collectives::Problem problem{};
  std::vector<int> ranks{};  ///< the root first
  std::uint32_t channel = 0;
};

Collective collective_of(const Json& said, std::size_t ranks, const collectives::Shape& shape) {
  require_known(said, {"collective", "algorithm", "bytes", "root", "ranks", "channel"});
  Collective found{.ranks = member<std::vector<int>>(said, "ranks", {})};
  std::vector<bool> is_there(ranks, false);
  for (const int rank : found.ranks) {
    const bool is_one = rank >= 0 && std::cmp_less(rank, ranks);
    if (!is_one || is_there[static_cast<std::size_t>(rank)])
      throw bad_use(fmt::format("a collective has rank {} twice, or beyond {} ranks", rank, ranks), kSeeDocs);
    is_there[static_cast<std::size_t>(rank)] = true;
  }
  if (found.ranks.empty()) throw bad_use("a collective has no ranks", kSeeDocs);
  const int root = count(said, "root", 0, 0, static_cast<int>(found.ranks.size()) - 1);
  std::ranges::rotate(found.ranks, found.ranks.begin() + root);
  const auto bytes = member<double>(said, "bytes", 0);
  const bool is_amount = bytes >= 0 && bytes <= kMostBytes;
  if (!is_amount) throw bad_use(fmt::format("a collective has {} B", bytes), kSeeDocs);
  const bool is_whole = found.ranks.size() == ranks && std::ranges::is_sorted(found.ranks);
  found.problem = {.operation = collectives::operation_named(member<std::string>(said, "collective", "")),
                   .ranks = static_cast<int>(found.ranks.size()),
                   .bytes = static_cast<std::size_t>(bytes),
                   .shape = is_whole ? shape : collectives::Shape{}};
  found.channel = member<std::uint32_t>(said, "channel", 0);
  if (found.ranks.size() > 1) found.algorithm = &algorithm_of(said, found.problem);
  return found;
}

/// Steps of one rank. Loops count steps of the request, of which a collective becomes several of the rank's.
class Reader {
 public:
  Reader(int rank, std::size_t ranks, const std::vector<Collective>& collectives, std::size_t parts)
      : rank_(rank), ranks_(ranks), collectives_(collectives), parts_(parts) {}

  Program read(const Json& steps) {
    if (!steps.is_array()) throw wrong("its steps are no list");
    find_first_slot(steps);
    for (const Json& step : steps) {
      begins_.push_back(program_.size());
      if (!step.is_array() || step.empty() || !step[0].is_string())
        throw wrong("a step is no list with a name");
      take(step[0].get<std::string>(), step);
      for (std::size_t i = begins_.back(); i < program_.size(); ++i) program_[i].part = part_;
      if (program_.size() > kMostOps) throw wrong("it has too many steps");
    }
    return std::move(program_);
  }

 private:
  [[nodiscard]] Error wrong(const std::string& what) const {
    return bad_use(fmt::format("rank {}, step {}: {}", rank_, begins_.empty() ? 0 : begins_.size() - 1, what),
                   kSeeDocs);
  }
  [[nodiscard]] double number(const Json& step, std::size_t place, double most) const {
    if (step.size() <= place || !step[place].is_number())
      throw wrong(fmt::format("number {} is missing", place));
    const auto found = step[place].get<double>();
    if (found >= 0 && found <= most) return found;
    throw wrong(fmt::format("{} is not from 0 to {:g}", found, most));
  }
  [[nodiscard]] std::uint16_t slot(const Json& step) const {
    return static_cast<std::uint16_t>(number(step, 1, std::numeric_limits<std::uint16_t>::max()));
  }
  [[nodiscard]] std::int32_t peer(const Json& step) const {
    return static_cast<std::int32_t>(number(step, 2, static_cast<double>(ranks_ - 1)));
  }
  [[nodiscard]] std::uint32_t channel(const Json& step, std::size_t place) const {
    return static_cast<std::uint32_t>(number(step, place, std::numeric_limits<std::uint32_t>::max()));
  }

  /// Messages of collectives have slots beyond those of the program's own.
  void find_first_slot(const Json& steps) {
    for (const Json& step : steps) {
      const bool is_message = step.is_array() && step.size() > 1 && step[0].is_string() &&
                              step[0] != "repeat" && step[0] != "work" && step[0] != "collective" &&
                              step[0] != "part";
      if (is_message) first_slot_ = std::max(first_slot_, slot(step) + std::size_t{1});
    }
    begun_.resize(first_slot_, false);
  }

  void take(const std::string& name, const Json& step) {
    if (name == "send") {
      program_.push_back(
          {Op::Kind::kSend, slot(step), peer(step), number(step, 3, kMostBytes), channel(step, 4)});
      begun_[slot(step)] = true;
    } else if (name == "receive") {
      program_.push_back({Op::Kind::kReceive, slot(step), peer(step), 0, channel(step, 3)});
      begun_[slot(step)] = true;
    } else if (name == "wait") {
      if (!begun_[slot(step)]) throw wrong("it waits for what has not begun");
      program_.push_back({Op::Kind::kWait, slot(step)});
    } else if (name == "work") {
      program_.push_back({Op::Kind::kWork, 0, 0, number(step, 1, kLongest)});
    } else if (name == "repeat") {
      repeat(step);
    } else if (name == "collective") {
      collective(step);
    } else if (name == "part") {
      part_ = static_cast<std::uint32_t>(number(step, 1, parts_ > 0 ? static_cast<double>(parts_ - 1) : -1));
    } else {
      throw wrong("there is no step '" + name + "'");
    }
  }

  void repeat(const Json& step) {
    const std::size_t place = begins_.size() - 1;
    const auto length = static_cast<std::size_t>(number(step, 1, static_cast<double>(place)));
    const double turns = number(step, 2, kMostTurns);
    if (length == 0 || turns < 1 || turns != std::floor(turns)) throw wrong("it is no loop");
    const std::size_t body = program_.size() - begins_[place - length];
    // A body without messages and work is no loop of the player's.
    if (body > 0 && turns > 1)
      program_.push_back({Op::Kind::kRepeat, 0, static_cast<std::int32_t>(body), turns});
  }

  void collective(const Json& step) {
    const auto number_of = static_cast<std::size_t>(number(step, 1, 1e9));
    if (number_of >= collectives_.size()) throw wrong("there is no such collective");
    const Collective& call = collectives_[number_of];
    const auto found = std::ranges::find(call.ranks, rank_);
    if (found == call.ranks.end()) throw wrong("the rank is not one of the collective's");
    if (call.algorithm == nullptr) return;
    auto& steps = known_[number_of];
    if (steps.empty()) {
      Program own;
      simulate::append(own, collectives::record(*call.algorithm, call.problem,
                                                static_cast<int>(found - call.ranks.begin()),
                                                collectives::Call{}.segment_bytes));
      steps = simulate::among(simulate::with_loops(own), call.ranks, call.channel, first_slot_);
    }
    program_.insert(program_.end(), steps.begin(), steps.end());
  }

  int rank_;
  std::size_t ranks_;
  const std::vector<Collective>& collectives_;
  std::size_t parts_;
  std::uint32_t part_ = 0;
  Program program_;
  std::vector<std::size_t> begins_;  ///< of each step in the program
  std::vector<bool> begun_;          ///< by slot
  std::size_t first_slot_ = 0;
  std::map<std::size_t, Program> known_;  ///< of collectives
};

}  // namespace

std::vector<Program> programs_of(const Json& request, std::size_t ranks, const collectives::Shape& shape,
                                 std::size_t parts) {
  const Json said = member<Json>(request, "programs", Json::array());
  if (!said.is_array() || said.size() != ranks)
    throw bad_use(fmt::format("a request has programs of {} ranks, and {} ranks", said.size(), ranks),
                  kSeeDocs);
  std::vector<Collective> calls;
  for (const Json& one : member<std::vector<Json>>(request, "collectives", {}))
    calls.push_back(collective_of(one, ranks, shape));
  std::vector<Program> found;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    found.push_back(Reader(static_cast<int>(rank), ranks, calls, parts).read(said[rank]));
  return found;
}

}  // namespace fabricmark::describe
