// Shallow water: tides on an unstructured mesh of triangles by discontinuous Galerkin methods of order 0 to 2
// (Büttner and Kenter 2024; Faj et al. 2023), with a part of the mesh on each rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/shallow_water/execution.hpp"
#include "base/error.hpp"
#include "fabric/registry.hpp"
#include "runtime/run.hpp"

namespace fabricmark::shallow_water {

namespace {

/// A variant: its kernels, and what their arrays have to be a multiple of.
struct Kind {
  Multiple multiple;
  MakeExecution make;
};

class ShallowWater : public runtime::Benchmark {
 public:
  ShallowWater(const runtime::Context& context, const Kind& kind)
      : context_(context),
        ranks_(context.ranks()),
        basis_(static_cast<int>(context.parameters().integer("order"))),
        problem_(make_problem(context.parameters())),
        local_(local_mesh(problem_.mesh, mesh::partition(problem_.mesh, ranks_.size()), ranks_.rank(),
                          kind.multiple(context))),
        plan_(plan()),
        execution_(kind.make(context, problem_, local_)),
        field_(basis_.modes(), local_.own()) {}

  void generate() override { initial_ = project(problem_, basis_, local_.elements); }
  void prepare(int /*repetition*/) override {
    execution_->write(initial_);
    execution_->read(initial_);  // as the device's numbers hold it
  }

  void execute(runtime::Laps& laps) override {
    laps.time("steps", [&] { execution_->advance(plan_); });
    execution_->read(field_);
  }

  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts{mass_verdict()};
    if (problem_.is_still) verdicts.push_back(rest_verdict());
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    runtime::Metric steps{.name = "cell_steps",
                          .axes = {{"operation", "steps"}},
                          .lap = "steps",
                          .unit = "Mcell/s",
                          .scale = 1e-6};
    steps.work = static_cast<double>(local_.own()) * static_cast<double>(plan_.count);
    steps.work_unit = "cell steps";
    return {steps};
  }

 private:
  Steps plan() const {
    const runtime::Parameters& parameters = context_.parameters();
    double dt = parameters.number("dt");
    if (dt == 0) dt = parameters.number("cfl") * longest_step();
    const double hours = parameters.number("hours");
    const double seconds = hours > 0 ? hours * kSecondsPerHour : problem_.seconds;
    std::int64_t count = parameters.integer("steps");
    constexpr std::int64_t kDefault = 100;
    if (count == 0 && seconds > 0) {
      count = static_cast<std::int64_t>(std::ceil(seconds / dt - 1e-9));
      if (parameters.number("dt") == 0) dt = seconds / static_cast<double>(count);
    }
    return {.first = 0, .count = count == 0 ? kDefault : count, .dt = dt};
  }

  /// At the start, of all ranks [s].
  double longest_step() const {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t place = 0; place < local_.own(); ++place) {
      const auto element = static_cast<std::size_t>(local_.elements[place]);
      const auto [x, y] = place_in(problem_.mesh, element, 1.0 / 3, 1.0 / 3);
      const State state = problem_.initial(x, y);
      double sum = 0;
      for (std::size_t side = 0; side < LocalMesh::kSides; ++side) {
        const double depth = std::max(local_.geometry[side * local_.padded + place],
                                      local_.geometry[(side + 1) % 3 * local_.padded + place]);
        const double h = depth + state.xi;
        const double speed = std::hypot(state.u, state.v) / h + std::sqrt(problem_.physics.gravity * h);
        sum += local_.geometry[(9 + side) * local_.padded + place] * speed;
      }
      shortest = std::min(shortest, 2 / sum / (2 * basis_.order() + 1));
    }
    return -ranks_.all_reduce_max_number(-shortest);
  }

  /// Volume of water above still water [m^3], and of all water.
  [[nodiscard]] double volume(const Field& field) const {
    double sum = 0;
    for (std::size_t place = 0; place < local_.own(); ++place)
      sum += local_.areas[place] * field.at(0, 0, place);
    return sum;
  }
  [[nodiscard]] double water() const {
    double sum = 0;
    for (std::size_t place = 0; place < local_.own(); ++place) {
      const double depths = local_.geometry[place] + local_.geometry[local_.padded + place] +
                            local_.geometry[2 * local_.padded + place];
      sum += local_.areas[place] * (depths / 3 + initial_.at(0, 0, place));
    }
    return sum;
  }

  runtime::Verdict mass_verdict() {
    const std::vector<double> outflow = execution_->outflow();
    double out = 0;
    for (std::size_t place = 0; place < local_.own(); ++place) out += local_.areas[place] * outflow[place];
    const double change = ranks_.all_reduce_sum(volume(field_) - volume(initial_) + out);
    runtime::Verdict verdict{.name = "mass", .measure = "relative drift", .checked = local_.own()};
    verdict.error = std::abs(change) / ranks_.all_reduce_sum(water());
    verdict.threshold = context_.parameters().text("data_type") == "double" ? 1e-14 : 1e-5;
    return verdict;
  }

  runtime::Verdict rest_verdict() const {
    runtime::Verdict verdict{.name = "at rest", .measure = "largest change", .checked = local_.own()};
    verdict.threshold = basis_.order() == 0 ? 0 : 1e-15;
    for (std::size_t i = 0; i < field_.values.size(); ++i) {
      verdict.error = std::max(verdict.error, std::abs(field_.values[i] - initial_.values[i]));
    }
    return verdict;
  }

  const runtime::Context& context_;
  runtime::Communicator& ranks_;
  Basis basis_;
  Problem problem_;
  LocalMesh local_;
  Steps plan_;
  std::unique_ptr<Execution> execution_;
  Field initial_, field_;
};

}  // namespace

}  // namespace fabricmark::shallow_water

int main(int argc, char** argv) {
  using namespace fabricmark;
  namespace own = shallow_water;
  runtime::ExecutionTable table;
  for (const runtime::TransportSpec& transport : runtime::transport_specs()) {
    if (transport.is_of_kernels) continue;
    const own::Kind throughput{own::throughput_multiple, own::make_throughput};
    table.push_back({"throughput", transport.name, [throughput](const runtime::Context& context) {
                       return std::make_unique<own::ShallowWater>(context, throughput);
                     }});
  }
  return runtime::run_program(argc, argv, {"shallow_water", table, 1});
}
