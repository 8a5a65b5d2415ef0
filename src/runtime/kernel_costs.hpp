#pragma once

#include <memory>

#include "device/simulated.hpp"
#include "runtime/kernel_spec.hpp"
#include "runtime/system_costs.hpp"

namespace fabricmark::runtime {

/// What the commands of a device cost: copies and starts as the system says, kernels by the loops that
/// kernel.toml declares for the variant.
std::unique_ptr<device::CommandCosts> command_costs(std::shared_ptr<const SystemCosts> system,
                                                    const KernelSpec& spec, const VariantSpec& variant,
                                                    const Parameters& parameters, device::Replicas replicas);

}  // namespace fabricmark::runtime
