#include "stencil/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "benchmarks/common/digest.hpp"
#include "device/element.hpp"
#include "runtime/run.hpp"
#include "stencil/execution.hpp"
#include "stencil/steps.hpp"
#include "stencil/timing.hpp"
#include "transport/registry.hpp"

namespace fabricmark::stencil {

namespace {

class GridBenchmark final : public runtime::Benchmark {
 public:
  GridBenchmark(const runtime::Context& context, const MakeApplication& make, const Kind& kind,
                NextRow next_row)
      : context_(context),
        ranks_(context.ranks()),
        application_(make(context)),
        problem_(application_->problem()),
        part_(checked_part(kind)),
        execution_(kind.make(context, problem_, part_)),
        recorder_(application_->recorder(context, part_)),
        steps_(context, *application_, part_, *execution_, next_row),
        windows_(ranks_, steps_, context.repetitions(), 0, problem_.steps),
        start_(start_of(problem_, part_)) {}

  void prepare(int repetition) override {
    repetition_ = repetition;
    steps_.begin(start_, windows_.bits());
    if (initial_.empty()) initial_ = execution_->read();  // as the device's numbers hold it
  }
  void execute(runtime::TimedRegions& regions) override {
    Recorder* const recorder = repetition_ < 0 ? nullptr : recorder_.get();  // none of a warm-up
    if (recorder != nullptr) regions.aside([&] { recorder->begin(initial_); });
    steps_.record(recorder, &regions);
    windows_.run(regions, "steps", repetition_);
    regions.aside([&] {
      end_ = execution_->read();
      if (recorder != nullptr) recorder->end(end_);
    });
  }

  void inject(const runtime::Fault& fault) override {
    if (transport::is_message_fault(fault)) {  // the transport makes it
      if (ranks_.size() > 1) return;
      throw bad_use("a single rank has no messages to corrupt",
                    "use more ranks, or element, scale, zeros or stale");
    }
    if (!fault.target.empty() && fault.target != problem_.fields.front()) {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target),
                    fmt::format("use {}", problem_.fields.front()));
    }
    const double epsilon = device::epsilon_of(context_.parameters().text("data_type"));
    constexpr double kOfElement = 1000;
    // The element that is changed is the largest one, which shows most.
    const std::span<double> values = std::span(end_).first(part_.cells());
    const auto largest = std::ranges::max_element(values, {}, [](double value) { return std::abs(value); });
    if (largest != values.end()) std::swap(values[values.size() / 2], *largest);
    runtime::corrupt<double>(values, std::span(initial_).first(part_.cells()), fault.kind,
                             kOfElement * epsilon);
    if (largest != values.end() && fault.kind != runtime::Fault::Kind::kStale)
      std::swap(values[values.size() / 2], *largest);
    execution_->write(end_, 0);
    end_ = execution_->read();
    windows_.replace_end(end_);
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    std::vector<runtime::Verdict> verdicts = application_->check(ranks_, part_, initial_, end_);
    std::ranges::copy(windows_.check(), std::back_inserter(verdicts));
    if (ranks_.size() > 1) verdicts.push_back(common::halo_verdict(ranks_, execution_->halo_sums()));
    return verdicts;
  }
  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts = validate_repetition();
    describe();
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    return step_metrics(context_, *application_, part_);
  }
  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& /*regions*/) const override {
    return execution_->metrics();
  }
  [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

 private:
  [[nodiscard]] Part checked_part(const Kind& kind) const {
    const auto ranks = static_cast<std::size_t>(ranks_.size());
    if (problem_.rows < ranks) {
      throw bad_use(fmt::format("{} rows do not give {} ranks one each", problem_.rows, ranks),
                    "use fewer ranks or more --rows");
    }
    const Part part = kind.part_of(problem_, ranks_.size(), ranks_.rank());
    // The state as the device has it, the states of the check and those of the reference.
    constexpr double kHostStates = 10;
    context_.require_memory(
        {.host_bytes = kHostStates * sizeof(double) * static_cast<double>(part.numbers())}, "rows");
    return part;
  }

  void describe() {
    std::uint64_t sum = 0;
    for (std::size_t field = 0; field < part_.fields; ++field) {
      for (std::size_t row = 0; row < part_.rows; ++row) {
        for (std::size_t column = 0; column < part_.columns; ++column) {
          const std::size_t in_grid = (part_.first_row + row) * part_.columns + column;
          sum += common::digest_of_element(end_[part_.at(field, row, column)], field, in_grid,
                                           problem_.columns * problem_.rows);
        }
      }
    }
    notes_ = {windows_.note(), common::digest_note(ranks_, "the cells", sum)};
    std::ranges::copy(execution_->notes(), std::back_inserter(notes_));
    std::ranges::copy(application_->notes(ranks_, part_, end_), std::back_inserter(notes_));
    if (recorder_) std::ranges::copy(recorder_->notes(), std::back_inserter(notes_));
  }

  const runtime::Context& context_;
  runtime::Communicator& ranks_;
  std::unique_ptr<Application> application_;
  const Problem& problem_;
  Part part_;
  std::unique_ptr<Execution> execution_;
  std::unique_ptr<Recorder> recorder_;
  GridSteps steps_;
  runtime::StepWindows windows_;
  std::vector<double> start_;
  std::vector<double> initial_, end_;
  std::vector<std::string> notes_;
  int repetition_ = 0;
};

}  // namespace

int run_grid(int argc, char** argv, const std::string& name, const MakeApplication& make,
             const Kernels& kernels) {
  using runtime::Between;
  const auto with = [&](const Kind& kind) {
    return [make, kind, next_row = kernels.next_row](
               const runtime::Context& context) -> std::unique_ptr<runtime::Benchmark> {
      if (!context.computes()) return make_timing(context, make, kind);
      return std::make_unique<GridBenchmark>(context, make, kind, next_row);
    };
  };
  const auto cascade = with({kernels.dataflow, all_on_first});
  return runtime::run_program(argc, argv,
                              {name,
                               {{"base", Between::kDevices, with({make_base})},
                                {"base", Between::kHosts, with({make_base})},
                                {"throughput", Between::kDevices, with({make_throughput})},
                                {"throughput", Between::kHosts, with({make_throughput})},
                                {"dataflow", Between::kDevices, cascade, /*needs_device=*/false},
                                {"dataflow", Between::kStreams, cascade, /*needs_device=*/false}},
                               1});
}

}  // namespace fabricmark::stencil
