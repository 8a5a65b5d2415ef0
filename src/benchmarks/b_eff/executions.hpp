#pragma once

#include <memory>

#include "runtime/benchmark.hpp"

namespace fabricmark::b_eff {

// Between the kernels of emulated boards. Both throw Error (2) as board::Board, and for a fault that is
// none of messages.

/// Over direct channels.
std::unique_ptr<runtime::Benchmark> make_channels(const runtime::Context& context);
/// By an engine of messages.
std::unique_ptr<runtime::Benchmark> make_engine(const runtime::Context& context);

/// Between kernels of devices over Intel's external channels: the design for the 520N (Meyer 2024, section
/// 4.1.1.2). Throws Error (2) for ranks that its channels do not join, a device that may run its kernels one
/// after the other, and faults that it cannot make.
std::unique_ptr<runtime::Benchmark> make_external_channels(const runtime::Context& context);

/// Throws Error (2) for a fault that no emulated fabric makes.
void check_fault_of_messages(const runtime::Context& context);

}  // namespace fabricmark::b_eff
