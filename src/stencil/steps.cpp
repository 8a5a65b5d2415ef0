#include "stencil/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"

namespace fabricmark::stencil {

GridSteps::GridSteps(const runtime::Context& context, const Application& application, const Part& part,
                     Execution& execution, NextRow next_row)
    : Stepping(context.parameters().text("data_type")),
      context_(context),
      application_(application),
      problem_(application.problem()),
      part_(part),
      execution_(execution),
      reference_(context.ranks(), problem_, part,
                 application.next_row() == nullptr ? next_row : application.next_row(),
                 runtime::host_threads(context.ranks())) {}

void GridSteps::start(const std::vector<double>& state, std::uint64_t bits) {
  execution_.write(state, runtime::drawn_offset(bits, problem_.steps, problem_.phases));
}

void GridSteps::begin(const std::vector<double>& state, std::uint64_t bits) {
  step_ = 0;
  start(state, bits);
}

void GridSteps::record(Recorder* recorder, runtime::TimedRegions* regions) {
  recorder_ = recorder;
  regions_ = regions;
}

void GridSteps::advance(std::int64_t to) {
  while (step_ < to) {
    const std::int64_t wanted = recorder_ == nullptr ? Recorder::kNever : recorder_->next(step_);
    const std::int64_t end = std::min(to, wanted);
    make(step_, end);
    step_ = end;
    check();
    if (end == wanted) {
      regions_->pause([&] {
        execution_.read(recorded_);
        recorder_->take(end, recorded_);
      });
    }
  }
}

void GridSteps::restore(const runtime::StepState& state, std::int64_t step, std::uint64_t bits) {
  step_ = step;
  start(state, bits);
}

void GridSteps::run_again(std::int64_t from, std::int64_t to) {
  make(from, to);
  check();
}

void GridSteps::make(std::int64_t from, std::int64_t to) {
  execution_.advance(from * problem_.phases, (to - from) * problem_.phases);
}

void GridSteps::check() {
  constexpr auto kNone = std::numeric_limits<std::int64_t>::max();
  const std::optional<std::int64_t> own = execution_.trouble();
  const std::int64_t first = context_.ranks().all_reduce_min(own.value_or(kNone));
  if (first == kNone) return;
  // From the state that the launch began with, whose steps the host makes again. Of several ranks some may be
  // further than that.
  std::vector<double> state = execution_.read();
  std::optional<Place> cell;
  if (context_.ranks().size() == 1) {
    for (std::int64_t step = execution_.state(); step < first && !cell; ++step) {
      state = reference_.step_phase(state, static_cast<int>(step % problem_.phases), 0, part_.rows);
      cell = reference_.trouble();
    }
  }
  const auto [what, remedy] = application_.trouble();
  const std::string where =
      cell ? fmt::format("in column {}, row {}", cell->column, cell->row) : std::string("in a cell");
  const std::int64_t whole = (first + problem_.phases - 1) / problem_.phases;
  throw Error(ExitCode::kInvalidResult, fmt::format("{} {} of step {}", what, where, whole), remedy);
}

double GridSteps::work_of_step() const {
  return static_cast<double>(problem_.columns * problem_.rows) * application_.operations();
}

std::vector<double> GridSteps::scales_of(const std::vector<double>& state) const {
  const int threads = runtime::host_threads(context_.ranks());
  std::vector<double> largest(part_.fields);
  std::mutex lock;
  for (std::size_t field = 0; field < part_.fields; ++field) {
    const double* const numbers = state.data() + field * part_.cells();  // of a rank without cells none
    parallel_for(part_.cells(), threads, kWorthAThread, [&](std::size_t begin, std::size_t end) {
      double found = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const double size = std::abs(numbers[i]);
        if (!(size <= found)) found = size;
      }
      const std::scoped_lock guard(lock);
      if (!(found <= largest[field])) largest[field] = found;
    });
    largest[field] = context_.ranks().all_reduce_max_number(largest[field]);
  }
  std::vector<double> scales = application_.scales(largest);
  for (double& scale : scales) scale = scale > 0 ? scale : 1;
  return scales;
}

runtime::StepError GridSteps::furthest_of(const Compared& states, std::size_t begin, std::size_t end) const {
  const auto& [expected, actual, first_row, rows, scales, is_reference] = states;
  runtime::StepError found;
  std::vector<double> cell(part_.fields);
  for (std::size_t field = 0; field < part_.fields; ++field) {
    for (std::size_t n = begin; n < end; ++n) {
      const std::size_t row = (first_row + n) % part_.rows;
      const double* const should = &expected[(field * rows + n) * part_.columns];
      const double* const is = &actual[part_.at(field, row, 0)];
      for (std::size_t column = 0; column < part_.columns; ++column) {
        if (is[column] == should[column]) continue;
        double error = std::abs(is[column] - should[column]) / scales[field];
        if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
        if (error <= found.error) continue;
        for (std::size_t other = 0; is_reference && other < part_.fields; ++other) {
          cell[other] = expected[(other * rows + n) * part_.columns + column];
        }
        if (is_reference) {
          if (application_.may_differ(field, cell, epsilon())) continue;
          if (std::isfinite(error)) error *= application_.weight(field, cell);
          if (error <= found.error) continue;
        }
        found.error = error;
        found.worst = {
            fmt::format("{} in column {}, row {}", problem_.fields[field], column, part_.first_row + row),
            should[column], is[column]};
      }
    }
  }
  return found;
}

runtime::StepError GridSteps::furthest(const Compared& states) const {
  const std::size_t least = 1 + kWorthAThread / std::max<std::size_t>(1, part_.columns * part_.fields);
  std::map<std::size_t, runtime::StepError> parts;  // in the order of the rows, whichever thread is first
  std::mutex lock;
  parallel_for(states.rows, runtime::host_threads(context_.ranks()), least,
               [&](std::size_t begin, std::size_t end) {
                 runtime::StepError found = furthest_of(states, begin, end);
                 const std::scoped_lock guard(lock);
                 parts[begin] = std::move(found);
               });
  runtime::StepError worst;
  for (auto& [begin, found] : parts) {
    if (found.error > worst.error) worst = std::move(found);
  }
  return worst;
}

runtime::StepError GridSteps::recompute(std::int64_t /*step*/, const runtime::StepState& before,
                                        const runtime::StepState& after, const runtime::StepPart& part) {
  const auto rows = static_cast<double>(part_.rows);
  const auto first = std::min(static_cast<std::size_t>(part.start * rows), part_.rows);
  const auto count = std::min(part_.rows, static_cast<std::size_t>(std::ceil(part.share * rows)));
  const std::vector<double> expected = reference_.step(before, first, count);
  runtime::StepError found =
      furthest({expected, after, first, count, scales_of(before), /*is_reference=*/true});
  if (const std::optional<Place>& cell = reference_.trouble()) {
    found.error = std::numeric_limits<double>::infinity();
    found.worst = {
        fmt::format("trouble in column {}, row {} that the device does not tell of", cell->column, cell->row),
        1, 0};
  }
  return found;
}

runtime::StepError GridSteps::compare(const runtime::StepState& expected, const runtime::StepState& actual) {
  return furthest({expected, actual, 0, part_.rows, scales_of(expected), /*is_reference=*/false});
}

}  // namespace fabricmark::stencil
