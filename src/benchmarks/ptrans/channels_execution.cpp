// Direct links between the kernels of two boards, or of one and itself.
#include <algorithm>
#include <cmath>

#include "benchmarks/ptrans/dataflow_execution.hpp"

namespace fabricmark::ptrans {

namespace {

int ports_of(const runtime::Context& context) {
  return static_cast<int>(context.parameters().integer("replications"));
}

bool has_loops(const runtime::Context& context, const Distribution& distribution) {
  return distribution.partner(context.ranks().rank()) == context.ranks().rank();
}

/// Cycles of the kernels' clock between two words: those of the link, of whose peak the bitstream reaches a
/// share that was fitted, channel_efficiency.
double interval_of(const runtime::Context& context, const dataflow::LinkCost& link, double kernel_hz) {
  const double efficiency =
      context.costs() == nullptr ? 1 : context.costs()->value_or("channel_efficiency", 1);
  const std::size_t element_bytes =
      context.parameters().text("data_type") == "double" ? sizeof(double) : sizeof(float);
  const auto bytes = static_cast<double>(context.parameters().count("channel_width") * element_bytes);
  const double of_link = std::ceil(bytes / link.width_bytes) * kernel_hz / link.clock_hz;
  return std::max(1.0, of_link) / efficiency;
}

class ChannelsExecution : public BoardExecution {
 public:
  ChannelsExecution(const runtime::Context& context, const Plan& plan, std::size_t block_bytes,
                    const Distribution& distribution)
      : BoardExecution(context, plan, block_bytes, /*is_coarse=*/true,
                       circuits(distribution, ports_of(context))),
        interval_(interval_of(context, board().link_cost(), board().cost().clock_hz)),
        tasks_(divide_tasks(plan, pair_count(), has_loops(context, distribution))) {
    for (int port = 0; port < pair_count(); ++port) {
      const bool has_cable = !has_loops(context, distribution) || loop_port(port, pair_count()) != port;
      if (has_cable) pair(port).open(board(), port);
    }
  }

 private:
  void start_all() override { start_on_board(tasks_, a(), interval_); }

  double interval_;
  std::vector<PairTasks> tasks_;
};

}  // namespace

std::unique_ptr<Execution> make_over_channels(const runtime::Context& context, const Plan& plan,
                                              std::size_t block_bytes, const WorkItems& /*work_items*/) {
  const Distribution distribution = Distribution::of(context);
  require_partners(distribution);
  require_possible_on_boards(context, distribution, ports_of(context), /*has_loops=*/true);
  return std::make_unique<ChannelsExecution>(context, plan, block_bytes, distribution);
}

}  // namespace fabricmark::ptrans
