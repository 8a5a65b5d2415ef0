#pragma once

#include <cstddef>

namespace fabricmark::common {

/// A message of a halo to a rank or from it.
struct HaloMessage {
  int rank = 0;
  int tag = 0;
  std::size_t marks = 0;    ///< of its sum, which kernels keep
  std::size_t numbers = 0;  ///< that it brings
};

}  // namespace fabricmark::common
