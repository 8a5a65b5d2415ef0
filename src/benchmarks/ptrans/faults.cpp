#include "benchmarks/ptrans/faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "network/message_fault.hpp"
#include "transport/registry.hpp"

namespace fabricmark::ptrans {

bool can_make(const Plan& plan, const runtime::Fault& fault) {
  if (!transport::is_message_fault(fault)) return !plan.blocks.empty();
  return std::ranges::any_of(plan.rounds, [&](const Round& round) {
    switch (fault.kind) {
      case runtime::Fault::Kind::kSwapped:
        return round.sends.size() > 1;
      case runtime::Fault::Kind::kLate:
        // Instead of the last block goes the one before it in memory, or in the exchange.
        return round.sends.size() > 1 || (round.sends.size() == 1 && round.sends.back().place > 0);
      default:
        return !round.sends.empty();
    }
  });
}

void require_target(const runtime::Fault& fault, bool is_of_messages) {
  if (fault.target.empty() || (!is_of_messages && fault.target == "c")) return;
  throw bad_use(fmt::format("--inject-fault names '{}'", fault.target),
                is_of_messages ? "leave out the target, as in lost@1" : "use c");
}

Error impossible(const runtime::Fault& fault) {
  const std::string who = fault.rank ? fmt::format("rank {}", *fault.rank) : "no rank";
  return bad_use(
      fmt::format("{} {} enough {} to make the fault of --inject-fault", who, fault.rank ? "has not" : "has",
                  network::message_fault(fault) ? "messages" : "blocks"),
      "use more ranks, a smaller --block-size or another rank");
}

void require_possible(const runtime::Context& context, const Distribution& distribution) {
  const std::optional<runtime::Fault>& fault = context.fault();
  if (!fault) return;
  require_target(*fault, transport::is_message_fault(*fault));
  for (int rank = fault->rank.value_or(0); rank <= fault->rank.value_or(distribution.ranks() - 1); ++rank) {
    if (rank >= distribution.ranks()) return;  // refused by the runtime
    if (can_make(make_plan(distribution, rank, context.parameters().count("round_blocks")), *fault)) return;
  }
  throw impossible(*fault);
}

}  // namespace fabricmark::ptrans
