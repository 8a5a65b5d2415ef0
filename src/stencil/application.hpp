#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/interface.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"
#include "stencil/recorder.hpp"
#include "stencil/reference.hpp"

namespace fabricmark::stencil {

/// What a program of steps on a grid says of itself; the engine does the rest (run.hpp).
class Application : public Interface {
 public:
  [[nodiscard]] virtual const Problem& problem() const = 0;
  /// The step on the host where a program has several cells; null: that of its cell.h.
  [[nodiscard]] virtual NextRow next_row() const { return nullptr; }
  /// Additions, multiplications, divisions and roots of a step of a cell.
  [[nodiscard]] virtual double operations() const = 0;
  /// What is wrong with a state that is in trouble, such as "the fluid is faster than ...", and what helps.
  [[nodiscard]] virtual std::pair<std::string, std::string> trouble() const {
    return {"the cells cannot go on", "see what the kernels call trouble"};
  }
  /// What errors of each field count against, from the largest number of each: by default all against the
  /// largest of all.
  [[nodiscard]] virtual std::vector<double> scales(const std::vector<double>& largest) const {
    return std::vector<double>(largest.size(), *std::ranges::max_element(largest));
  }
  /// Whether rounding may decide a number of a cell that the reference has as `expected`, such as one that
  /// comes from a comparison.
  [[nodiscard]] virtual bool may_differ(std::size_t /*field*/, std::span<const double> /*expected*/,
                                        double /*epsilon*/) const {
    return false;
  }
  /// How much an error of a number counts in a cell that the reference has as `expected`, of 0 to 1: less
  /// where it comes of roundings of larger numbers.
  [[nodiscard]] virtual double weight(std::size_t /*field*/, std::span<const double> /*expected*/) const {
    return 1;
  }
  /// What must hold of the state at the end besides its steps, such as conservation. Collective.
  virtual std::vector<runtime::Verdict> check(runtime::Communicator& /*ranks*/, const Part& /*part*/,
                                              const std::vector<double>& /*start*/,
                                              const std::vector<double>& /*end*/) const {
    return {};
  }
  /// Figures of the state at the end, for a reader. Collective.
  virtual std::vector<std::string> notes(runtime::Communicator& /*ranks*/, const Part& /*part*/,
                                         const std::vector<double>& /*end*/) const {
    return {};
  }
  /// What it writes of runs; null: nothing.
  [[nodiscard]] virtual std::unique_ptr<Recorder> recorder(const runtime::Context& /*context*/,
                                                           const Part& /*part*/) const {
    return nullptr;
  }
};

using MakeApplication = std::function<std::unique_ptr<Application>(const runtime::Context& context)>;

}  // namespace fabricmark::stencil
