#pragma once

#include <memory>
#include <optional>

#include "device/memory.hpp"
#include "device/simulated.hpp"
#include "runtime/clock.hpp"
#include "runtime/fault.hpp"
#include "runtime/modelled_timeline.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::runtime {

/// What the runner knows of a run beside the kernel's parameters: a benchmark asks its context.
struct RunConditions {
  device::MemoryKind memory = device::MemoryKind::kBuffer;
  std::optional<Fault> fault;       ///< to be made by the benchmark or by its transport
  double timeout_seconds = 60;      ///< how long a rank waits for a message
  int repetitions = 1;              ///< that are to count; --min-time may bring more
  const int* repetition = nullptr;  ///< the one in flight, negative in the warm-up; null: none is counted
  std::shared_ptr<SimulatedClock> clock =
      std::make_shared<SimulatedClock>();      ///< of this rank, for what is modelled
  std::shared_ptr<const SystemCosts> costs{};  ///< of a described system; null: nothing is simulated from one
  std::optional<SystemPlace> system{};         ///< the part of it that the run is on; absent: of none
  std::shared_ptr<const device::CommandCosts> kernel_costs{};  ///< of the variant there; null: nothing says
  ModelledTimeline* modelled_timeline = nullptr;  ///< of what takes time there; null: nobody asks
  device::BoardMemory board_memory{};             ///< of an FPGA, where a system says it
};

}  // namespace fabricmark::runtime
