#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/interface.hpp"
#include "device/backend.hpp"

namespace fabricmark::device {

/// What one kernel of a program costs, which depends on the numbers that it is started with.
class KernelCost : public Interface {
 public:
  /// Of its entry point: replicas have the same one.
  [[nodiscard]] virtual const std::string& entry() const = 0;
  /// The argument number `index`, as backend::Kernel::set_number has it.
  virtual void set_number(unsigned index, const void* value, std::size_t bytes) = 0;
  /// From its first cycle to its last [s]; empty where nothing says.
  [[nodiscard]] virtual std::optional<double> seconds() const = 0;
};

/// What the commands of a device cost in a described system [s].
class CommandCosts : public Interface {
 public:
  /// Of the host, for each kernel that it starts.
  [[nodiscard]] virtual double start_seconds() const = 0;
  /// Of a copy of a whole array between host and device.
  [[nodiscard]] virtual double copy_seconds(bool is_to_device, std::size_t bytes) const = 0;
  [[nodiscard]] virtual std::unique_ptr<KernelCost> kernel(const std::string& name) const = 0;
};

/// Whether data are moved, or only the time that this takes.
enum class Moving { kData, kNothing };

/// A device whose commands are simulated to a clock while another one, `device`, does them. In logical time,
/// whose zero is the clock's last restart:
///
/// - The host takes its time to start a kernel; a copy takes none of it.
/// - The commands of a queue run one after the other, each no earlier than it was queued and than what it has
/// to
///   wait for has ended. Queues run side by side, but copies in one direction share the way between host and
///   device, and what is started on one replica of a kernel runs in turn.
/// - Waiting for a queue or an event moves the clock to its end. What an event is asked without waiting is
///   answered by `device`, and moves nothing.
///
/// Filling, and copies within the device, cost nothing: no benchmark times them. `clock` has to outlive it.
std::shared_ptr<const backend::Device> simulated(std::shared_ptr<const backend::Device> device,
                                                 std::shared_ptr<const CommandCosts> costs,
                                                 SimulatedClock& clock, Moving moving);

}  // namespace fabricmark::device
