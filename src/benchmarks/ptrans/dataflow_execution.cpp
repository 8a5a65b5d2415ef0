#include "benchmarks/ptrans/dataflow_execution.hpp"

#include <algorithm>
#include <string>

namespace fabricmark::ptrans {

namespace {

constexpr std::size_t kCoarseWords = 16;  // of a block, where only time is asked for

/// Words that pass as one.
std::size_t coarse_of(const runtime::Context& context) {
  const std::size_t block = context.parameters().count("block_size");
  const std::size_t words = block * block / context.parameters().count("channel_width");
  if (context.computes()) return 1;
  return words % kCoarseWords == 0 ? words / kCoarseWords : words;
}

std::vector<std::unique_ptr<KernelPair>> make_pairs(const runtime::Context& context, bool is_coarse) {
  const runtime::Parameters& parameters = context.parameters();
  std::vector<std::unique_ptr<KernelPair>> pairs;
  for (std::size_t pair = 0; pair < parameters.count("replications"); ++pair) {
    pairs.push_back(make_pair({.name = std::to_string(pair),
                               .is_double = parameters.text("data_type") == "double",
                               .channel_width = parameters.count("channel_width"),
                               .block_size = parameters.count("block_size"),
                               .coarse = is_coarse ? coarse_of(context) : 1,
                               .computes = context.computes()}));
  }
  return pairs;
}

}  // namespace

DataflowExecution::DataflowExecution(const runtime::Context& context, const Plan& plan,
                                     std::size_t block_bytes, bool is_coarse)
    : plan_(plan),
      block_bytes_(block_bytes),
      computes_(context.computes()),
      a_(computes_ ? plan.blocks.size() * block_bytes : 0),
      b_(a_.size()),
      c_(a_.size()),
      pairs_(make_pairs(context, is_coarse)) {}

void DataflowExecution::write(std::vector<std::byte>& memory, std::span<const std::byte> blocks) const {
  if (computes_) std::ranges::copy(blocks, memory.begin());
}

device::Events DataflowExecution::start_pairs(dataflow::Host& host, network::Time launch,
                                              const std::vector<PairTasks>& tasks,
                                              const std::vector<std::byte>& a, double interval) {
  std::size_t blocks = 0;
  for (const PairTasks& own : tasks) blocks += own.targets.size();
  // All pairs share the memory: each takes as long as all that A, B and C of all of them move.
  constexpr double kMatrices = 3;
  const double memory_bytes = kMatrices * static_cast<double>(blocks * block_bytes_);
  device::Events events;
  for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
    if (pair > 0) host.pass_until(network::later(host.now(), launch));
    const PairMemory memory{a.data(), b_.data(), c_.data()};
    events.push_back(pairs_[pair]->start(host, tasks[pair], memory, {interval, memory_bytes}));
  }
  return events;
}

BoardExecution::BoardExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                               bool is_coarse, const network::Topology& circuits)
    : DataflowExecution(context, plan, block_bytes, is_coarse),
      start_seconds_(context.costs() == nullptr ? 0 : context.costs()->value_or("start_seconds", 0)),
      board_(context, circuits) {}

void BoardExecution::time_run(runtime::TimedRegions& regions) {
  board_.time(regions, "transpose", [this] {
    dataflow::Host& host = board_.host();
    host.pass_until(network::later(host.now(), network::from_seconds(start_seconds_)));
    start_all();
  });
}

device::Events BoardExecution::start_on_board(const std::vector<PairTasks>& tasks,
                                              const std::vector<std::byte>& a, double interval) {
  return start_pairs(board_.host(), network::from_seconds(board_.cost().launch_seconds), tasks, a, interval);
}

Rounds::Rounds(const Plan& plan, std::size_t block_bytes, int pairs)
    : plan_(plan),
      arrived_(plan.places * block_bytes),
      staying_(divide_staying(plan, 0, plan.staying, pairs)) {
  for (const Round& round : plan.rounds) {
    tasks_.push_back(divide_staying(plan, round.first_task, round.tasks, pairs));
  }
}

}  // namespace fabricmark::ptrans
