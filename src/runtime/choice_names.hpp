#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/kernel_spec.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

/// How formulas name what a parameter that is a text is: `distribution_is_pq` is one where it has this value,
/// else zero. What no name may have is _ in it.

/// Of all such parameters, each of their values.
std::vector<std::string> choice_names(const KernelSpec& spec);
/// The parameter that such a name asks; nothing for another name.
std::optional<std::string> parameter_of_choice(const std::string& name);
/// Nothing for another name, or a parameter that there is not.
std::optional<double> choice_number(const std::string& name, const Parameters& parameters);

}  // namespace fabricmark::runtime
