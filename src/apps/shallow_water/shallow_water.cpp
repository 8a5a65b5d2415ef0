// Shallow water: tides on an unstructured mesh of triangles by discontinuous Galerkin methods of order 0 to 2
// (Faj et al. 2023; Meyer 2024, chapter 5), with a part of the mesh on each rank.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/shallow_water/accuracy.hpp"
#include "apps/shallow_water/balance.hpp"
#include "apps/shallow_water/emulated_device.hpp"
#include "apps/shallow_water/gather.hpp"
#include "apps/shallow_water/key.hpp"
#include "apps/shallow_water/simulation.hpp"
#include "apps/shallow_water/water_steps.hpp"
#include "apps/shallow_water/work.hpp"
#include "apps/shallow_water/worst.hpp"
#include "base/error.hpp"
#include "benchmarks/common/digest.hpp"
#include "device/element.hpp"
#include "runtime/run.hpp"
#include "transport/registry.hpp"

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
        local_(checked_local(context, kind)),
        start_(start()),
        plan_(plan()),
        execution_(kind.make(context, problem_, local_)),
        simulation_(context, problem_, basis_, local_, *execution_, plan_, start_.key),
        steps_(context, problem_, basis_, local_, *execution_, simulation_, plan_),
        windows_(ranks_, steps_, context.repetitions(), plan_.first, plan_.count),
        field_(basis_.modes(), local_.own()) {}

  void prepare(int repetition) override {
    repetition_ = repetition;
    execution_->set_counting(true);
    execution_->write(start_.field, steps_.offset(windows_.bits()));
    execution_->write_outflow(start_.outflow);
    initial_ = start_.field;
    execution_->read(initial_);  // as the device's numbers hold it
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.aside([&] { simulation_.begin(repetition_ >= 0, start_.volume_at_start); });
    windows_.run(regions, "steps", repetition_);
    regions.aside([&] {
      execution_->read(field_);
      simulation_.end();
      outflow_ = execution_->outflow();
    });
  }

  void inject(const runtime::Fault& fault) override {
    if (transport::is_message_fault(fault)) {  // the transport makes it
      if (ranks_.size() > 1) return;
      throw bad_use("a single rank has no messages to corrupt",
                    "use more ranks, or element, scale, zeros or stale");
    }
    if (fault.target == "inflow" && problem_.has_inflow) return balance().corrupt_inflow(outflow_);
    if (!fault.target.empty() && fault.target != "xi") {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target),
                    problem_.has_inflow ? "use xi or inflow" : "use xi");
    }
    const std::size_t own = local_.own();
    const auto elevations = [&](Field& field) { return std::span(field.values).first(own); };
    // The element that is changed is the highest one, which shows most.
    const std::span<double> values = elevations(field_);
    const auto highest = std::ranges::max_element(values, {}, [](double value) { return std::abs(value); });
    std::swap(values[own / 2], *highest);
    const double epsilon = device::epsilon_of(context_.parameters().text("data_type"));
    constexpr double kOfElement = 10;
    runtime::corrupt<double>(values, elevations(initial_), fault.kind, kOfElement * epsilon);
    if (fault.kind != runtime::Fault::Kind::kStale) std::swap(values[own / 2], *highest);
    execution_->write(field_, 0);
    execution_->read(field_);
    windows_.replace_end(field_.values);
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    const Balance now = balance();
    std::vector<runtime::Verdict> verdicts{now.mass_verdict(initial_, field_, start_.volume_at_start)};
    if (problem_.has_inflow) verdicts.push_back(now.inflow_verdict());
    std::ranges::copy(windows_.check(), std::back_inserter(verdicts));
    if (ranks_.size() > 1) verdicts.push_back(common::halo_verdict(ranks_, execution_->halo_sums()));
    return verdicts;
  }

  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts = validate_repetition();
    if (problem_.is_still) {
      verdicts.push_back(elevation_verdict());
      verdicts.push_back(velocity_verdict());
    }
    describe();
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const auto steps = static_cast<double>(plan_.count);
    const double cells = static_cast<double>(local_.own()) * steps;
    return {runtime::cell_steps("steps", cells), runtime::bandwidth("steps", cells * bytes_of_step()),
            runtime::performance("steps", cells * flops_of_step(basis_.order()))};
  }

  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions) const override {
    return execution_->derive(regions, "steps", static_cast<double>(plan_.count));
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes = execution_->notes();
    notes.insert(notes.end(), notes_.begin(), notes_.end());
    return notes;
  }

 private:
  /// One rank cuts the mesh, as METIS is not made for threads.
  static std::vector<std::int32_t> parts_of(runtime::Communicator& ranks, const mesh::Mesh& mesh) {
    std::vector<std::int32_t> parts;
    if (ranks.is_root()) parts = mesh::partition(mesh, ranks.size());
    return all_elements(ranks, parts).front();
  }

  [[nodiscard]] LocalMesh checked_local(const runtime::Context& context, const Kind& kind) const {
    if (!context.computes()) {
      throw bad_use("nothing says what the kernels of shallow water take on a described board",
                    "leave out --timing-only");
    }
    LocalMesh local =
        local_mesh(problem_.mesh, parts_of(ranks_, problem_.mesh), ranks_.rank(), kind.multiple(context));
    if (problem_.has_inflow) std::ranges::replace(local.codes, kRiverCode, kInflowCode);
    const std::size_t most = context.parameters().count("partition_elements");
    if (most > 0 && local.own() + local.received > most) {
      throw bad_use(fmt::format("the part of rank {} has {} elements and gets {}, which do not fit {}",
                                ranks_.rank(), local.own(), local.received, most),
                    "use more ranks, a smaller mesh or more --partition-elements");
    }
    const auto elements = static_cast<double>(local.stride);
    context.plan_memory({{"own_elements", static_cast<double>(local.padded)}, {"all_elements", elements}});
    const auto numbers = static_cast<double>(kUnknowns * basis_.modes());
    constexpr double kHostFields = 10;  // of own elements, and of the whole mesh in checks
    context.require_memory({.host_bytes = kHostFields * numbers * sizeof(double) * elements}, "mesh");
    return local;
  }

  /// The bytes that a step of an element reads and writes, each array once a stage.
  [[nodiscard]] double bytes_of_step() const {
    const double number =
        context_.parameters().text("data_type") == "double" ? sizeof(double) : sizeof(float);
    const int numbers = kUnknowns * basis_.modes();
    double bytes = 0;
    for (const Stage& stage : stages_of(basis_.order())) {
      bytes += number * ((stage.keep > 0 ? 3 : 2) * numbers + LocalMesh::kGeometry);
      bytes += LocalMesh::kSides * sizeof(std::int32_t);
    }
    return bytes;
  }

  /// The state that the run begins with: that of the case, or of a checkpoint.
  [[nodiscard]] Checkpoint start() const {
    Checkpoint start{.key = key_of(context_.parameters(), problem_.mesh)};
    const std::string& file = context_.parameters().text("restart");
    if (file == "none") {
      start.field = project(problem_, basis_, local_.elements);
      start.outflow.assign(local_.own(), 0.0);
      start.volume_at_start = ranks_.all_reduce_sum(volume(local_, start.field));
      return start;
    }
    start = read_checkpoint(file, start.key);
    Field outflow(1, start.field.elements);
    std::ranges::copy(start.outflow, outflow.values.begin());
    start.field = part_of(start.field, local_.elements);
    const Field own = part_of(outflow, local_.elements);
    start.outflow.assign(own.values.begin(), own.values.begin() + static_cast<std::ptrdiff_t>(local_.own()));
    return start;
  }

  [[nodiscard]] Steps plan() const {
    const runtime::Parameters& parameters = context_.parameters();
    const bool goes_on = parameters.text("restart") != "none";
    double dt = goes_on ? start_.dt : parameters.number("dt");
    if (dt == 0) dt = parameters.number("cfl") * longest_step();
    const double hours = parameters.number("hours");
    const double seconds = hours > 0 ? hours * kSecondsPerHour : problem_.seconds;
    std::int64_t count = parameters.integer("steps");
    constexpr std::int64_t kDefault = 100;
    if (count == 0 && seconds > 0) {
      constexpr double kRounding = 1e-6;
      count = static_cast<std::int64_t>(std::ceil(seconds / dt - kRounding));
      if (parameters.number("dt") == 0 && !goes_on) dt = seconds / static_cast<double>(count);
    }
    if (count == 0) count = kDefault;
    if (count <= start_.step) {
      throw bad_use(
          fmt::format("the checkpoint is of step {}, and the run ends with step {}", start_.step, count),
          "give more --steps or --hours");
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 4;  // kernels count stages
    if (count > kMost) {
      throw bad_use(fmt::format("a run of {} steps is too long", count),
                    fmt::format("make it of at most {}, and go on with --restart", kMost));
    }
    return {.first = start_.step, .count = count - start_.step, .dt = dt};
  }

  /// At the start, of all ranks [s].
  [[nodiscard]] double longest_step() const {
    double shortest = std::numeric_limits<double>::infinity();
    for (std::size_t place = 0; place < local_.own(); ++place) {
      shortest = std::min(shortest, state_of(problem_, basis_, local_, start_.field, place).seconds);
    }
    return -ranks_.all_reduce_max_number(-shortest);
  }

  [[nodiscard]] Balance balance() const {
    return {context_, basis_, problem_, local_, outflow_, plan_.dt, plan_.first + plan_.count};
  }
  [[nodiscard]] runtime::Verdict elevation_verdict() const {
    runtime::Verdict verdict{
        .name = "elevation at rest", .measure = "largest change [m]", .checked = local_.own()};
    verdict.threshold = basis_.order() == 0 ? 0 : 1e-15;
    const std::size_t count = static_cast<std::size_t>(basis_.modes()) * local_.own();
    for (std::size_t i = 0; i < count; ++i) {
      keep_larger(verdict, std::abs(field_.values[i] - initial_.values[i]), i);
    }
    return verdict;
  }
  [[nodiscard]] runtime::Verdict velocity_verdict() const {
    runtime::Verdict verdict{
        .name = "velocity at rest", .measure = "largest [m^2/s]", .checked = local_.own()};
    verdict.threshold = 1e-14;
    const std::size_t count = static_cast<std::size_t>(basis_.modes()) * local_.own();
    for (std::size_t i = count; i < field_.values.size(); ++i)
      keep_larger(verdict, std::abs(field_.values[i]), i);
    return verdict;
  }
  void keep_larger(runtime::Verdict& verdict, double error, std::size_t place) const {
    if (error <= verdict.error) return;
    verdict.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    const auto element = local_.elements[place % local_.own()];
    verdict.worst = {fmt::format("element {}", element + 1), initial_.values[place], field_.values[place]};
  }

  /// What a reader of the result needs.
  void describe() {
    const double end = static_cast<double>(plan_.first + plan_.count) * plan_.dt;
    notes_ = {
        fmt::format("{} elements, steps {} to {} of {:.6g} s, {:.6g} h in all", problem_.mesh.element_count(),
                    plan_.first, plan_.first + plan_.count, plan_.dt, end / kSecondsPerHour),
        windows_.note(), common::digest_note(ranks_, "the field", digest())};
    if (!problem_.solution) return;
    const Errors errors = errors_of(ranks_, problem_, basis_, local_, field_, end);
    notes_.push_back(
        fmt::format("relative errors: elevation L2 {:.6g}, depth L1 {:.6g}, depth of means L1 {:.6g}",
                    errors.elevation_l2, errors.depth_l1, errors.depth_of_means_l1));
  }
  /// The same for the same bits, however the mesh lies on ranks.
  [[nodiscard]] std::uint64_t digest() const {
    std::uint64_t sum = 0;
    const std::size_t columns = problem_.mesh.element_count();
    for (std::size_t i = 0; i < field_.values.size(); ++i) {
      const auto element = static_cast<std::size_t>(local_.elements[i % local_.own()]);
      sum += common::digest_of_element(field_.values[i], i / local_.own(), element, columns);
    }
    return sum;
  }

  const runtime::Context& context_;
  runtime::Communicator& ranks_;
  Basis basis_;
  Problem problem_;
  LocalMesh local_;
  Checkpoint start_;
  Steps plan_;
  std::unique_ptr<Execution> execution_;
  Simulation simulation_;
  WaterSteps steps_;
  runtime::StepWindows windows_;
  Field initial_, field_;
  std::vector<double> outflow_;
  std::vector<std::string> notes_;
  int repetition_ = 0;
};

}  // namespace

}  // namespace fabricmark::shallow_water

int main(int argc, char** argv) {
  using namespace fabricmark;
  namespace own = shallow_water;
  using runtime::Between;
  const auto with = [](const own::Kind& kind) {
    return [kind](const runtime::Context& context) {
      return std::make_unique<own::ShallowWater>(context, kind);
    };
  };
  const auto dataflow = [](own::MakeDevice make) {
    return [make](const runtime::Context& context) -> std::unique_ptr<runtime::Benchmark> {
      if (!context.computes()) return own::make_dataflow_timing(context, make);
      own::require_elements(context);
      const auto execution = [make](const auto&... of) { return own::make_dataflow(of..., make); };
      return std::make_unique<own::ShallowWater>(context, own::Kind{own::dataflow_multiple, execution});
    };
  };
  const auto base = with({own::base_multiple, own::make_base});
  const auto throughput = with({own::throughput_multiple, own::make_throughput});
  return runtime::run_program(
      argc, argv,
      {"shallow_water",
       {{"base", Between::kDevices, base},
        {"base", Between::kHosts, base},
        {"throughput", Between::kDevices, throughput},
        {"throughput", Between::kHosts, throughput},
        {"dataflow", Between::kDevices, dataflow(own::make_device_on_host), /*needs_device=*/false},
        {"dataflow", Between::kStreams, dataflow(own::make_device_on_links), /*needs_device=*/false},
        {"dataflow", Between::kEngines, dataflow(own::make_device_on_engine), /*needs_device=*/false,
         /*make_on_card=*/dataflow(own::make_device_on_card)}},
       1});
}
