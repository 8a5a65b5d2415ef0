#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/interface.hpp"
#include "benchmarks/common/halo_sums.hpp"
#include "runtime/benchmark.hpp"
#include "runtime/context.hpp"
#include "stencil/part.hpp"

namespace fabricmark::stencil {

/// The steps of a part of the grid on a device: those of the kernels, of which a step with phases takes
/// several.
class Execution : public Interface {
 public:
  /// Puts a state on the device. To kernels, steps have numbers that are larger by `offset`, so that they
  /// cannot know how far a run is: one of runtime::drawn_offset.
  virtual void write(const std::vector<double>& state, std::uint32_t offset) = 0;
  /// The state on the device, into memory that need not be new.
  virtual void read(std::vector<double>& state) = 0;
  [[nodiscard]] std::vector<double> read() {
    std::vector<double> state;
    read(state);
    return state;
  }
  /// `count` steps from the state `first` on. Returns when they are done.
  virtual void advance(std::int64_t first, std::int64_t count) = 0;
  /// The first state in which a cell of this rank was in trouble, if any. Then `read` gives that which the
  /// launch began with that found it, and no step goes on.
  virtual std::optional<std::int64_t> trouble() = 0;
  /// The state that `read` gives.
  [[nodiscard]] virtual std::int64_t state() const = 0;
  /// Of all halos so far; nothing where there are none.
  virtual common::HaloSums halo_sums() { return {}; }
  /// Metrics of the run that no time makes.
  [[nodiscard]] virtual std::vector<runtime::DerivedMetric> metrics() const { return {}; }
  /// What a reader of the result should know.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

using MakeExecution = std::unique_ptr<Execution>(const runtime::Context& context, const Problem& problem,
                                                 const Part& part);

/// A kind of kernel: what makes its host code, and the part of the grid that a rank has.
struct Kind {
  MakeExecution* make = nullptr;
  Part (*part_of)(const Problem& problem, int ranks, int rank) = stencil::part_of;
};

/// In files of their names.
MakeExecution make_base;
MakeExecution make_throughput;

}  // namespace fabricmark::stencil
