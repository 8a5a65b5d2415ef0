#pragma once

#include <map>
#include <string>

#include "device/device_class.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

// Which variant of a kernel.toml runs where nobody names one.

/// Base kernels are designs for FPGAs; a GPU would run them on one of its thousands of lanes.
std::string usual_variant(const KernelSpec& spec, device::DeviceClass device_class);

/// Over transports of kernels their variant is the one, else one whose messages may go there; empty for
/// others. `given`: values by parameter.
std::string variant_of_transport(const KernelSpec& spec, const std::map<std::string, std::string>& given);

/// Over a transport of kernels the variant of this name has the defaults that it declares for them.
void default_over_fabric(KernelSpec& spec, const std::string& variant,
                         const std::map<std::string, std::string>& given);

}  // namespace fabricmark::runtime
