#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/topology.hpp"

/// Which device each rank runs on, and which cables have failed.
namespace fabricmark::simulate {

/// Into an order that the seed draws, the same one on any machine.
void shuffle(std::vector<int>& devices, std::uint64_t seed);

/// "packed": one device after the other; "spread": the ranks take turns at the switches, one device of each;
/// "random": any, by the seed. So many ranks share a device. Throws Error (bad use) for another word, and
/// where there are too few devices.
[[nodiscard]] std::vector<int> placed(const network::Topology& topology, int ranks, int ranks_per_device,
                                      const std::string& how, std::uint64_t seed);

/// Cables by the names of their ends, as "leaf 0:spine 3"; of parallel ones the first that has not failed.
/// Throws Error (bad use) for ends without such a cable.
[[nodiscard]] std::vector<std::size_t> cables_named(const network::Topology& topology,
                                                    const std::vector<std::string>& names);

}  // namespace fabricmark::simulate
