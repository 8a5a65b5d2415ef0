#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::runtime {

/// Parameters that do not go together, or not on a device.
struct Misfit {
  Error error;                      ///< for the user whose own words say so
  std::vector<std::string> shrink;  ///< parameters of which a smaller one may fit, in turn
  bool in_steps = false;            ///< by one, as for divisors; else by half
};

/// What a work-group of the variant takes more of than the device has; nothing where it fits or where the
/// device's limits are not known.
std::optional<Misfit> misfit_of_work_group(const VariantSpec& variant, const DeviceFacts& facts,
                                           const Parameters& parameters);

/// A value that the parameter allows, next to a number that follows from the device's: of its values the
/// largest that is not above it, of its range and of what the variant takes the nearest.
std::int64_t nearest_allowed(const ParameterSpec& spec, const VariantSpec& variant, std::int64_t number);

/// The next smaller value that the parameter allows: of a range half of it, or one less where `in_steps`.
std::optional<std::int64_t> next_smaller(const ParameterSpec& spec, std::int64_t number, bool in_steps);

}  // namespace fabricmark::runtime
