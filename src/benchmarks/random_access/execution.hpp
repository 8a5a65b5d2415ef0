#pragma once

#include <memory>
#include <span>
#include <vector>

#include "benchmarks/random_access/check.hpp"
#include "benchmarks/random_access/scope.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::random_access {

/// What differs between kinds of kernel: into how many stretches the updates are cut, how a replication is
/// started, and how two updates may read an item before either has
/// written it.
struct Plan {
  int log_stretches = 0;
  device::Geometry geometry{};
  Losses losses{};
  const char* lost_with = "";  ///< the parameter of which a smaller value loses fewer updates
};

/// A rank's items on the device, one part for each replication, and the kernel that updates them.
class Execution {
 public:
  /// Throws Error (bad use) where there is not the memory for the table.
  Execution(const runtime::Context& context, const Scope& scope, const Plan& plan);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// Copies where the stretches of the scope's updates start to the device; before each run of other ones.
  void write_starts(const Scope& scope);
  void run();
  void write(std::span<const std::uint64_t> items);
  void read(std::span<std::uint64_t> items);

 private:
  Plan plan_;
  device::Replications kernels_;
  struct Part {
    device::Buffer items;
    device::Buffer starts;
  };
  std::vector<Part> parts_;
};

/// The executions of the variants, in files of their names.
using MakeExecution = std::unique_ptr<Execution> (*)(const runtime::Context& context, const Scope& scope);
std::unique_ptr<Execution> make_base(const runtime::Context& context, const Scope& scope);
std::unique_ptr<Execution> make_throughput(const runtime::Context& context, const Scope& scope);

}  // namespace fabricmark::random_access
