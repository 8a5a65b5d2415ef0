#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/result.hpp"

namespace fabricmark::runtime {

using Derive = std::function<std::vector<DerivedMetric>(const std::map<std::string, RegionSeconds>&)>;

/// Puts beside each metric of the wall clock one of the modelled time of its part, where that was simulated
/// in every repetition; and with `derive` beside each that is computed from such parts, unless it is none of
/// times. `only_modelled`: in their place. `regions` are those of the result.
void add_modelled(Result& result, const std::map<std::string, RegionSeconds>& regions, const Derive& derive,
                  bool only_modelled);

}  // namespace fabricmark::runtime
