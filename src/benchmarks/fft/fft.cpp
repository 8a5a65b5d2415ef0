// FFT: complex one-dimensional transforms, forward and inverse; a batch on each rank (dissertation 000,
// section 3.1.4), or one long vector over all ranks (HPC Challenge's MPIFFT).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks/fft/check.hpp"
#include "benchmarks/fft/distributed_check.hpp"
#include "benchmarks/fft/transform.hpp"
#include "device/error.hpp"
#include "fabric/transport.hpp"
#include "harness/run.hpp"

namespace fabricmark::fft {

namespace {

constexpr std::array<Direction, 2> kDirections{Direction::kForward, Direction::kInverse};

bool is_distributed(const harness::Context& context) {
  return context.parameters().text("scope") == "distributed";
}

/// Faults of messages are made by the transport, on all of them: refuses early what it cannot make.
void check_message_fault(const harness::Context& context) {
  const std::optional<harness::Fault>& fault = context.conditions().fault;
  if (!is_distributed(context) || !fault || !fabric::is_message_fault(*fault)) return;
  if (!fault->target.empty()) {
    throw bad_use(
        fmt::format("--inject-fault names '{}', but spoils messages of both directions", fault->target),
        "leave out the target, as in lost@1");
  }
  const bool needs_two =
      fault->kind == harness::Fault::Kind::kLate || fault->kind == harness::Fault::Kind::kSwapped;
  if (context.ranks().size() == 1 && needs_two) {
    throw bad_use("one rank has a single message, which cannot be late or swapped", "use --ranks 2, or lost");
  }
}

/// One repetition transforms the same input forward and inverse, each into an output that is NaN before.
template <typename T>
class TypedFft : public harness::Benchmark {
 public:
  explicit TypedFft(const harness::Context& context)
      : ranks_(context.ranks()),
        log_size_(context.parameters().count("log_size")),
        is_distributed_(is_distributed(context)),
        points_(prepare(context)),
        transform_(make_transform(context)),
        input_(points_),
        poison_(points_),
        results_{device::HostArray<std::complex<T>>(points_), device::HostArray<std::complex<T>>(points_)} {}

  void generate() override {
    fill_input<T>(input_.span(), static_cast<std::uint64_t>(ranks_.rank()) * points_);
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    std::fill_n(poison_.data(), points_, std::complex<T>(kNan, kNan));
  }

  void execute(harness::Laps& laps) override {
    laps.time("host_to_device", [&] { transform_->write_input(input_.data()); });
    for (const Direction direction : kDirections) {
      transform_->write_output(poison_.data());
      laps.time(name(direction), [&] { transform_->run(direction); });
      const auto read = [&] { transform_->read_output(result(direction).data()); };
      if (direction == Direction::kForward) {
        laps.time("device_to_host", read);
      } else {
        read();
      }
    }
  }

  void inject(const harness::Fault& fault) override {
    if (!fault.target.empty() && fault.target != "forward" && fault.target != "inverse") {
      throw bad_use(fmt::format("--inject-fault names '{}'", fault.target), "use forward or inverse");
    }
    if (is_distributed_ && fabric::is_message_fault(fault)) return;  // the transport makes it
    device::HostArray<std::complex<T>>& changed =
        result(fault.target == "inverse" ? Direction::kInverse : Direction::kForward);
    const std::span<T> values(reinterpret_cast<T*>(changed.data()), 2 * points_);
    const std::span<const T> stale(reinterpret_cast<const T*>(poison_.data()), 2 * points_);
    if (fault.kind == harness::Fault::Kind::kElement) {
      // One that counts: the smallest could hide in the others' rounding errors.
      const auto largest = std::max_element(values.begin(), values.end()) - values.begin();
      constexpr double kOfElement = 10;  // 1 + 1000 eps
      harness::corrupt<T>(values.subspan(largest, 1), {}, fault.kind, kOfElement * harness::kEpsilon<T>);
    } else {
      harness::corrupt<T>(values, stale, fault.kind, harness::kEpsilon<T>);
    }
    transform_->write_output(changed.data());
    transform_->read_output(changed.data());
  }

  std::vector<harness::Verdict> validate() override {
    std::vector<harness::Verdict> verdicts;
    for (const Direction direction : kDirections) {
      const std::span<const std::complex<T>> values = result(direction).span();
      const std::vector<harness::Verdict> found =
          is_distributed_ ? check_distributed<T>(ranks_, values, log_size_, direction)
                          : check_batch<T>(input_.span(), values, log_size_, direction);
      verdicts.insert(verdicts.end(), found.begin(), found.end());
    }
    return verdicts;
  }

  [[nodiscard]] std::vector<harness::Metric> metrics() const override {
    constexpr double kOperations = 5;  // times n log2 n
    const double bytes = static_cast<double>(points_) * sizeof(std::complex<T>);
    const double work = kOperations * static_cast<double>(points_) * static_cast<double>(log_size_);
    std::vector<harness::Metric> metrics;
    for (const Direction direction : kDirections) {
      metrics.push_back({"performance",
                         {{"operation", name(direction)}},
                         name(direction),
                         "GFLOP/s",
                         1e-9,
                         harness::Better::kHigher,
                         work,
                         "FLOP"});
      metrics.push_back(harness::bandwidth(name(direction), 2 * bytes));
    }
    metrics.push_back(harness::bandwidth("host_to_device", bytes));
    metrics.push_back(harness::bandwidth("device_to_host", bytes));
    return metrics;
  }

 private:
  static std::size_t prepare(const harness::Context& context) {
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

  static constexpr double kHostArrays = 4;    // input, poison and two results
  static constexpr double kDeviceArrays = 2;  // input and output

  static void require_batch(const harness::Context& context, std::size_t batch, const char* parameter) {
    const double points = std::exp2(context.parameters().integer("log_size"));
    const double bytes = static_cast<double>(batch) * points * sizeof(std::complex<T>);
    const Scratch scratch = batch_scratch(context, sizeof(std::complex<T>), batch);
    context.require_memory({.host_bytes = kHostArrays * bytes + points * sizeof(std::complex<double>),
                            .device_bytes = kDeviceArrays * bytes + scratch.bytes,
                            .largest_buffer_bytes = scratch.largest},
                           parameter);
  }

  static void require_distributed(const harness::Context& context) {
    const double points = std::exp2(context.parameters().integer("log_size"));
    const double bytes = points / context.ranks().size() * sizeof(std::complex<T>);
    constexpr double kMore = 3;  // what is sent, what has arrived, and the twiddles between the steps
    const double check = points * (sizeof(std::complex<T>) + sizeof(std::complex<double>));
    context.require_memory({.host_bytes = kHostArrays * bytes + check,
                            .device_bytes = (kDeviceArrays + kMore) * bytes,
                            .largest_buffer_bytes = bytes},
                           "log_size");
  }

  static std::unique_ptr<Transform> make_transform(const harness::Context& context) {
    constexpr std::size_t kBytes = sizeof(std::complex<T>);
    if (is_distributed(context)) return make_distributed(context, kBytes);
    if (context.variant() == "base") return make_base(context, kBytes);
    if (!is_four_step(context)) return make_stages(context, kBytes);
    if (context.device().info().device_class != device::DeviceClass::kCpu) {
      throw bad_use("form = four-step is for CPUs only", "use --form stages");
    }
    return make_four_step(context, kBytes);
  }

  device::HostArray<std::complex<T>>& result(Direction direction) {
    return results_[direction == Direction::kForward ? 0 : 1];
  }

  harness::Ranks& ranks_;
  std::size_t log_size_;
  bool is_distributed_;
  std::size_t points_;
  std::unique_ptr<Transform> transform_;
  device::HostArray<std::complex<T>> input_;
  device::HostArray<std::complex<T>> poison_;
  std::array<device::HostArray<std::complex<T>>, 2> results_;
};

std::unique_ptr<harness::Benchmark> make(const harness::Context& context) {
  if (context.parameters().text("data_type") == "double") return std::make_unique<TypedFft<double>>(context);
  return std::make_unique<TypedFft<float>>(context);
}

}  // namespace

}  // namespace fabricmark::fft

int main(int argc, char** argv) {
  return fabricmark::harness::run_program(argc, argv, {"fft", fabricmark::fft::make});
}
