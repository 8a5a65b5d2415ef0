#pragma once

#include <cstdint>
#include <vector>

#include "runtime/step_windows.hpp"
#include "stencil/application.hpp"
#include "stencil/execution.hpp"
#include "stencil/reference.hpp"

namespace fabricmark::stencil {

/// The steps of a run as their check sees them: on the device, and by the reference on the host.
class GridSteps final : public runtime::Stepping {
 public:
  GridSteps(const runtime::Context& context, const Application& application, const Part& part,
            Execution& execution, NextRow next_row);

  /// Before a run: the state that it begins with.
  void begin(const std::vector<double>& state, std::uint64_t bits);
  /// Has a run's steps stop where the recorder wants a state, with these clocks standing still; null: they do
  /// not.
  void record(Recorder* recorder, runtime::TimedRegions* regions);
  void advance(std::int64_t to) override;
  void read(runtime::StepState& state) override { execution_.read(state); }
  void restore(const runtime::StepState& state, std::int64_t step, std::uint64_t bits) override;
  void run_again(std::int64_t from, std::int64_t to) override;
  runtime::StepError recompute(std::int64_t step, const runtime::StepState& before,
                               const runtime::StepState& after, const runtime::StepPart& part) override;
  runtime::StepError compare(const runtime::StepState& expected, const runtime::StepState& actual) override;
  [[nodiscard]] double work_of_step() const override;

 private:
  /// Puts a state on the device.
  void start(const std::vector<double>& state, std::uint64_t bits);
  /// Whole steps on the device.
  void make(std::int64_t from, std::int64_t to);
  /// Throws Error (invalid result) that names cell and step where the device has found one in trouble.
  void check();
  /// What errors of each field count against, of all ranks.
  [[nodiscard]] std::vector<double> scales_of(const std::vector<double>& state) const;
  /// Rows of a state beside others, which stand field by field, row by row.
  struct Compared {
    const std::vector<double>& expected;
    const std::vector<double>& actual;
    std::size_t first_row;
    std::size_t rows;
    std::vector<double> scales;
    bool is_reference;
  };
  /// How far they are from each other.
  [[nodiscard]] runtime::StepError furthest(const Compared& states) const;
  [[nodiscard]] runtime::StepError furthest_of(const Compared& states, std::size_t begin,
                                               std::size_t end) const;

  const runtime::Context& context_;
  const Application& application_;
  const Problem& problem_;
  Part part_;
  Execution& execution_;
  Reference reference_;
  std::int64_t step_ = 0;
  Recorder* recorder_ = nullptr;
  std::vector<double> recorded_;
  runtime::TimedRegions* regions_ = nullptr;
};

}  // namespace fabricmark::stencil
