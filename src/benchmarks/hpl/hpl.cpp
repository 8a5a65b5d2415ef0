// HPL: L U = A without pivoting on the devices of all ranks, and the solution of A x = b from it
// (Meyer 2024, section 4.1.3).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "benchmarks/common/digest.hpp"
#include "benchmarks/hpl/execution.hpp"
#include "benchmarks/hpl/faults.hpp"
#include "benchmarks/hpl/matrix.hpp"
#include "benchmarks/hpl/probes.hpp"
#include "benchmarks/hpl/solution.hpp"
#include "benchmarks/hpl/triangular.hpp"
#include "runtime/run.hpp"
#include "transport/registry.hpp"

namespace fabricmark::hpl {

namespace {

/// The matrix is of type T. One repetition writes it to the device, factorises it there, and solves on the
/// host; everything that holds a result is NaN before.
template <typename T>
class TypedHpl : public runtime::Benchmark {
 public:
  TypedHpl(const runtime::Context& context, MakeExecution make_execution)
      : fault_(context.fault()),
        computes_(context.computes()),
        clock_(context.simulated_clock()),
        refines_(is_refined(context.parameters())),
        is_mixed_(context.parameters().text("data_type") == "mixed"),
        layout_(checked_layout(context)),
        rounding_(is_mixed_ ? Rounding::of_mixed() : Rounding::of<T>(layout_.size)),
        execution_(make_execution(context, layout_, host_bytes(context, layout_))),
        vectors_(context.ranks(), layout_, context.timeout_seconds()),
        values_(context.host_array<T>(layout_.elements())),
        factors_(context.host_array<T>(layout_.elements())),
        exact_values_(refines_ && !kIsDouble ? layout_.elements() : 0),
        x_(layout_.local_columns()),
        solver_(vectors_, factors_.data()) {}

  void prepare(int repetition) override {
    repetition_ = repetition;
    system_ = make_system(values_.data());
    if (refines_) {
      // In double: the device's matrix is this one, rounded.
      exact_system_ = system_;
      if constexpr (!kIsDouble) exact_system_ = make_system(exact_values_.data());
      exact_system_.precondition = [this](std::span<double> vector) { solver_.solve(vector); };
    }
    parallel_fill(factors_.span(), static_cast<T>(kNan), vectors_.threads());
    std::ranges::fill(x_, kNan);
    refined_ = x_;
    execution_->poison();
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.time("host_to_device", [&] { execution_->write_matrix(values_.data()); });
    regions.time("lu", [&] { execution_->factorize(); });
    regions.time("solve", [&] { read_and_solve(); });
    if (refines_) regions.time("refine", [&] { improve(); });
  }

  void inject(const runtime::Fault& fault) override {
    if (is_of_solution(fault)) {
      const bool is_of_refined = fault.target == "refined";
      const std::span<double> x = std::span(is_of_refined ? refined_ : x_).first(real_columns(layout_));
      const std::vector<double> before(x.size(), kNan);
      const double epsilon = is_of_refined ? device::kEpsilon<double> : rounding_.epsilon;
      runtime::corrupt<double>(x, before, fault.kind, kThousand / 100 * epsilon);
    } else if (!transport::is_message_fault(fault)) {
      FactorFault<T>(layout_, factors_.span(), values_.span(), repetition_, rounding_.epsilon).make(fault);
    }
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    if (fault_ && fault_->repetition == repetition_) take_corrupted_factors();
    return check(Probes<T>::kQuick);
  }
  std::vector<runtime::Verdict> validate() override {
    if (fault_ && !fault_->repetition) take_corrupted_factors();
    digest_ = digest_of_factors();
    return check(Groups::kMost);
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const double share = 1.0 / vectors_.ranks().size();
    const auto bytes = static_cast<double>(layout_.elements() * sizeof(T));
    std::vector<runtime::Metric> metrics{{"performance",
                                          {{"operation", "lu"}},
                                          "lu",
                                          "GFLOP/s",
                                          1e-9,
                                          runtime::Better::kHigher,
                                          lu_operations() * share,
                                          "FLOP"},
                                         {"time", {{"operation", "solve"}}, "solve", "s"},
                                         runtime::bandwidth("host_to_device", bytes)};
    metrics[1].better = runtime::Better::kLower;
    if (!refines_) return metrics;
    metrics.push_back({"time", {{"operation", "refine"}}, "refine", "s"});
    metrics.back().better = runtime::Better::kLower;
    return metrics;
  }

  [[nodiscard]] std::vector<runtime::DerivedMetric> derive(
      const std::map<std::string, runtime::RegionSeconds>& regions) const override {
    runtime::RegionSeconds seconds{regions.at("lu").best + regions.at("solve").best,
                                   regions.at("lu").median + regions.at("solve").median};
    std::vector<runtime::DerivedMetric> metrics{rate("lu+solve", seconds)};
    metrics[0].formula = "HPL's count: (2/3 n^3 + 3/2 n^2) / (lu + solve)";
    if (refines_) {
      seconds.best += regions.at("refine").best;
      seconds.median += regions.at("refine").median;
      metrics.push_back(rate("lu+solve+refine", seconds));
      metrics.back().formula = "HPL-MxP's count: (2/3 n^3 + 3/2 n^2) / (lu + solve + refine)";
      const auto iterations = static_cast<double>(refinement_.iterations);
      metrics.push_back(
          {.name = "refinement_iterations", .unit = "iterations", .best = iterations, .median = iterations});
      metrics.back().better = runtime::Better::kLower;
      metrics.back().formula = "of GMRES in the last repetition; HPL-MxP allows 50";
    }
    if (const std::optional<double> hidden = exchange_hidden()) {
      metrics.push_back(
          {.name = "exchange_hidden", .unit = "%", .best = 100 * *hidden, .median = 100 * *hidden});
      metrics.back().formula = "share of the exchanges during which an inner kernel ran, on the worst rank";
    }
    return metrics;
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes{
        "lu is timed alone, from the matrix on the devices to the factors there, and counts 2/3 n^3; solve "
        "brings the factors to the hosts and solves there; no pivoting, as the matrix is diagonally "
        "dominant"};
    if (is_mixed_) {
      notes.emplace_back(
          "lu is of float, and its updates multiply halves: eps of the factors' verdicts is that of half, "
          "2^-10");
    }
    if (layout_.size % layout_.block != 0) {
      notes.push_back(fmt::format("padded to {} rows, which are worked on but not counted",
                                  layout_.blocks() * layout_.block));
    }
    if (digest_) notes.push_back(common::digest_note(vectors_.ranks(), "L and U", *digest_));
    return notes;
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr const char* kHostsSolve = "the hosts solve: no system says how fast";
  static constexpr bool kIsDouble = std::is_same_v<T, double>;

  static Layout checked_layout(const runtime::Context& context) {
    const runtime::Parameters& parameters = context.parameters();
    const Layout layout{.size = parameters.count("size"),
                        .block = parameters.count("block_size"),
                        .grid = common::make_grid(context.ranks().size(), parameters.count("grid_rows")),
                        .rank = context.ranks().rank()};
    check_fault(context, layout.grid);
    return layout;
  }

  static double host_bytes(const runtime::Context& context, const Layout& layout) {
    constexpr double kVectors = kRestart + 12;
    const double vectors = kVectors * static_cast<double>(layout.local_columns()) * sizeof(double);
    const bool keeps_exact = !kIsDouble && is_refined(context.parameters());
    const double matrices =
        static_cast<double>(layout.elements()) * (2 * sizeof(T) + (keeps_exact ? sizeof(double) : 0));
    return matrices + vectors + Probes<T>::bytes(layout);
  }

  /// Fills `values` with the matrix of the repetition, rounded to U, and makes the system whose solution is
  /// ones.
  template <typename U>
  System make_system(U* values) {
    const Matrix<U> matrix(vectors_, repetition_);
    matrix.fill(values);
    RowSums sums = matrix.row_sums(values);
    return {.multiply = [matrix](std::span<const double> x) { return matrix.multiply(x); },
            .precondition = {},
            .right_side = std::move(sums.plain),
            .norm = vectors_.largest(sums.absolute)};
  }

  /// Corrupted factors go the way of right ones: to the device, back, and into the solution. Collective.
  void take_corrupted_factors() {
    if (transport::is_message_fault(*fault_) || is_of_solution(*fault_)) return;
    execution_->write_matrix(factors_.data());
    parallel_fill(factors_.span(), static_cast<T>(kNan), vectors_.threads());
    read_and_solve();
    if (refines_) improve();
  }

  std::vector<runtime::Verdict> check(std::size_t most_groups) {
    std::vector<runtime::Verdict> verdicts = check_solution(
        vectors_, system_, {x_, rounding_.epsilon, {}, is_mixed_ ? 2 * rounding_.of_element : 0});
    Probes<T> probes(vectors_, factors_.data(), repetition_, rounding_);
    for (runtime::Verdict& verdict :
         probes.check(layout_.size > Groups::kMost ? most_groups : Groups::kMost)) {
      verdicts.push_back(std::move(verdict));
    }
    if (!refines_) return verdicts;
    constexpr double kDouble = device::kEpsilon<double>;
    for (runtime::Verdict& verdict :
         check_solution(vectors_, exact_system_, {refined_, kDouble, "refined "})) {
      verdicts.push_back(std::move(verdict));
    }
    return verdicts;
  }

  void read_and_solve() {
    execution_->read_factors(factors_.data());
    clock_.give_up(kHostsSolve);
    if (!computes_) return;
    x_ = system_.right_side;
    solver_.solve(x_);
  }
  void improve() {
    clock_.give_up(kHostsSolve);
    if (!computes_) return;
    System stored = exact_system_;
    const double* values = exact_values_.data();
    if constexpr (kIsDouble) values = values_.data();
    stored.multiply = [this, values](std::span<const double> x) {
      return Matrix<double>(vectors_, repetition_).multiply_stored(values, x);
    };
    refined_ = x_;
    refinement_ = refine(vectors_, stored, refined_);
  }

  /// Of this rank's part, without the padding.
  [[nodiscard]] std::uint64_t digest_of_factors() const {
    const auto of_rows = [&](std::size_t begin, std::size_t end) {
      std::uint64_t digest = 0;
      for (std::size_t row = begin; row < end; ++row) {
        const std::size_t global_row = layout_.global_row(row);
        if (global_row >= layout_.size) continue;
        const T* const values = factors_.data() + row * layout_.local_columns();
        for_each_run(layout_, 0, real_columns(layout_), [&](const Run& run) {
          for (std::size_t i = 0; i < run.count; ++i) {
            digest +=
                common::digest_of_element(values[run.local + i], global_row, run.global + i, layout_.size);
          }
        });
      }
      return digest;
    };
    return parallel_sum(layout_.local_rows(), vectors_.threads(), 1, of_rows);
  }

  [[nodiscard]] double lu_operations() const {
    const auto n = static_cast<double>(layout_.size);
    return 2 * n * n * n / 3;
  }
  [[nodiscard]] runtime::DerivedMetric rate(const std::string& operation,
                                            const runtime::RegionSeconds& seconds) const {
    const auto n = static_cast<double>(layout_.size);
    const double operations = 1e-9 * (lu_operations() + 3 * n * n / 2);
    return {.name = "performance",
            .axes = {{"operation", operation}},
            .unit = "GFLOP/s",
            .best = operations / seconds.best,
            .median = operations / seconds.median};
  }
  /// Of all ranks that exchange anything the smallest; absent where none says.
  [[nodiscard]] std::optional<double> exchange_hidden() const {
    std::optional<double> least;
    const std::optional<double> own = execution_->exchange_hidden();
    for (const auto& part : vectors_.ranks().all_gather_numbers({own.value_or(kNan)})) {
      if (!std::isnan(part.at(0))) least = std::min(least.value_or(1), part.at(0));
    }
    return least;
  }

  std::optional<runtime::Fault> fault_;
  bool computes_;  ///< else there is no matrix
  runtime::SimulatedClock& clock_;
  int repetition_ = 0;  ///< whose matrix this is
  bool refines_;
  bool is_mixed_;
  Layout layout_;
  Rounding rounding_;
  std::unique_ptr<Execution> execution_;
  Vectors vectors_;
  device::HostArray<T> values_;
  device::HostArray<T> factors_;
  device::HostArray<double> exact_values_;  ///< where T is not double and the solution is refined
  std::vector<double> x_;
  std::vector<double> refined_;
  TriangularSolver<T> solver_;
  System system_;        ///< as the device has it
  System exact_system_;  ///< not rounded to T
  Refinement refinement_;
  std::optional<std::uint64_t> digest_;  ///< of this rank's part of the last factors
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context, MakeExecution execution) {
  const bool is_double = context.parameters().text("data_type") == "double";
  if (is_double) return std::make_unique<TypedHpl<double>>(context, execution);
  return std::make_unique<TypedHpl<float>>(context, execution);
}

/// An entry of the table: these executions for both types.
auto with(MakeExecution execution) {
  return [=](const runtime::Context& context) { return make(context, execution); };
}

}  // namespace

}  // namespace fabricmark::hpl

int main(int argc, char** argv) {
  using namespace fabricmark::hpl;
  using fabricmark::runtime::Between;
  constexpr int kRepetitions = 3;
  return fabricmark::runtime::run_program(
      argc, argv,
      {"hpl",
       {{"base", Between::kDevices, with(make_base)},
        {"throughput", Between::kDevices, with(make_throughput)},
        {"dataflow", Between::kDevices, with(make_over_transport)},
        {"dataflow", Between::kStreams, with(make_over_links), /*needs_device=*/false},
        {"dataflow", Between::kEngines, with(make_over_engines), /*needs_device=*/false,
         /*make_on_card=*/with(make_on_cards)},
        {"channels", Between::kStreams, with(make_over_external_channels)}},
       kRepetitions});
}
