// PTRANS: C = B + A^T of one matrix whose blocks lie block-cyclically on all ranks (Meyer 2024, section
// 4.1.2).
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "benchmarks/common/digest.hpp"
#include "benchmarks/ptrans/check.hpp"
#include "benchmarks/ptrans/execution.hpp"
#include "benchmarks/ptrans/faults.hpp"
#include "network/message_fault.hpp"
#include "runtime/run.hpp"
#include "transport/registry.hpp"

namespace fabricmark::ptrans {

namespace {

/// In one repetition C, which is NaN before, is made as a whole; before that, its parts are timed one by one,
/// from other inputs.
template <typename T>
class TypedPtrans : public runtime::Benchmark {
 public:
  TypedPtrans(const runtime::Context& context, const Kind& kind)
      : ranks_(context.ranks()),
        computes_(context.computes()),
        size_(context.parameters().count("size")),
        block_elements_(context.parameters().count("block_size") * context.parameters().count("block_size")),
        times_parts_(context.parameters().flag("parts")),
        is_a_on_host_(kind.is_a_on_host),
        is_dataflow_(kind.is_dataflow),
        distribution_(Distribution::of(context)),
        is_exchanging_(distribution_.exchanges()),
        plan_(checked_plan(context, kind)),
        layout_(plan_.blocks, size_, context.parameters().count("block_size")),
        execution_(make_execution(context, kind)),
        steps_(steps_of(context)),
        left_(left_by_exchange(plan_)),
        left_layout_(left_, size_, context.parameters().count("block_size")),
        threads_(runtime::host_threads(context.ranks())),
        blocks_(context.host_array<T>(plan_.blocks.size() * block_elements_)),
        parts_c_(times_parts_ && computes_ ? blocks_.size() : 0),
        parts_a_(times_parts_ && computes_ ? left_.size() * block_elements_ : 0) {}

  void prepare(int repetition) override {
    repetition_ = repetition;
    write_inputs(times_parts_ ? Step::kParts : Step::kWhole);
  }

  void execute(runtime::TimedRegions& regions) override {
    if (times_parts_) {
      if (has_exchange_region()) regions.time("exchange", [&] { steps_->exchange(); });
      regions.time("kernels", [&] { steps_->transpose(); });
      regions.aside([&] {
        if (!computes_) return;
        execution_->read_c(std::as_writable_bytes(parts_c_.span()));
        steps_->read_arrived(std::as_writable_bytes(parts_a_.span()));
        write_inputs(Step::kWhole);
      });
    }
    execution_->time_run(regions);
  }

  void inject(const runtime::Fault& fault) override {
    // The transport makes it, or the emulated board.
    if (transport::is_message_fault(fault)) return;
    std::vector<T> values;
    execution_->read_c(bytes());
    layout_.for_each([&](auto, auto, auto place) { values.push_back(blocks_[place]); });
    if (values.empty()) return;
    const std::vector<T> stale(values.size(), kNan);
    constexpr double kOfElement = 10;  // the element becomes 1 + 1000 eps times itself
    runtime::corrupt<T>(values, stale, fault.kind, kOfElement * std::numeric_limits<T>::epsilon());
    auto next = values.begin();
    layout_.for_each([&](auto, auto, auto place) { blocks_[place] = *next++; });
    execution_->write_c(bytes());
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    std::vector<runtime::Verdict> verdicts = validate();
    if (!times_parts_) return verdicts;
    const Inputs<T> inputs(size_, repetition_, Step::kParts);
    verdicts.push_back(
        check<T>("kernels", inputs, layout_, std::as_const(parts_c_).span(), source_of_kernels(), threads_));
    if (is_exchanging_) {
      verdicts.push_back(check_exchange<T>(inputs, left_layout_, std::as_const(parts_a_).span()));
    }
    return verdicts;
  }

  std::vector<runtime::Verdict> validate() override {
    fill(kNan);
    execution_->read_c(bytes());
    const auto source = [&](std::size_t number) { return opposite(plan_.blocks[number]); };
    const Inputs<T> inputs(size_, repetition_, Step::kWhole);
    const std::span<const T> c = std::as_const(blocks_).span();
    std::vector<runtime::Verdict> verdicts{check<T>("elements", inputs, layout_, c, source, threads_)};
    if (is_dataflow_) verdicts.push_back(check_bits<T>(inputs, layout_, c, threads_));
    digest_ = digest_of<T>(layout_, c, threads_);
    return verdicts;
  }

  /// Of the last repetition: C of any variant, transport and grid can be compared by it.
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes = execution_->notes();
    if (digest_) notes.push_back(common::digest_note(ranks_, "C", *digest_));
    return notes;
  }

  [[nodiscard]] std::vector<runtime::Metric> metrics() const override {
    // Of the matrix without padding; a rank's part of it.
    const auto elements = static_cast<double>(layout_.elements());
    std::vector<runtime::Metric> metrics{runtime::bandwidth("transpose", elements * sizeof(T)),
                                         runtime::performance("transpose", elements)};
    if (!times_parts_) return metrics;
    constexpr double kMatrices = 3;  // A and B are read, C is written
    metrics.push_back(runtime::bandwidth("kernels", kMatrices * elements * sizeof(T)));
    if (has_exchange_region()) {
      const std::size_t moved = is_a_on_host_ ? plan_.blocks.size() : plan_.arriving;
      metrics.push_back(
          runtime::bandwidth("exchange", static_cast<double>(moved * block_elements_ * sizeof(T))));
    }
    return metrics;
  }

 private:
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

  Plan checked_plan(const runtime::Context& context, const Kind& kind) const {
    const runtime::MemoryPlan& plan = context.memory_plan();
    const double own = plan.bytes("b");
    const double arriving = plan.bytes("a") - own;
    const double faults = context.fault() ? 2 * own : 0;
    const double parts = times_parts_ ? own + arriving : 0;
    const double more = is_a_on_host_ ? own + arriving : 0;  // A and what arrives
    context.require_memory({.host_bytes = own + parts + more + faults}, "size", 2);
    if (kind.moves_in_rounds) require_possible(context, distribution_);
    return make_plan(distribution_, context.ranks().rank(), context.parameters().count("round_blocks"));
  }
  [[nodiscard]] std::unique_ptr<Execution> make_execution(const runtime::Context& context,
                                                          const Kind& kind) const {
    const std::size_t block_bytes = block_elements_ * sizeof(T);
    return kind.make(context, plan_, block_bytes, kind.work_items(context, block_bytes));
  }
  /// Null where there are none.
  SteppedExecution* steps_of(const runtime::Context& context) const {
    auto* const steps = dynamic_cast<SteppedExecution*>(execution_.get());
    if (!times_parts_ || steps != nullptr) return steps;
    throw bad_use(
        fmt::format("--parts true with the variant {}, whose kernels add what comes while more comes",
                    context.variant()),
        "leave it out");
  }
  [[nodiscard]] bool has_exchange_region() const { return is_a_on_host_ || is_exchanging_; }

  void fill(T value) { parallel_fill(blocks_.span(), value, threads_); }
  std::span<std::byte> bytes() { return std::as_writable_bytes(blocks_.span()); }
  /// A and B of this step of the repetition; all that an earlier one has left becomes NaN.
  void write_inputs(Step step) {
    const Inputs<T> inputs(size_, repetition_, step);
    const auto each = [&](auto&& element) {
      layout_.for_each([&](auto row, auto column, auto place) { blocks_[place] = element(row, column); },
                       threads_);
    };
    fill(0);
    each([&](auto row, auto column) { return inputs.a(row, column); });
    execution_->write_a(bytes());
    each([&](auto row, auto column) { return inputs.b(row, column); });
    execution_->write_b(bytes());
    fill(kNan);
    execution_->poison_arrived(bytes());
    execution_->write_c(bytes());
    execution_->wake_links();
  }
  /// The kernels alone find only the last blocks of an exchange, each in the place of several.
  [[nodiscard]] auto source_of_kernels() const {
    std::vector<Block> sources(plan_.blocks.size());
    for (std::size_t number = 0; number < plan_.tasks.size(); ++number) {
      const Task& task = plan_.tasks[number];
      sources[task.target] = number < plan_.staying ? plan_.blocks[task.source] : left_[task.source];
    }
    return [sources = std::move(sources)](std::size_t number) { return sources[number]; };
  }

  runtime::Communicator& ranks_;
  bool computes_;       ///< else there are no matrices
  int repetition_ = 0;  ///< whose inputs A and B are
  std::size_t size_;
  std::size_t block_elements_;
  bool times_parts_;
  bool is_a_on_host_;
  bool is_dataflow_;
  Distribution distribution_;
  bool is_exchanging_;
  Plan plan_;
  Layout layout_;
  std::unique_ptr<Execution> execution_;
  SteppedExecution* steps_;  ///< the same, where it can take steps
  std::vector<Block> left_;  ///< of A, by the exchange alone
  Layout left_layout_;
  int threads_;                   ///< for inputs and checks
  device::HostArray<T> blocks_;   ///< as many as this rank has of each matrix
  device::HostArray<T> parts_c_;  ///< what the parts have made: C, and the blocks of A that arrived
  device::HostArray<T> parts_a_;
  std::optional<std::uint64_t> digest_;  ///< of this rank's part of C
};

std::unique_ptr<runtime::Benchmark> make(const runtime::Context& context, const Kind& kind) {
  const bool is_double = context.parameters().text("data_type") == "double";
  if (is_double) return std::make_unique<TypedPtrans<double>>(context, kind);
  return std::make_unique<TypedPtrans<float>>(context, kind);
}

}  // namespace

}  // namespace fabricmark::ptrans

int main(int argc, char** argv) {
  using namespace fabricmark;
  namespace own = ptrans;
  using runtime::Between;
  const auto with = [](const own::Kind& kind) {
    return [kind](const runtime::Context& context) { return own::make(context, kind); };
  };
  const auto dataflow = [&](auto make, bool moves_in_rounds) {
    return with({.work_items = own::dataflow_work_items,
                 .make = make,
                 .is_dataflow = true,
                 .moves_in_rounds = moves_in_rounds});
  };
  runtime::ExecutionTable table{
      {"dataflow", Between::kDevices, dataflow(own::make_local, true)},
      {"dataflow", Between::kHosts, dataflow(own::make_local, true), /*needs_device=*/false},
      {"dataflow", Between::kStreams, dataflow(own::make_over_channels, false), /*needs_device=*/false},
      {"dataflow", Between::kEngines, dataflow(own::make_over_engines, false), /*needs_device=*/false,
       /*make_on_card=*/dataflow(own::make_on_cards, false)},
      {"channels", Between::kStreams,
       with({.work_items = own::base_work_items,
             .make = own::make_over_external_channels,
             .moves_in_rounds = false})}};
  for (const auto& [variant, work_items] :
       {std::pair{"base", &own::base_work_items}, {"throughput", &own::throughput_work_items}}) {
    table.push_back({variant, Between::kDevices, with({work_items, own::make_between_devices})});
    table.push_back(
        {variant, Between::kHosts, with({work_items, own::make_between_hosts, /*is_a_on_host=*/true})});
  }
  return runtime::run_program(argc, argv, {"ptrans", table});
}
