#pragma once

#include "base/error.hpp"
#include "benchmarks/ptrans/plan.hpp"
#include "runtime/context.hpp"

namespace fabricmark::ptrans {

/// True where a rank with this plan can make the fault: a rank without messages cannot lose one, and where
/// only one leaves at a time there are no two to swap.
bool can_make(const Plan& plan, const runtime::Fault& fault);

/// Throws Error (bad use) for a target that is no matrix of the benchmark, and for one of messages.
void require_target(const runtime::Fault& fault, bool is_of_messages);

/// That no rank, or not the one that is named, can make the fault.
Error impossible(const runtime::Fault& fault);

/// Throws Error (bad use) where the run's fault could not be made by any rank that it names: such a run would
/// be valid and prove nothing.
void require_possible(const runtime::Context& context, const Distribution& distribution);

}  // namespace fabricmark::ptrans
