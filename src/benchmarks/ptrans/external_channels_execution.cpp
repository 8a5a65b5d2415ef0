// Over Intel's external channels: two kernels for each channel, without the host
// (kernels/ptrans/channels.cl).
#include "base/error.hpp"
#include "benchmarks/common/channels.hpp"
#include "benchmarks/ptrans/execution.hpp"
#include "benchmarks/ptrans/pairs.hpp"
#include "network/message_fault.hpp"
#include "transport/registry.hpp"

namespace fabricmark::ptrans {

namespace {

std::vector<PairTasks> tasks_of(const runtime::Context& context, const Plan& plan, int pairs) {
  const Distribution distribution = Distribution::of(context);
  require_partners(distribution);
  const int rank = context.ranks().rank();
  return divide_tasks(plan, pairs, /*has_loops=*/distribution.partner(rank) == rank);
}

class ExternalChannelsExecution : public Execution {
 public:
  ExternalChannelsExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes)
      : info_(context.device().info()),
        bytes_(plan.blocks.size() * block_bytes),
        send_(context.replications(pairs_of(context), 0)),
        receive_(context.replications(pairs_of(context), 1)),
        queue_(context.device().queue()),
        a_(context.buffer(not_empty(bytes_), {0, 0, "a"})),
        b_(context.buffer(not_empty(bytes_), {1, 0, "b"})),
        c_(context.buffer(not_empty(bytes_), {1, 0, "c"})),
        sources_(context.buffer(not_empty(plan.tasks.size() * sizeof(std::uint32_t)), {0, 0, "sources"})),
        targets_(context.buffer(not_empty(plan.tasks.size() * sizeof(std::uint32_t)), {1, 0, "targets"})) {
    std::vector<std::uint32_t> sources;
    std::vector<std::uint32_t> targets;
    int pair = 0;
    for (const PairTasks& tasks : tasks_of(context, plan, pairs_of(context))) {
      send_.set(pair, {{"a", a_},
                       {"sources", sources_},
                       {"first", sources.size()},
                       {"staying", tasks.staying},
                       {"count", tasks.sources.size()}});
      receive_.set(pair, {{"b", b_},
                          {"c", c_},
                          {"targets", targets_},
                          {"first", targets.size()},
                          {"staying", tasks.staying},
                          {"count", tasks.targets.size()}});
      sources.insert(sources.end(), tasks.sources.begin(), tasks.sources.end());
      targets.insert(targets.end(), tasks.targets.begin(), tasks.targets.end());
      members_.push_back({&receive_, pair});
      members_.push_back({&send_, pair});
      ++pair;
    }
    write(sources_, sources.data(), sources.size() * sizeof(std::uint32_t));
    write(targets_, targets.data(), targets.size() * sizeof(std::uint32_t));
  }

  void write_a(std::span<const std::byte> blocks) override { write(a_, blocks.data(), blocks.size()); }
  void write_b(std::span<const std::byte> blocks) override { write(b_, blocks.data(), blocks.size()); }
  void write_c(std::span<const std::byte> blocks) override { write(c_, blocks.data(), blocks.size()); }
  void read_c(std::span<std::byte> blocks) override {
    if (!blocks.empty()) c_.read(queue_, blocks.data(), blocks.size());
    queue_.finish();
  }
  // Nothing is kept between a channel and C.
  void poison_arrived(std::span<const std::byte> /*blocks*/) override {}

  void time_run(runtime::TimedRegions& regions) override {
    regions.time("transpose", [&] {
      for (const device::Event& end : device::start_group(info_, "transpose", members_)) end.wait();
    });
  }

 private:
  static int pairs_of(const runtime::Context& context) {
    return static_cast<int>(context.parameters().integer("replications"));
  }
  void write(device::Buffer& buffer, const void* source, std::size_t bytes) const {
    if (bytes > 0) buffer.write(queue_, source, bytes);
    queue_.finish();
  }

  const device::DeviceInfo& info_;
  std::size_t bytes_;
  device::Replications send_, receive_;
  device::Queue queue_;  // of the host's copies
  device::Buffer a_, b_, c_, sources_, targets_;
  std::vector<device::GroupMember> members_;
};

}  // namespace

std::unique_ptr<Execution> make_over_external_channels(const runtime::Context& context, const Plan& plan,
                                                       std::size_t block_bytes,
                                                       const WorkItems& /*work_items*/) {
  common::require_cables(context);
  const std::optional<runtime::Fault>& fault = context.fault();
  if (fault && (transport::is_message_fault(*fault) || network::message_fault(*fault))) {
    throw bad_use("--inject-fault asks for a fault of messages, and between kernels there are none",
                  "use element, scale, zeros, stale or swapped:c");
  }
  return std::make_unique<ExternalChannelsExecution>(context, plan, block_bytes);
}

}  // namespace fabricmark::ptrans
