#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device/replications.hpp"

namespace fabricmark::hpl {

/// The share of the time of `hidden` operations during which one of the operations `hiding` ran, in the times
/// of one rank. Absent where the first took no time.
std::optional<double> hidden_share(const std::vector<device::KernelTimes>& times, const std::string& hidden,
                                   const std::string& hiding);

}  // namespace fabricmark::hpl
