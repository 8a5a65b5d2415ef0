#pragma once

#include "describe/request.hpp"
#include "network/network_costs.hpp"

namespace fabricmark::describe {

/// Values of a network, named as those of an exported system. Throws Error (bad use) for others.
network::NetworkCosts network_costs(const Json& values);

}  // namespace fabricmark::describe
