#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/shallow_water/execution.hpp"
#include "apps/shallow_water/reference.hpp"
#include "apps/shallow_water/simulation.hpp"
#include "runtime/step_windows.hpp"

namespace fabricmark::shallow_water {

/// The steps of a run as their check sees them: on the device, and by the reference on the host.
class WaterSteps final : public runtime::Stepping {
 public:
  WaterSteps(const runtime::Context& context, const Problem& problem, const Basis& basis,
             const LocalMesh& local, Execution& execution, Simulation& simulation, const Steps& plan);

  /// For Execution::write, from bits that are drawn: so much that a kernel cannot know where a run begins or
  /// ends, and so little that what is wrong in some stages by their numbers shows in a run.
  [[nodiscard]] std::uint32_t offset(std::uint64_t bits) const;

  void advance(std::int64_t to) override { simulation_.advance(to); }
  void read(runtime::StepState& state) override;
  void restore(const runtime::StepState& state, std::int64_t step, std::uint64_t bits) override;
  void run_again(std::int64_t from, std::int64_t to) override;
  runtime::StepError recompute(std::int64_t step, const runtime::StepState& before,
                               const runtime::StepState& after, const runtime::StepPart& part) override;
  runtime::StepError compare(const runtime::StepState& expected, const runtime::StepState& actual) override;
  [[nodiscard]] double work_of_step() const override;

 private:
  using Scales = std::array<double, kUnknowns>;
  /// What errors of elevation and velocities count against, of all ranks: the largest ones.
  [[nodiscard]] Scales scales_of(const Field& one, const Field& other) const;
  [[nodiscard]] Field field_of(const runtime::StepState& state) const;
  /// Own places that the check looks at.
  [[nodiscard]] std::vector<std::size_t> places_of(const runtime::StepPart& part) const;
  [[nodiscard]] runtime::StepError furthest(const Field& expected, const Field& actual, const Scales& scales,
                                            const std::vector<std::size_t>& places) const;

  const runtime::Context& context_;
  const Problem& problem_;
  const Basis& basis_;
  const LocalMesh& local_;
  Execution& execution_;
  Simulation& simulation_;
  Steps plan_;
  double deepest_;
  Reference reference_;
  bool asks_for_all_ = false;  ///< own elements are what the reference computes
};

}  // namespace fabricmark::shallow_water
