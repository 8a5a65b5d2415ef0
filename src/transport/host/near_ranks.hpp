#pragma once

#include <vector>

#include "device/device.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::transport {

/// [rank] whether it is on this node and both can pin the same memory: each maps a page of the other. This
/// rank is near to itself where its device pins memory at all. Collective; what is true of two ranks is the
/// same on both.
std::vector<bool> near_ranks(runtime::Communicator& ranks, const device::Device& device);

}  // namespace fabricmark::transport
