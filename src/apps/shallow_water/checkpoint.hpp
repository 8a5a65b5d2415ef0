#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/shallow_water/field.hpp"

namespace fabricmark::shallow_water {

/// A run at a step, from which it goes on to the same bits, on however many ranks.
struct Checkpoint {
  std::string key;  ///< of what must be the same: mesh, case, order, type, flux, constants
  std::int64_t step = 0;
  double dt = 0;                  ///< [s]
  Field field{};                  ///< of the whole mesh, by number
  std::vector<double> outflow{};  ///< of each element
  double volume_at_start = 0;     ///< [m^3], for the check of mass
};

/// The old file or the new one is there, whenever the process dies. Throws Error as write_atomically does.
void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);
/// Throws Error (bad use) for a file that is no checkpoint, is cut, or is of another run than `key` says.
Checkpoint read_checkpoint(const std::filesystem::path& file, const std::string& key);

}  // namespace fabricmark::shallow_water
