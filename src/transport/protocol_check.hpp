#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "transport/pattern.hpp"
#include "transport/transport.hpp"

namespace fabricmark::transport {

/// What was chosen for a size, beside all protocols that it was chosen from.
struct CheckedSize {
  std::size_t bytes = 0;
  std::string chosen;
  std::vector<std::string> protocols;  ///< the first: whole messages, each rank with its own memory
  /// [protocol, at last what was chosen][round], the slowest rank's. A protocol that takes half as long again
  /// as what was chosen has the first rounds only.
  std::vector<std::vector<double>> seconds;
};

/// How much is measured, and how.
struct Checking {
  std::size_t largest_bytes = 0;
  int rounds = 8;        ///< of each size at least
  double seconds = 0.5;  ///< for each size, within which there may be 16 times as many
  Pattern pattern = Pattern::kExchange;
};

/// Measures what the transport takes, `chosen` by size class, against each of its protocols interleaved; in
/// passes over all sizes, so that what slows the machine down for a while does so for all of them. None where
/// nothing was chosen. Collective; all ranks get the same.
std::vector<CheckedSize> check_protocols(Transport& transport, const std::vector<std::string>& chosen,
                                         const Checking& checking);

}  // namespace fabricmark::transport
