// b_eff: the effective bandwidth of a ring of ranks (Meyer 2024, sections 4.1.1 and 5.1.2): messages of
// 2^0 to 2^20 bytes to both neighbours, over any transport; where a transport has steps, also these one by
// one.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/b_eff/executions.hpp"
#include "benchmarks/b_eff/series.hpp"
#include "runtime/run.hpp"
#include "transport/registry.hpp"

namespace fabricmark::b_eff {

namespace {

// Messages in a row where nothing else is asked for: each between devices takes commands of their runtimes.
constexpr std::size_t kMessagesOfHosts = 500;
constexpr std::size_t kMessagesOfDevices = 20;

/// What the steps of an exchange need: themselves, and a kernel before and after with the byte that it
/// writes.
struct Steps {
  Steps(const runtime::Context& context, std::unique_ptr<transport::Steps> all)
      : steps(std::move(all)),
        each(steps->steps()),
        kernels(context.replications(1)),
        touched(std::move(context.buffers(0, "memory").front())) {
    kernels.set(0, {{"memory", touched}});
  }

  std::unique_ptr<transport::Steps> steps;
  std::vector<transport::Steps::Step> each;
  device::Replications kernels;
  device::Buffer touched;
};

constexpr const char* kKernel = "kernel";
constexpr const char* kKernelAfter = "kernel_after";

class EffectiveBandwidth : public Exchanges {
 public:
  explicit EffectiveBandwidth(const runtime::Context& context)
      : Exchanges(context),
        fault_(context.fault()),
        transport_(transport::make_transport(
            context, {.largest_bytes = std::size_t{1} << context.parameters().count("largest"),
                      .pattern = transport::Pattern::kInARow})),
        series_(*transport_, context.ranks(), std::size_t{1} << context.parameters().count("largest"),
                static_cast<std::size_t>(context.memory_plan().bytes("outgoing")) / kDirections) {
    if (context.parameters().flag("sub_steps")) {
      if (std::unique_ptr<transport::Steps> steps = transport_->steps())
        steps_.emplace(context, std::move(steps));
    }
    of_steps_.name = "steps over the " + transport_->name();
    of_steps_.measure = kWrongBytes;
    if (fault_ && !fault_->target.empty()) check_target();
  }

  /// Messages are made, and receive buffers poisoned, before each timed part.
  void prepare(int repetition) override {
    ++prepared_;
    is_spoiled_ = fault_ && !transport::is_message_fault(*fault_) && is_faulty_rank() &&
                  (!fault_->repetition || *fault_->repetition == repetition);
    prepare_verdicts();
  }

  void execute(runtime::Laps& laps) override {
    for (const std::size_t bytes : sizes()) {
      const std::size_t count = messages(bytes, usual_);
      series_.prepare(bytes, count, 2 * prepared_, computes());
      laps.time_each(lap_name(kExchange, bytes), count, [&](std::size_t place) { series_.exchange(place); });
      if (bytes == sizes().back() && spoils("")) series_.spoil(0, fault_->kind);
      if (computes()) series_.check(verdicts_);
      if (steps_) time_steps(laps, bytes, count);
    }
  }

  std::vector<runtime::Verdict> validate_repetition() override {
    std::vector<runtime::Verdict> found{verdicts_.begin(), verdicts_.end()};
    if (steps_) found.push_back(of_steps_);
    return found;
  }

  /// The last messages again: they still stand where they arrived.
  std::vector<runtime::Verdict> validate() override {
    prepare_verdicts();
    series_.check(verdicts_);
    return {verdicts_.begin(), verdicts_.end()};
  }

 protected:
  [[nodiscard]] std::vector<std::string> steps() const override {
    if (!steps_) return {};
    std::vector<std::string> timed{kKernel};
    for (const transport::Steps::Step& step : steps_->each) timed.push_back(step.name);
    timed.emplace_back(kKernelAfter);
    return timed;
  }

 private:
  [[nodiscard]] bool is_faulty_rank() const { return !fault_->rank || *fault_->rank == ranks().rank(); }

  [[nodiscard]] bool spoils(const std::string& target) const {
    return is_spoiled_ && fault_->target == target;
  }

  void check_target() const {
    using Kind = runtime::Fault::Kind;
    const bool is_value = fault_->kind == Kind::kElement || fault_->kind == Kind::kScale ||
                          fault_->kind == Kind::kZeros || fault_->kind == Kind::kStale;
    const auto is_target = [&](const transport::Steps::Step& step) { return step.name == fault_->target; };
    const bool is_step =
        steps_ && (fault_->target == kKernel || std::ranges::any_of(steps_->each, is_target));
    if (is_step && is_value) return;
    throw bad_use(
        fmt::format("--inject-fault names '{}'", fault_->target),
        "leave out the target, as in lost@1, or spoil a step over the host: element, scale, zeros or "
        "stale in kernel, read, message or write");
  }

  void prepare_verdicts() {
    for (runtime::Verdict* verdict : {&verdicts_[0], &verdicts_[1], &of_steps_}) {
      verdict->checked = 0;
      verdict->error = 0;
      verdict->worst.reset();
    }
  }

  /// What the kernel has last written must be this call's value.
  void check_touched(std::uint8_t value, const char* step) {
    std::byte found{};
    steps_->touched.read(steps_->kernels.queue(0), &found, 1);
    steps_->kernels.queue(0).finish();
    if (spoils(kKernel)) spoil_bytes({&found, 1}, fault_->kind);
    ++of_steps_.checked;
    if (found == std::byte{value}) return;
    ++of_steps_.error;
    if (!of_steps_.worst) of_steps_.worst = {step, static_cast<double>(value), static_cast<double>(found)};
  }

  /// What an exchange consists of, with a kernel before and after (section 5.1.2, Fig. 5.2). Each message has
  /// its place in the staging memories too, so that all of them can be compared.
  void time_steps(runtime::Laps& laps, std::size_t bytes, std::size_t count) {
    using Place = transport::Steps::Place;
    transport::Steps& steps = *steps_->steps;
    series_.prepare(bytes, count, 2 * prepared_ + 1, computes());
    for (const Place place : {Place::kSent, Place::kReceived}) {
      if (computes()) std::ranges::fill(steps.staged(place, series_.all_bytes()), kPoison);
    }
    touch(laps, kKernel, bytes, count);
    for (std::size_t step = 0; step < steps_->each.size(); ++step) {
      const auto& [name, place] = steps_->each[step];
      laps.time_each(lap_name(name, bytes), count, [&](std::size_t i) {
        steps.take(step, series_.sends(i), series_.receives(i), i * series_.place_bytes());
      });
      if (!computes()) continue;
      if (place == Place::kArrived) {
        if (spoils(name)) series_.spoil(0, fault_->kind);
        series_.check(verdicts_);
        continue;
      }
      const std::span<std::byte> messages = steps.staged(place, series_.all_bytes());
      if (spoils(name)) spoil_bytes(messages.first(bytes), fault_->kind);
      series_.check_staged(messages, place == Place::kReceived, name + ": ", of_steps_);
    }
    touch(laps, kKernelAfter, bytes, count);
  }

  /// A kernel that writes a byte; each time another.
  void touch(runtime::Laps& laps, const char* step, std::size_t bytes, std::size_t count) {
    const auto value = static_cast<std::uint8_t>(++touches_ % 251 + 1);
    steps_->kernels.set(0, {{"value", value}});
    laps.time_each(lap_name(step, bytes), count, [&](std::size_t) { steps_->kernels.run(step, {{}}); });
    if (computes()) check_touched(value, step);
  }

  std::optional<runtime::Fault> fault_;
  std::unique_ptr<transport::Transport> transport_;
  Series series_;
  std::optional<Steps> steps_;  ///< where they are wanted
  std::size_t usual_ = series_.is_on_host() ? kMessagesOfHosts : kMessagesOfDevices;  ///< messages in a row
  std::uint32_t prepared_ = 0;  ///< repetitions, the warm-up's too
  std::uint32_t touches_ = 0;
  bool is_spoiled_ = false;  ///< the fault is to be made in this repetition, above the transport
  Verdicts verdicts_ = new_verdicts(kWrongBytes);
  runtime::Verdict of_steps_;
};

}  // namespace

}  // namespace fabricmark::b_eff

int main(int argc, char** argv) {
  using namespace fabricmark;
  using runtime::Between;
  const auto over_memories = [](const runtime::Context& context) {
    return std::make_unique<b_eff::EffectiveBandwidth>(context);
  };
  return runtime::run_program(argc, argv,
                              {"b_eff",
                               {{"base", Between::kDevices, over_memories},
                                {"base", Between::kHosts, over_memories, /*needs_device=*/false},
                                {"dataflow", Between::kStreams, b_eff::make_channels, /*needs_device=*/false},
                                {"dataflow", Between::kEngines, b_eff::make_engine, /*needs_device=*/false},
                                {"channels", Between::kStreams, b_eff::make_external_channels}}});
}
