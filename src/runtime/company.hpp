#pragma once

#include <string>
#include <vector>

#include "runtime/result.hpp"

namespace fabricmark::runtime {

/// Where a rank may run: the CPUs of its mask, on its host.
struct Mask {
  std::string host;
  std::vector<int> cpus;
};

/// Which ranks are more than the CPUs that they may run on, a line for each host that has any: they take
/// turns. `masks`: [rank].
std::vector<std::string> crowded(const std::vector<Mask>& masks);

/// What a reader must know of how ranks ran beside each other: that they are more than their CPUs, or that
/// parts were not timed at the same time. Nothing of one rank, or where all is modelled. Collective; all
/// ranks get the same.
std::vector<std::string> company_notes(Communicator& ranks, const Result& result);

}  // namespace fabricmark::runtime
