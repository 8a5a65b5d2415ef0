// FFT: complex one-dimensional transforms, forward and inverse; a batch on each rank (Meyer 2024,
// section 3.1.4), or one long vector over all ranks (HPC Challenge's MPIFFT).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "benchmarks/fft/check.hpp"
#include "benchmarks/fft/distributed_check.hpp"
#include "benchmarks/fft/random_sum.hpp"
#include "benchmarks/fft/transform.hpp"
#include "fabric/transport.hpp"
#include "runtime/run.hpp"

namespace fabricmark::fft {

namespace {

constexpr std::array<Direction, 2> kDirections{Direction::kForward, Direction::kInverse};

bool is_distributed(const runtime::Context& context) {
  return context.parameters().text("scope") == "distributed";
}

/// Faults of messages are made by the transport, on all of them: refuses early what it cannot make.
void check_message_fault(const runtime::Context& context) {
  const std::optional<runtime::Fault>& fault = context.conditions().fault;
  if (!is_distributed(context) || !fault || !fabric::is_message_fault(*fault)) return;
  if (!fault->target.empty()) {
    throw bad_use(
        fmt::format("--inject-fault names '{}', but spoils messages of both directions", fault->target),
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
  explicit TypedFft(const runtime::Context& context)
      : ranks_(context.ranks()),
        log_size_(context.parameters().count("log_size")),
        is_distributed_(is_distributed(context)),
        threads_(runtime::host_threads(context.ranks())),
        points_(checked_points(context)),
        transform_(make_transform(context)),
        inputs_{context.host_array<std::complex<T>>(points_), context.host_array<std::complex<T>>(points_)},
        results_{context.host_array<std::complex<T>>(points_), context.host_array<std::complex<T>>(points_)} {
  }

  void prepare(int repetition) override {
    repetition_ = repetition;
    for (const Direction direction : kDirections) {
      const std::uint64_t seed = input_seed(repetition, direction);
      parallel_for(points_, threads_, kWorthAThread, [&](std::size_t begin, std::size_t end) {
        fill_input<T>(input(direction).span().subspan(begin, end - begin), seed, first_point() + begin);
        std::ranges::fill(result(direction).span().subspan(begin, end - begin), kPoison);
      });
    }
    transform_->poison();
  }

  void execute(runtime::Laps& laps) override {
    laps.time("host_to_device", [&] { transform_->write_input(input(Direction::kForward).data()); });
    for (const Direction direction : kDirections) {
      if (direction == Direction::kInverse) {
        // Nothing of the forward transform is left on the device.
        transform_->write_input(input(direction).data());
        transform_->poison();
      }
      laps.time(name(direction), [&] { transform_->run(direction); });
      const auto read = [&] { transform_->read_output(result(direction).data()); };
      if (direction == Direction::kForward) {
        laps.time("device_to_host", read);
      } else {
        read();
      }
    }
  }

  void inject(const runtime::Fault& fault) override {
    if (!fault.target.empty() && fault.target != "forward" && fault.target != "inverse") {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target), "use forward or inverse");
    }
    if (is_distributed_ && fabric::is_message_fault(fault)) return;  // the transport makes it
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
    transform_->write_output(changed.data());
    transform_->read_output(changed.data());
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    const std::size_t points = std::size_t{1} << log_size_;
    if (!sums_) {
      sums_.emplace(log_size_, is_distributed_ ? first_point() : 0, is_distributed_ ? points_ : points);
    }
    std::vector<runtime::Verdict> verdicts;
    for (const Direction direction : kDirections) {
      SumVerdict<T> verdict(*sums_, direction);
      const std::span<const std::complex<T>> values = result(direction).span();
      const std::uint64_t seed = input_seed(repetition_, direction);
      if (is_distributed_) {
        // Every rank knows the whole input, so that no check depends on another rank's word.
        verdict.add([&](std::size_t i) { return input_point<T>(seed, i); }, values, 0, threads_);
      } else {
        add_batch<T>(verdict, input(direction).span(), values, log_size_, threads_);
      }
      verdicts.push_back(verdict.verdict());
    }
    return verdicts;
  }

  std::vector<runtime::Verdict> validate() override {
    std::vector<runtime::Verdict> verdicts;
    for (const Direction direction : kDirections) {
      const std::span<const std::complex<T>> values = result(direction).span();
      const std::vector<runtime::Verdict> found =
          is_distributed_ ? check_distributed<T>(ranks_, values, log_size_, direction, repetition_)
                          : check_batch<T>(input(direction).span(), values, log_size_, direction, threads_);
      verdicts.insert(verdicts.end(), found.begin(), found.end());
    }
    return verdicts;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    constexpr double kOperations = 5;  // times n log2 n
    const double bytes = static_cast<double>(points_) * sizeof(std::complex<T>);
    const double work = kOperations * static_cast<double>(points_) * static_cast<double>(log_size_);
    std::vector<runtime::Metric> metrics;
    for (const Direction direction : kDirections) {
      metrics.push_back({"performance",
                         {{"operation", name(direction)}},
                         name(direction),
                         "GFLOP/s",
                         1e-9,
                         runtime::Better::kHigher,
                         work,
                         "FLOP"});
      metrics.push_back(runtime::bandwidth(name(direction), 2 * bytes));
    }
    metrics.push_back(runtime::bandwidth("host_to_device", bytes));
    metrics.push_back(runtime::bandwidth("device_to_host", bytes));
    return metrics;
  }

 private:
  static std::size_t checked_points(const runtime::Context& context) {
    check_message_fault(context);
    const std::size_t batch = context.parameters().count("batch");
    if (is_distributed(context)) {
      require_distributed(context);
    } else {
      require_batch(context, 1, "log_size");
      require_batch(context, batch, "batch");
    }
    return local_points(context);
  }

  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr std::complex<T> kPoison{kNan, kNan};
  static constexpr double kHostArrays = 4;    // two inputs and two results
  static constexpr double kDeviceArrays = 2;  // input and output

  static void require_batch(const runtime::Context& context, std::size_t batch, const char* parameter) {
    const double points = std::exp2(context.parameters().integer("log_size"));
    const double bytes = static_cast<double>(batch) * points * sizeof(std::complex<T>);
    const Scratch scratch = batch_scratch(context, sizeof(std::complex<T>), batch);
    const int references = shared_threads(batch, runtime::host_threads(context.ranks())).side_by_side;
    const double checks = RandomSum<T>::bytes(points, points) + references * Reference::bytes(points);
    context.require_memory({.host_bytes = kHostArrays * bytes + checks,
                            .device_bytes = kDeviceArrays * bytes + scratch.bytes,
                            .largest_buffer_bytes = scratch.largest},
                           parameter);
  }

  static void require_distributed(const runtime::Context& context) {
    const double points = std::exp2(context.parameters().integer("log_size"));
    const double bytes = points / context.ranks().size() * sizeof(std::complex<T>);
    constexpr double kMore = 3;  // what is sent, what has arrived, and the twiddles between the steps
    const double check = RandomSum<T>::bytes(points, points / context.ranks().size());
    context.require_memory({.host_bytes = kHostArrays * bytes + check,
                            .device_bytes = (kDeviceArrays + kMore) * bytes,
                            .largest_buffer_bytes = bytes},
                           "log_size");
  }

  static std::unique_ptr<Transform> make_transform(const runtime::Context& context) {
    constexpr std::size_t kBytes = sizeof(std::complex<T>);
    if (is_distributed(context)) return make_distributed(context, kBytes);
    if (context.variant() == "base") return make_base(context, kBytes);
    if (!is_four_step(context)) return make_stages(context, kBytes);
    if (context.device().info().device_class != device::DeviceClass::kCpu) {
      throw bad_use("form = four-step is for CPUs only", "use --form stages");
    }
    return make_four_step(context, kBytes);
  }

  /// Number of this rank's first point among those of all.
  [[nodiscard]] std::uint64_t first_point() const {
    return static_cast<std::uint64_t>(ranks_.rank()) * points_;
  }
  device::HostArray<std::complex<T>>& input(Direction direction) {
    return inputs_[direction == Direction::kForward ? 0 : 1];
  }
  device::HostArray<std::complex<T>>& result(Direction direction) {
    return results_[direction == Direction::kForward ? 0 : 1];
  }

  runtime::Communicator& ranks_;
  std::size_t log_size_;
  bool is_distributed_;
  int threads_;  // for inputs and checks
  std::size_t points_;
  std::unique_ptr<Transform> transform_;
  std::array<device::HostArray<std::complex<T>>, 2> inputs_;   // [direction]
  std::array<device::HostArray<std::complex<T>>, 2> results_;  // [direction]
  std::optional<RandomSum<T>> sums_;                           // made for the first check
  int repetition_ = 0;
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context) {
  if (context.parameters().text("data_type") == "double") return std::make_unique<TypedFft<double>>(context);
  return std::make_unique<TypedFft<float>>(context);
}

}  // namespace

}  // namespace fabricmark::fft

int main(int argc, char** argv) {
  return fabricmark::runtime::run_program(argc, argv, {"fft", fabricmark::fft::make});
}
