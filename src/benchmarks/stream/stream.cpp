// STREAM: the memory bandwidth that copy, scale, add and triad sustain, and that of the transfers to and from
// the device (Meyer 2024, section 3.1.2 and Table 3.3).
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/parallel.hpp"
#include "benchmarks/stream/execution.hpp"
#include "benchmarks/stream/problem.hpp"
#include "runtime/run.hpp"

namespace fabricmark::stream {

namespace {

/// One repetition writes the inputs to the device, runs the four operations and reads all three arrays back.
/// Before each operation the array that it is to write is poisoned, so that none can have been done by
/// another. The arrays on the host hold the inputs, then the results: the check makes the inputs once more.
template <typename T>
class TypedStream : public runtime::Benchmark {
 public:
  TypedStream(const runtime::Context& context, MakeExecution make_execution)
      : size_(context.parameters().count("size")),
        first_index_(static_cast<std::uint64_t>(context.ranks().rank()) * size_),
        threads_(runtime::host_threads(context.ranks())),
        execution_(make_execution(context, sizeof(T))),
        cache_bytes_(device::last_cache_bytes(context.device().info())),
        arrays_{context.host_array<T>(execution_->padded_elements()),
                context.host_array<T>(execution_->padded_elements()),
                context.host_array<T>(execution_->padded_elements())} {}

  void prepare(int repetition) override {
    repetition_ = repetition;
    parallel_for(arrays_[kA].size(), threads_, kWorthAThread, [&](std::size_t start, std::size_t end) {
      for (const Array array : {kA, kB, kC}) {
        fill_as_before(array, start, arrays_[array].span().subspan(start, end - start));
      }
    });
  }

  void execute(runtime::TimedRegions& regions) override {
    regions.time("host_to_device", [&] {
      for (const Array array : {kA, kB, kC}) execution_->write(array, arrays_[array].data());
    });
    for (const Operation& operation : kOperations) {
      execution_->poison(operation.result);
      regions.time(operation.name, [&] { execution_->run(operation); });
    }
    regions.time("device_to_host", [&] { read_back(); });
  }

  void inject(const runtime::Fault& fault) override {
    const auto* const name = std::ranges::find(kArrayNames, fault.target.empty() ? "a" : fault.target);
    if (name == kArrayNames.end()) {
      throw bad_use(fmt::format("--inject-fault names the array '{}'", fault.target), "use a, b or c");
    }
    const auto array = static_cast<Array>(name - kArrayNames.begin());
    device::HostArray<T>& values = arrays_[array];
    // Padding is not part of the result.
    device::HostArray<T> before(size_);
    fill_as_before(array, 0, before.span());
    runtime::corrupt<T>(values.span().first(size_), before.span(), fault.kind, device::kEpsilon<T>);
    execution_->write(array, values.data());
    read_back();
  }

  std::vector<runtime::Verdict> validate() override {
    const auto found_in = [&](std::size_t start, std::size_t end) {
      const auto part = [&](const device::HostArray<T>& array) {
        return array.span().subspan(start, end - start);
      };
      const std::array results{part(arrays_[kA]), part(arrays_[kB]), part(arrays_[kC])};
      return check<T>(results, repetition_, first_index_ + start, start);
    };
    std::array<runtime::Verdict, kArrays> verdicts = found_in(0, 0);
    std::mutex one_at_a_time;
    parallel_for(size_, threads_, kWorthAThread, [&](std::size_t start, std::size_t end) {
      const std::array<runtime::Verdict, kArrays> found = found_in(start, end);
      const std::scoped_lock lock(one_at_a_time);
      merge(verdicts, found);
    });
    return {verdicts.begin(), verdicts.end()};
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    const auto array_bytes = static_cast<double>(size_ * sizeof(T));
    std::vector<runtime::Metric> metrics;
    constexpr std::size_t kCopy = 2;  // STREAM's own order
    for (std::size_t i = 0; i < kOperations.size(); ++i) {
      const Operation& operation = kOperations[(kCopy + i) % kOperations.size()];
      metrics.push_back(runtime::bandwidth(operation.name, operation.streams() * array_bytes));
    }
    metrics.push_back(runtime::bandwidth("host_to_device", kArrays * array_bytes));
    metrics.push_back(runtime::bandwidth("device_to_host", kArrays * array_bytes));
    return metrics;
  }

  [[nodiscard]] std::vector<std::string> notes() const override {
    constexpr std::size_t kTimesCache =
        4;  // STREAM's rule: each array at least four times the last-level cache
    const auto array_bytes = static_cast<double>(size_ * sizeof(T));
    if (array_bytes >= kTimesCache * cache_bytes_) return {};
    return {
        fmt::format("the arrays of {:.3g} MB are smaller than four times the last-level cache ({:.3g} MB)",
                    array_bytes / 1e6, cache_bytes_ / 1e6)};
  }

 private:
  /// What an array holds from element `start` on before a repetition: a and b inputs, c poison until add has
  /// written it.
  void fill_as_before(Array array, std::size_t start, std::span<T> values) const {
    if (array == kC) {
      std::ranges::fill(values, static_cast<T>(std::numeric_limits<double>::quiet_NaN()));
    } else {
      make_input<T>(array, repetition_, first_index_ + start, values);
    }
  }

  void read_back() {
    for (const Array array : {kA, kB, kC}) execution_->read(array, arrays_[array].data());
  }

  std::size_t size_;
  std::uint64_t first_index_;
  int threads_;
  std::unique_ptr<Execution> execution_;
  double cache_bytes_;
  std::array<device::HostArray<T>, kArrays> arrays_;
  int repetition_ = 0;
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context, MakeExecution execution) {
  const std::string& type = context.parameters().text("data_type");
  if (type == "half") return std::make_unique<TypedStream<device::Half>>(context, execution);
  if (type == "double") return std::make_unique<TypedStream<double>>(context, execution);
  return std::make_unique<TypedStream<float>>(context, execution);
}

/// An entry of the table: these executions for all types.
auto with(MakeExecution execution) {
  return [=](const runtime::Context& context) { return make(context, execution); };
}

}  // namespace

}  // namespace fabricmark::stream

int main(int argc, char** argv) {
  using namespace fabricmark::stream;
  return fabricmark::runtime::run_program(
      argc, argv, {"stream", {{"base", {}, with(make_base)}, {"throughput", {}, with(make_throughput)}}});
}
