#include "benchmarks/hpl/faults.hpp"

#include <fmt/format.h>

#include "benchmarks/common/block_cyclic.hpp"
#include "transport/registry.hpp"

namespace fabricmark::hpl {

namespace {

void check_message_fault(const runtime::Fault& fault, const common::Grid& grid) {
  if (!fault.target.empty()) {
    throw bad_use(fmt::format("--inject-fault names '{}', but corrupts messages", fault.target),
                  "leave out the target");
  }
  if (fault.kind == runtime::Fault::Kind::kSwapped && (grid.rows == 1 || grid.columns == 1)) {
    throw bad_use(fmt::format("a rank of a grid of {} x {} sends the same to all", grid.rows, grid.columns),
                  "use a grid of 2 x 2 or more");
  }
  if (grid.rows * grid.columns == 1) {
    throw bad_use("one rank sends no messages to corrupt", "use --ranks 2 or more");
  }
}

}  // namespace

bool is_refined(const runtime::Parameters& parameters) {
  const std::string& wanted = parameters.text("refinement");
  return wanted == "gmres" || (wanted == "auto" && parameters.text("data_type") == "mixed");
}

bool is_of_solution(const runtime::Fault& fault) { return fault.target == "x" || fault.target == "refined"; }

void check_fault(const runtime::Context& context, const common::Grid& grid) {
  using Kind = runtime::Fault::Kind;
  if (!context.fault()) return;
  const runtime::Fault& fault = *context.fault();
  if (transport::is_message_fault(fault)) return check_message_fault(fault, grid);
  const std::string& target = fault.target;
  const bool is_element = fault.kind == Kind::kElement;
  const bool has_refined = target == "refined" && is_refined(context.parameters());
  // A solution of ones with some of them exchanged is no other.
  const bool is_solution = (target == "x" || has_refined) && fault.kind != Kind::kSwapped;
  const bool is_factor = is_element ? target == "u" || target == "l" || target == "diagonal"
                                    : target == "factors" || target == "block";
  if (target.empty() || is_factor || is_solution) return;
  const std::string targets = is_element ? "u, l or diagonal" : "factors or block";
  throw bad_use(fmt::format("--inject-fault names '{}'", target),
                "use " + targets + "; except swapped ones also x, and with --refinement gmres refined");
}

}  // namespace fabricmark::hpl
