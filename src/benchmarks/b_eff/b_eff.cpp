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

class EffectiveBandwidth final : public Exchanges {
 public:
  explicit EffectiveBandwidth(const runtime::Context& context)
      : Exchanges(context),
        transport_(transport::make_transport(
            context, {.largest_bytes = std::size_t{1} << context.parameters().count("largest"),
                      .pattern = transport::Pattern::kInARow})),
        series_(*transport_, context.ranks(), std::size_t{1} << context.parameters().count("largest"),
                static_cast<std::size_t>(context.memory_plan().bytes("outgoing")) / kDirections) {
    if (context.parameters().flag("sub_steps")) {
      if (std::unique_ptr<transport::Steps> steps = transport_->steps())
        steps_.emplace(context, std::move(steps));
    }
    std::vector<std::string> targets = steps();
    if (!targets.empty()) targets.pop_back();  // the kernel after is checked with the one before
    require_target(targets);
  }

  void execute(runtime::TimedRegions& regions) override {
    for (const std::size_t bytes : sizes()) {
      const std::size_t count = messages(bytes, usual_);
      series_.prepare(bytes, count, series_number(/*is_of_steps=*/false), computes());
      regions.time_each(region_name(kExchange, bytes), count,
                        [&](std::size_t place) { series_.exchange(place); });
      corrupt_received(bytes, "");
      if (computes()) check_received();
      if (steps_) time_steps(regions, bytes, count);
    }
  }

  /// The last messages again: they still stand where they arrived.
  std::vector<runtime::Verdict> validate() override {
    prepare_verdicts();
    check_received();
    return Exchanges::validate();
  }
  std::vector<runtime::Verdict> validate_repetition() override { return Exchanges::validate(); }

 protected:
  [[nodiscard]] std::vector<std::string> steps() const override {
    if (!steps_) return {};
    std::vector<std::string> timed{kKernel};
    for (const transport::Steps::Step& step : steps_->each) timed.push_back(step.name);
    timed.emplace_back(kKernelAfter);
    return timed;
  }

 private:
  void check_received() {
    for (std::size_t direction = 0; direction < kDirections; ++direction)
      series_.check(direction, verdict(direction));
  }

  void corrupt_received(std::size_t bytes, const std::string& target) {
    if (corrupts(bytes, target)) series_.corrupt([this](std::span<std::byte> message) { corrupt(message); });
  }

  /// What the kernel has last written must be this call's value.
  void check_touched(std::uint8_t value, std::size_t bytes, const char* step) {
    std::byte found{};
    steps_->touched.read(steps_->kernels.queue(0), &found, 1);
    steps_->kernels.queue(0).finish();
    if (corrupts(bytes, kKernel)) corrupt({&found, 1});
    runtime::Verdict& verdict = of_steps();
    ++verdict.checked;
    if (found == std::byte{value}) return;
    ++verdict.error;
    if (!verdict.worst) verdict.worst = {step, static_cast<double>(value), static_cast<double>(found)};
  }

  /// What an exchange consists of, with a kernel before and after (section 5.1.2, Fig. 5.2). Each message has
  /// its place in the staging memories too, so that all of them can be compared.
  void time_steps(runtime::TimedRegions& regions, std::size_t bytes, std::size_t count) {
    using Place = transport::Steps::Place;
    transport::Steps& steps = *steps_->steps;
    series_.prepare(bytes, count, series_number(/*is_of_steps=*/true), computes());
    for (const Place place : {Place::kSent, Place::kReceived}) {
      if (computes()) std::ranges::fill(steps.staged(place, series_.all_bytes()), kPoison);
    }
    touch(regions, kKernel, bytes, count);
    for (std::size_t step = 0; step < steps_->each.size(); ++step) {
      const auto& [name, place] = steps_->each[step];
      regions.time_each(region_name(name, bytes), count, [&](std::size_t i) {
        steps.take(step, series_.sends(i), series_.receives(i), i * series_.place_bytes());
      });
      if (!computes()) continue;
      if (place == Place::kArrived) {
        corrupt_received(bytes, name);
        check_received();
        continue;
      }
      const std::span<std::byte> messages = steps.staged(place, series_.all_bytes());
      if (corrupts(bytes, name)) corrupt(messages.first(bytes));
      series_.check_staged(messages, place == Place::kReceived, name + ": ", of_steps());
    }
    touch(regions, kKernelAfter, bytes, count);
  }

  /// A kernel that writes a byte; each time another.
  void touch(runtime::TimedRegions& regions, const char* step, std::size_t bytes, std::size_t count) {
    const auto value = static_cast<std::uint8_t>(++touches_ % 251 + 1);
    steps_->kernels.set(0, {{"value", value}});
    regions.time_each(region_name(step, bytes), count, [&](std::size_t) { steps_->kernels.run(step, {{}}); });
    if (computes()) check_touched(value, bytes, step);
  }

  std::unique_ptr<transport::Transport> transport_;
  Series series_;
  std::optional<Steps> steps_;  ///< where they are wanted
  std::size_t usual_ = series_.is_on_host() ? kMessagesOfHosts : kMessagesOfDevices;  ///< messages in a row
  std::uint32_t touches_ = 0;
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
                                {"dataflow", Between::kEngines, b_eff::make_engine, /*needs_device=*/false,
                                 /*make_on_card=*/b_eff::make_card_engine},
                                {"channels", Between::kStreams, b_eff::make_external_channels}}});
}
