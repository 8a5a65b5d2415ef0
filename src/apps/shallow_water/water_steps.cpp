#include "apps/shallow_water/water_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "apps/shallow_water/gather.hpp"
#include "apps/shallow_water/work.hpp"

namespace fabricmark::shallow_water {

WaterSteps::WaterSteps(const runtime::Context& context, const Problem& problem, const Basis& basis,
                       const LocalMesh& local, Execution& execution, Simulation& simulation,
                       const Steps& plan)
    : Stepping(context.parameters().text("data_type")),
      context_(context),
      problem_(problem),
      basis_(basis),
      local_(local),
      execution_(execution),
      simulation_(simulation),
      plan_(plan),
      deepest_(*std::ranges::max_element(problem.mesh.depth)),
      reference_(problem, basis, context.parameters().text("flux"), runtime::host_threads(context.ranks())) {}

Field WaterSteps::field_of(const runtime::StepState& state) const {
  Field field(basis_.modes(), local_.own());
  field.values = state;
  return field;
}

void WaterSteps::read(runtime::StepState& state) {
  Field field(basis_.modes(), local_.own());
  execution_.read(field);
  state = std::move(field.values);
}

void WaterSteps::restore(const runtime::StepState& state, std::int64_t /*step*/, std::uint64_t bits) {
  execution_.set_counting(false);
  execution_.write(field_of(state), offset(bits));
}

std::uint32_t WaterSteps::offset(std::uint64_t bits) const {
  return runtime::drawn_offset(bits, plan_.count);
}

void WaterSteps::run_again(std::int64_t from, std::int64_t to) {
  execution_.advance({from, to - from, plan_.dt});
  simulation_.check();
}

double WaterSteps::work_of_step() const {
  return static_cast<double>(problem_.mesh.element_count()) * flops_of_step(basis_.order());
}

WaterSteps::Scales WaterSteps::scales_of(const Field& one, const Field& other) const {
  Scales largest{};
  const std::size_t each = static_cast<std::size_t>(one.modes) * one.elements;
  for (const Field* field : {&one, &other}) {
    for (std::size_t i = 0; i < field->values.size(); ++i) {
      double& of_unknown = largest[i / each];
      of_unknown = std::max(of_unknown, std::abs(field->values[i]));
    }
  }
  for (double& of_unknown : largest) of_unknown = context_.ranks().all_reduce_max_number(of_unknown);
  // What a wave of this height moves.
  const double speed = std::sqrt(problem_.physics.gravity * deepest_);
  const double flow = std::max({largest[1], largest[2], largest[0] * speed});
  return {std::max(largest[0], flow / speed), flow, flow};
}

std::vector<std::size_t> WaterSteps::places_of(const runtime::StepPart& part) const {
  const auto own = static_cast<double>(local_.own());
  const auto start = static_cast<std::size_t>(part.start * own);
  std::vector<std::size_t> places(
      std::min(local_.own(), static_cast<std::size_t>(std::ceil(part.share * own))));
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = (start + i) % local_.own();
  return places;
}

runtime::StepError WaterSteps::furthest(const Field& expected, const Field& actual, const Scales& scales,
                                        const std::vector<std::size_t>& places) const {
  runtime::StepError found;
  for (std::size_t number = 0; number < actual.numbers(); ++number) {
    const std::size_t unknown = number / static_cast<std::size_t>(actual.modes);
    for (const std::size_t place : places) {
      const std::size_t i = number * actual.elements + place;
      const double difference = std::abs(actual.values[i] - expected.values[i]);
      if (difference == 0) continue;
      double error = difference / scales[unknown];
      if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
      if (error <= found.error) continue;
      found.error = error;
      found.worst = {fmt::format("{}[{}] of element {}", kUnknownNames[unknown],
                                 number % static_cast<std::size_t>(actual.modes), local_.elements[place] + 1),
                     expected.values[i], actual.values[i]};
    }
  }
  return found;
}

runtime::StepError WaterSteps::recompute(std::int64_t step, const runtime::StepState& before,
                                         const runtime::StepState& after, const runtime::StepPart& part) {
  const std::vector<std::size_t> places = places_of(part);
  if (const bool is_all = places.size() == local_.own(); !is_all || !asks_for_all_) {
    std::vector<std::int32_t> elements;
    for (const std::size_t place : places) elements.push_back(local_.elements[place]);
    reference_.ask_for(elements, 1);
    asks_for_all_ = is_all;
  }
  const Field start = field_of(before);
  const Field whole =
      reference_.advance(gathered(context_.ranks(), simulation_.elements(), start), {step, 1, plan_.dt});
  const Field expected = part_of(whole, local_.elements);
  return furthest(expected, field_of(after), scales_of(start, expected), places);
}

runtime::StepError WaterSteps::compare(const runtime::StepState& expected, const runtime::StepState& actual) {
  const Field should_be = field_of(expected);
  const Field is = field_of(actual);
  std::vector<std::size_t> places(local_.own());
  std::iota(places.begin(), places.end(), std::size_t{0});
  return furthest(should_be, is, scales_of(should_be, should_be), places);
}

}  // namespace fabricmark::shallow_water
