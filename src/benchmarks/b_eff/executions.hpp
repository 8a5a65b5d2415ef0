#pragma once

#include <memory>

#include "runtime/benchmark.hpp"

namespace fabricmark::b_eff {

/// Between the kernels of emulated boards, over direct channels. Throws Error (2) as make_board_pairs.
std::unique_ptr<runtime::Benchmark> make_channels(const runtime::Context& context);
/// Between kernels of devices, over Intel's external channels. Throws Error (2) as make_device_pairs.
std::unique_ptr<runtime::Benchmark> make_external_channels(const runtime::Context& context);
/// Between the kernels of emulated boards, by an engine of messages. Throws Error (2) as board::Board.
std::unique_ptr<runtime::Benchmark> make_engine(const runtime::Context& context);

/// Between kernels of a bitstream with ACCL's engine, on cards. Throws Error (2) for calls of the host, and
/// as accl::CardEngine.
std::unique_ptr<runtime::Benchmark> make_card_engine(const runtime::Context& context);

}  // namespace fabricmark::b_eff
