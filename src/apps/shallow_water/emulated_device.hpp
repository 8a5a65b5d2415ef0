#pragma once

#include <memory>
#include <vector>

#include "apps/shallow_water/device_kernels.hpp"
#include "base/interface.hpp"

namespace fabricmark::shallow_water {

/// An emulated device and its way to the others, on which the dataflow kernels run.
class EmulatedDevice : public Interface {
 public:
  /// Runs the kernels over these steps, advances the clock by what they take, and returns it [s], once all
  /// devices are done; 0 where no system says. Collective. Throws Error (1) for what the fabric finds: a
  /// deadlock, words left over, calls that failed.
  virtual double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                         const std::vector<Forcing>& forcing) = 0;
};

/// The device of this rank over direct links, an engine of messages, or hosts. `kernels` have to stay as
/// long. Collective. Throws Error (bad use) where the way cannot be.
MakeDevice make_device_on_links;
MakeDevice make_device_on_engine;
MakeDevice make_device_on_host;
/// The kernels of the rank's card beside ACCL's engine. Throws Error as accl::CardEngine.
MakeDevice make_device_on_card;

/// Throws Error (bad use) where an engine of messages is asked to stream.
void require_halos_in_memory(const runtime::Context& context);

/// L_pipe of eq. 5.2 [cycles], as the bitstream has it.
double pipeline_cycles(const runtime::Context& context);

}  // namespace fabricmark::shallow_water
