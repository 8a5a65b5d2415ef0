// The single work-item kernel: one work-item for all blocks of a start.
#include "benchmarks/common/stack.hpp"
#include "benchmarks/ptrans/execution.hpp"

namespace fabricmark::ptrans {

WorkItems base_work_items(const runtime::Context& context, std::size_t block_bytes) {
  constexpr std::size_t kLocalBlocks = 2;  // of A and the sums
  common::require_stack(context, kLocalBlocks * block_bytes, "block_size");
  return {};
}

}  // namespace fabricmark::ptrans
