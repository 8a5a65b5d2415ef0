// PTRANS: C = B + A^T of one matrix whose blocks are dealt out over all ranks (dissertation 000, section
// 4.1.2).
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "benchmarks/ptrans/check.hpp"
#include "benchmarks/ptrans/execution.hpp"
#include "benchmarks/ptrans/faults.hpp"
#include "fabric/transport.hpp"
#include "harness/run.hpp"

namespace fabricmark::ptrans {

namespace {

/// In one repetition C, which is NaN before, is made as a whole; before that, its parts are timed one by one.
template <typename T>
class TypedPtrans : public harness::Benchmark {
 public:
  explicit TypedPtrans(const harness::Context& context)
      : size_(context.parameters().count("size")),
        block_elements_(context.parameters().count("block_size") * context.parameters().count("block_size")),
        times_parts_(context.parameters().flag("parts")),
        is_over_cpu_(context.parameters().text("transport") == "cpu"),
        distribution_(Distribution::of(context)),
        is_exchanging_(distribution_.exchanges()),
        plan_(prepare(context)),
        layout_(plan_.blocks, size_, context.parameters().count("block_size")),
        execution_(is_over_cpu_ ? make_cpu_execution(context, plan_, block_elements_ * sizeof(T))
                                : make_host_execution(context, plan_, block_elements_ * sizeof(T))),
        blocks_(plan_.blocks.size() * block_elements_) {}

  void generate() override {
    const Inputs<T> inputs(size_);
    fill(0);
    layout_.for_each([&](auto row, auto column, auto place) { blocks_[place] = inputs.a(row, column); });
    execution_->write_a(bytes());
    layout_.for_each([&](auto row, auto column, auto place) { blocks_[place] = inputs.b(row, column); });
    execution_->write_b(bytes());
  }

  void execute(harness::Laps& laps) override {
    fill(kNan);
    if (times_parts_) {
      poison();
      if (has_exchange_lap()) laps.time("exchange", [&] { execution_->exchange(); });
      laps.time("kernels", [&] { execution_->transpose(); });
    }
    poison();
    laps.time("transpose", [&] { execution_->run(); });
  }

  void inject(const harness::Fault& fault) override {
    if (fabric::is_message_fault(fault)) return;  // the transport makes it
    std::vector<T> values;
    execution_->read_c(bytes());
    layout_.for_each([&](auto, auto, auto place) { values.push_back(blocks_[place]); });
    if (values.empty()) return;
    const std::vector<T> stale(values.size(), kNan);
    constexpr double kOfElement = 10;  // the element becomes 1 + 1000 eps times itself
    harness::corrupt<T>(values, stale, fault.kind, kOfElement * std::numeric_limits<T>::epsilon());
    auto next = values.begin();
    layout_.for_each([&](auto, auto, auto place) { blocks_[place] = *next++; });
    execution_->write_c(bytes());
  }

  std::vector<harness::Verdict> validate() override {
    fill(kNan);
    execution_->read_c(bytes());
    return {check<T>(Inputs<T>(size_), layout_, blocks_.span())};
  }

  [[nodiscard]] std::vector<harness::Metric> metrics() const override {
    // Of the matrix without padding; a rank's part of it.
    const auto elements = static_cast<double>(layout_.elements());
    std::vector<harness::Metric> metrics{harness::bandwidth("transpose", elements * sizeof(T)),
                                         {"performance",
                                          {{"operation", "transpose"}},
                                          "transpose",
                                          "GFLOP/s",
                                          1e-9,
                                          harness::Better::kHigher,
                                          elements,
                                          "FLOP"}};
    if (!times_parts_) return metrics;
    constexpr double kMatrices = 3;  // A and B are read, C is written
    metrics.push_back(harness::bandwidth("kernels", kMatrices * elements * sizeof(T)));
    if (has_exchange_lap()) {
      const std::size_t moved = is_over_cpu_ ? plan_.blocks.size() : plan_.arriving;
      metrics.push_back(
          harness::bandwidth("exchange", static_cast<double>(moved * block_elements_ * sizeof(T))));
    }
    return metrics;
  }

 private:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

  Plan prepare(const harness::Context& context) const {
    const std::size_t round_blocks = context.parameters().count("round_blocks");
    require_possible(context, distribution_);
    Plan plan = make_plan(distribution_, context.ranks().rank(), round_blocks);
    const double own = bytes_of(plan.blocks.size());
    const double arriving = bytes_of(plan.places);
    const double faults = context.conditions().fault ? 2 * own : 0;
    const double more = is_over_cpu_ ? own + arriving : 0;  // A and what arrives on the host
    constexpr double kDeviceMatrices = 3;
    context.require_memory({.host_bytes = own + more + faults,
                            .device_bytes = kDeviceMatrices * own + arriving,
                            .largest_buffer_bytes = own},
                           "size", 2);
    return plan;
  }
  [[nodiscard]] double bytes_of(std::size_t blocks) const {
    return static_cast<double>(blocks) * static_cast<double>(block_elements_) * sizeof(T);
  }
  [[nodiscard]] bool has_exchange_lap() const { return is_over_cpu_ || is_exchanging_; }

  void fill(T value) { std::fill_n(blocks_.data(), blocks_.size(), value); }
  std::span<std::byte> bytes() { return std::as_writable_bytes(blocks_.span()); }
  /// Nothing of an earlier step may pass for a result; `blocks_` holds NaN.
  void poison() {
    execution_->poison_arrived(bytes());
    execution_->write_c(bytes());
  }

  std::size_t size_;
  std::size_t block_elements_;
  bool times_parts_;
  bool is_over_cpu_;
  Distribution distribution_;
  bool is_exchanging_;
  Plan plan_;
  Layout layout_;
  std::unique_ptr<Execution> execution_;
  device::HostArray<T> blocks_;  ///< as many as this rank has of each matrix
};

std::unique_ptr<harness::Benchmark> make(const harness::Context& context) {
  if (context.parameters().text("data_type") == "double") {
    return std::make_unique<TypedPtrans<double>>(context);
  }
  return std::make_unique<TypedPtrans<float>>(context);
}

}  // namespace

}  // namespace fabricmark::ptrans

int main(int argc, char** argv) {
  return fabricmark::harness::run_program(argc, argv, {"ptrans", fabricmark::ptrans::make});
}
