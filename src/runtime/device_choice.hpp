#pragma once

#include <string>
#include <vector>

#include "device/device.hpp"
#include "runtime/communicator.hpp"
#include "runtime/options.hpp"

namespace fabricmark::runtime {

/// Before the first call of a device's runtime: caps its threads where processes share cores. Returns the
/// cap, 0 for none. Collective.
int share_cores(Communicator& ranks);

/// This rank's device of those found, and in `share` its part of it, where ranks of one process use one CPU.
device::FoundDevice choose_device(const Options& options, Communicator& ranks,
                                  const std::vector<device::FoundDevice>& found, device::Share& share);

/// Whether the user asks for a device: then one has to be there, whatever the code needs.
bool asks_for_device(const Options& options);

}  // namespace fabricmark::runtime
