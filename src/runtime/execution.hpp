#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/benchmark.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// The host code for one variant of kernel.toml and all transports of a kind: a row of a benchmark's table.
struct ExecutionEntry {
  std::string variant;             ///< empty: whatever the variant and the transport
  std::optional<Between> between;  ///< absent: the benchmark has no transport
  std::function<std::unique_ptr<Benchmark>(const Context&)> make;
  bool needs_device = true;
  /// Of dataflow kernels: the host of those in a bitstream that --bitstream names; empty: there is none.
  std::function<std::unique_ptr<Benchmark>(const Context&)> make_on_card{};
};

using ExecutionTable = std::vector<ExecutionEntry>;

/// The entry for a variant and the value of the parameter `transport`, empty where the benchmark has no such
/// parameter. Throws Error (bad use) that names the pairs of the table where there is none.
const ExecutionEntry& choose(const ExecutionTable& table, const std::string& variant,
                             const std::string& transport);

}  // namespace fabricmark::runtime
