#include "stencil/timing.hpp"

#include <optional>

#include "runtime/system_costs.hpp"

namespace fabricmark::stencil {

namespace {

class GridTiming final : public runtime::Benchmark {
 public:
  GridTiming(const runtime::Context& context, const MakeApplication& make, const Kind& kind)
      : context_(context),
        application_(make(context)),
        part_(kind.part_of(application_->problem(), context.ranks().size(), context.ranks().rank())),
        execution_(kind.make(context, application_->problem(), part_)) {}

  void prepare(int /*repetition*/) override {}
  void execute(runtime::TimedRegions& regions) override {
    const Problem& problem = application_->problem();
    regions.time("steps", [&] { execution_->advance(0, problem.steps * problem.phases); });
  }
  std::vector<runtime::Verdict> validate() override {
    runtime::Verdict verdict{.name = "nothing", .measure = "values"};
    return {verdict};
  }
  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    return step_metrics(context_, *application_, part_);
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return execution_->notes(); }

 private:
  const runtime::Context& context_;
  std::unique_ptr<Application> application_;
  Part part_;
  std::unique_ptr<Execution> execution_;
};

}  // namespace

std::unique_ptr<runtime::Benchmark> make_timing(const runtime::Context& context, const MakeApplication& make,
                                                const Kind& kind) {
  return std::make_unique<GridTiming>(context, make, kind);
}

std::vector<runtime::Metric> step_metrics(const runtime::Context& context, const Application& application,
                                          const Part& part) {
  const double cells = static_cast<double>(part.cells()) * static_cast<double>(application.problem().steps);
  const double number = context.parameters().text("data_type") == "double" ? sizeof(double) : sizeof(float);
  const runtime::Metric performance = runtime::performance("steps", cells * application.operations());
  // The bandwidth is what a step reads and writes that keeps nothing for the next one, in each of its phases.
  const double numbers = static_cast<double>(part.fields) * application.problem().phases;
  std::vector<runtime::Metric> metrics{runtime::cell_steps("steps", cells),
                                       runtime::bandwidth("steps", cells * 2 * numbers * number),
                                       performance};
  const auto counted =
      context.costs() == nullptr ? std::nullopt : context.costs()->find("element_operations");
  if (!counted) return metrics;
  metrics.push_back(performance);
  metrics.back().axes.push_back({"operations", "as published"});
  metrics.back().work = cells * *counted;
  return metrics;
}

}  // namespace fabricmark::stencil
