#include "collectives/algorithm.hpp"

#include <stdexcept>
#include <vector>

#include "collectives/operation_kind.hpp"

namespace fabricmark::collectives {

namespace {

bool reaches(Reach reach, const Shape& shape) {
  switch (reach) {
    case Reach::kAll:
      return !shape.only_neighbours_talk || shape.wiring == Wiring::kAnyToAny;
    case Reach::kRing:  // the last of a row is no neighbour of the first of the next one
      return !shape.only_neighbours_talk || shape.wiring != Wiring::kTorus || shape.rows == 1 ||
             shape.columns == 1;
    case Reach::kTorus:
      return shape.wiring == Wiring::kTorus;
  }
  return false;
}

/// What a single rank has to do: all elements stay.
void stay(Moves& moves, const Call& call) {
  if (call.operation != Operation::kBarrier) moves.copy(call.own, call.result);
}

}  // namespace

bool Algorithm::fits(const Problem& problem) const {
  if (problem.operation != operation) return false;
  if (problem.ranks == 1) return true;
  return reaches(reach, problem.shape) && (is_meant_for == nullptr || is_meant_for(problem));
}

std::size_t Algorithm::needed_buffers(const CostModel& model) const {
  if (model.ranks() == 1) return 0;
  return buffers == nullptr ? model.buffers(1) : buffers(model);
}

std::span<const Algorithm> algorithms() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> made;
    for (const Operation operation : kOperations) {
      for (const Algorithm& own : kind_of(operation).algorithms) made.emplace_back(own).operation = operation;
    }
    return made;
  }();
  return all;
}

void run(const Algorithm& algorithm, Moves& moves, const Call& call) {
  if (algorithm.operation != call.operation) throw std::logic_error("an algorithm of another operation");
  check(call, moves.rank(), moves.size());
  if (call.count == 0 && call.operation != Operation::kBarrier) return;
  if (moves.size() == 1) return stay(moves, call);
  algorithm.program(moves, call);
}

}  // namespace fabricmark::collectives
