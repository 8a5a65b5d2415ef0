#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/interface.hpp"
#include "benchmarks/hpl/layout.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::hpl {

/// The factorisation on the devices of all ranks, which call everything here together.
class Execution : public Interface {
 public:
  /// Makes NaN of all that an earlier factorisation has left on the device.
  virtual void poison() = 0;
  /// Copies this rank's part of the matrix (Layout::elements() values of the data type) to the device.
  virtual void write_matrix(const void* values) = 0;
  /// A = L U without pivoting, in place: U on and above the diagonal, L below it, its ones not stored.
  virtual void factorize() = 0;
  /// Copies this rank's part of L and U to the host.
  virtual void read_factors(void* values) = 0;
  /// The share of this rank's time in exchanges during which one of its inner kernels ran, over all counted
  /// repetitions, from 0 to 1. Absent without the timeline, and on a rank that exchanges nothing.
  [[nodiscard]] virtual std::optional<double> exchange_hidden() const = 0;
};

/// The executions of the variants, in files of their names. Throw Error (bad use) for a layout or device that
/// the kernels are not for, and where there is not the memory: `host_bytes` are needed beside what the
/// execution needs on the device.
using MakeExecution = std::unique_ptr<Execution>(const runtime::Context& context, const Layout& layout,
                                                 double host_bytes);
MakeExecution make_base;
MakeExecution make_throughput;
/// On emulated boards: over a transport between memories, over direct links, and over engines of messages.
MakeExecution make_over_transport;
MakeExecution make_over_links;
MakeExecution make_over_engines;
/// Over ACCL's engine on cards, whose bitstream has one of each kernel. Throws Error (bad use) for what
/// accl::CardEngine does not drive.
MakeExecution make_on_cards;
/// Over Intel's external channels, from kernel to kernel on a torus of boards (Meyer 2024, section 4.1.3.2).
MakeExecution make_over_external_channels;

/// Throws Error (bad use) where an engine of messages is asked to stream.
void require_panels_in_memory(const runtime::Context& context);

}  // namespace fabricmark::hpl
