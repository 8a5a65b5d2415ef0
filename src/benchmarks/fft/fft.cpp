// FFT: complex one-dimensional transforms, forward and inverse; a batch on each rank (Meyer 2024,
// section 3.1.4), or one long vector over all ranks (HPC Challenge's MPIFFT).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "benchmarks/common/digest.hpp"
#include "benchmarks/fft/check.hpp"
#include "benchmarks/fft/distributed_check.hpp"
#include "benchmarks/fft/execution.hpp"
#include "benchmarks/fft/random_sum.hpp"
#include "runtime/run.hpp"
#include "transport/registry.hpp"

namespace fabricmark::fft {

namespace {

constexpr std::array<Direction, 2> kDirections{Direction::kForward, Direction::kInverse};

/// Faults of messages are made by the transport, on all of them: refuses early what it cannot make.
void check_message_fault(const runtime::Context& context) {
  const std::optional<runtime::Fault>& fault = context.fault();
  if (!is_distributed(context) || !fault || !transport::is_message_fault(*fault)) return;
  if (!fault->target.empty()) {
    throw bad_use(
        fmt::format("--inject-fault names '{}', but corrupts messages of both directions", fault->target),
        "leave out the target, as in lost@1");
  }
  const bool needs_two =
      fault->kind == runtime::Fault::Kind::kLate || fault->kind == runtime::Fault::Kind::kSwapped;
  if (context.ranks().size() == 1 && needs_two) {
    throw bad_use("one rank has a single message, which cannot be late or swapped", "use --ranks 2, or lost");
  }
}

/// One repetition transforms an input forward and another one inverse, each into an output that is NaN
/// before; every repetition has other inputs.
template <typename T>
class TypedFft : public runtime::Benchmark {
 public:
  TypedFft(const runtime::Context& context, MakeExecution make_execution)
      : ranks_(context.ranks()),
        log_size_(context.parameters().count("log_size")),
        is_distributed_(is_distributed(context)),
        computes_(context.computes()),
        threads_(runtime::host_threads(context.ranks())),
        points_(checked_points(context)),
        execution_(make_execution(context, {sizeof(std::complex<T>), host_bytes})),
        input_(context.host_array<std::complex<T>>(points_)),
        results_{context.host_array<std::complex<T>>(points_), context.host_array<std::complex<T>>(points_)} {
  }

  void prepare(int repetition) override {
    repetition_ = repetition;
    make_input(Direction::kForward);
    for (auto& result : results_) parallel_fill(result.span(), kPoison, threads_);
    execution_->poison();
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.time("host_to_device", [&] { execution_->write_input(input_.data()); });
    for (const Direction direction : kDirections) {
      if (direction == Direction::kInverse) {
        // Nothing of the forward transform is left on the device.
        if (computes_) make_input(direction);
        execution_->write_input(input_.data());
        execution_->poison();
      }
      regions.time(name(direction), [&] { execution_->run(direction); });
      if (is_distributed_ && direction == Direction::kInverse) execution_->time_exchange(regions);
      const auto read = [&] { execution_->read_output(result(direction).data()); };
      if (direction == Direction::kForward) {
        regions.time("device_to_host", read);
      } else {
        read();
      }
    }
  }

  void inject(const runtime::Fault& fault) override {
    if (!fault.target.empty() && fault.target != "forward" && fault.target != "inverse") {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target), "use forward or inverse");
    }
    if (is_distributed_ && transport::is_message_fault(fault)) return;  // the transport makes it
    device::HostArray<std::complex<T>>& changed =
        result(fault.target == "inverse" ? Direction::kInverse : Direction::kForward);
    const std::span<T> values(reinterpret_cast<T*>(changed.data()), 2 * points_);
    const std::vector<T> stale(2 * points_, kPoison.real());
    if (fault.kind == runtime::Fault::Kind::kElement) {
      // One that counts: the smallest could hide in the others' rounding errors.
      const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
      constexpr double kOfElement = 10;  // 1 + 1000 eps
      runtime::corrupt<T>(values.subspan(largest, 1), {}, fault.kind, kOfElement * device::kEpsilon<T>);
    } else {
      runtime::corrupt<T>(values, stale, fault.kind, device::kEpsilon<T>);
    }
    execution_->write_output(changed.data());
    execution_->read_output(changed.data());
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    const std::size_t points = std::size_t{1} << log_size_;
    if (!sums_) {
      sums_.emplace(log_size_, is_distributed_ ? first_point() : 0, is_distributed_ ? points_ : points,
                    threads_);
    }
    std::vector<runtime::Verdict> verdicts;
    for (const Direction direction : kDirections) {
      SumVerdict<T> verdict(*sums_, direction);
      const std::span<const std::complex<T>> values = result(direction).span();
      if (is_distributed_) {
        verdict.add(input_of(direction), values, 0, threads_);
      } else {
        add_batch<T>(verdict, input_of(direction), values, log_size_, threads_);
      }
      verdicts.push_back(verdict.verdict());
    }
    return verdicts;
  }

  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts;
    References references(std::size_t{1} << log_size_, shared_threads(transforms(), threads_));
    if (sums_) references.give(sums_->release());
    sums_.reset();
    digest_ = 0;
    for (const Direction direction : kDirections) {
      const std::span<const std::complex<T>> values = result(direction).span();
      digest_ += digest_of(direction, values);
      const std::vector<runtime::Verdict> found =
          is_distributed_ ? check_distributed<T>(references, input_of(direction), values, first_point(),
                                                 log_size_, direction)
                          : check_batch<T>(references, input_of(direction), values, log_size_, direction);
      verdicts.insert(verdicts.end(), found.begin(), found.end());
    }
    return verdicts;
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    if (!is_distributed_ || !computes_) return {};
    return {common::digest_note(ranks_, "both results", digest_)};
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    constexpr double kOperations = 5;  // times n log2 n
    const double bytes = static_cast<double>(points_) * sizeof(std::complex<T>);
    const double work = kOperations * static_cast<double>(points_) * static_cast<double>(log_size_);
    std::vector<runtime::Metric> metrics;
    for (const Direction direction : kDirections) {
      metrics.push_back(runtime::performance(name(direction), work));
      metrics.push_back(runtime::bandwidth(name(direction), 2 * bytes));
    }
    if (is_distributed_) metrics.push_back(runtime::bandwidth("exchange", bytes));
    metrics.push_back(runtime::bandwidth("host_to_device", bytes));
    metrics.push_back(runtime::bandwidth("device_to_host", bytes));
    return metrics;
  }

 private:
  static std::size_t checked_points(const runtime::Context& context) {
    check_message_fault(context);
    return local_points(context);
  }

  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr std::complex<T> kPoison{kNan, kNan};

  static double host_bytes(const runtime::Context& context, std::size_t batch) {
    constexpr double kArrays = 3;  // an input and two results
    const double points = std::exp2(context.parameters().integer("log_size"));
    if (is_distributed(context)) {
      const double own = points / context.ranks().size();
      return kArrays * own * sizeof(std::complex<T>) + RandomSum<T>::bytes(points, own);
    }
    const int references = shared_threads(batch, runtime::host_threads(context.ranks())).side_by_side;
    return kArrays * static_cast<double>(batch) * points * sizeof(std::complex<T>) +
           std::max(RandomSum<T>::bytes(points, points), references * Reference::bytes(points));
  }

  /// Number of this rank's first point among those of all.
  [[nodiscard]] std::uint64_t first_point() const {
    return static_cast<std::uint64_t>(ranks_.rank()) * points_;
  }
  /// Transforms that this rank has alone, or has a part of.
  [[nodiscard]] std::size_t transforms() const { return is_distributed_ ? 1 : points_ >> log_size_; }
  /// Of this rank's part of a result: the points are a row of a matrix for each direction.
  [[nodiscard]] std::uint64_t digest_of(Direction direction, std::span<const std::complex<T>> points) const {
    const std::size_t row = direction == Direction::kForward ? 0 : 1;
    const std::size_t columns = std::size_t{2} << log_size_;
    return parallel_sum(points.size(), threads_, kWorthAThread, [&](std::size_t begin, std::size_t end) {
      std::uint64_t digest = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t column = 2 * (first_point() + i);
        digest += common::digest_of_element(points[i].real(), row, column, columns) +
                  common::digest_of_element(points[i].imag(), row, column + 1, columns);
      }
      return digest;
    });
  }
  void make_input(Direction direction) {
    const std::uint64_t seed = input_seed(repetition_, direction);
    parallel_for(points_, threads_, kWorthAThread, [&](std::size_t begin, std::size_t end) {
      fill_input<T>(input_.span().subspan(begin, end - begin), seed, first_point() + begin);
    });
  }
  /// The points of what is transformed, from the first of this rank or of the vector of all ranks on. Made
  /// again, as there is one array for both directions; so no check depends on another rank's word either.
  [[nodiscard]] auto input_of(Direction direction) const {
    const std::uint64_t first = is_distributed_ ? 0 : first_point();
    return [seed = input_seed(repetition_, direction), first](std::size_t i) {
      return input_point<T>(seed, first + i);
    };
  }
  device::HostArray<std::complex<T>>& result(Direction direction) {
    return results_[direction == Direction::kForward ? 0 : 1];
  }

  runtime::Communicator& ranks_;
  std::size_t log_size_;
  bool is_distributed_;
  bool computes_;
  int threads_;  // for inputs and checks
  std::size_t points_;
  std::unique_ptr<Execution> execution_;
  device::HostArray<std::complex<T>> input_;                   // of the direction that is next
  std::array<device::HostArray<std::complex<T>>, 2> results_;  // [direction]
  std::optional<RandomSum<T>> sums_;                           // made for the first check
  std::uint64_t digest_ = 0;                                   // of this rank's part of both results
  int repetition_ = 0;
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context, MakeExecution execution) {
  const bool is_double = context.parameters().text("data_type") == "double";
  if (is_double) return std::make_unique<TypedFft<double>>(context, execution);
  return std::make_unique<TypedFft<float>>(context, execution);
}

/// An entry of the table: these executions for both types.
auto with(MakeExecution execution) {
  return [=](const runtime::Context& context) { return make(context, execution); };
}

}  // namespace

}  // namespace fabricmark::fft

int main(int argc, char** argv) {
  using namespace fabricmark::fft;
  using fabricmark::runtime::Between;
  return fabricmark::runtime::run_program(argc, argv,
                                          {"fft",
                                           {{"base", Between::kDevices, with(make_base)},
                                            {"throughput", Between::kDevices, with(make_throughput)},
                                            {"throughput", Between::kStreams, with(make_over_boards)},
                                            {"throughput", Between::kEngines, with(make_over_boards)}}});
}
