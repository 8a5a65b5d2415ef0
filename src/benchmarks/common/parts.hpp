#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fabricmark::common {

/// A consecutive part of an array, in elements.
struct Part {
  std::size_t start = 0;
  std::size_t count = 0;
};

/// Divides `size` elements into whole blocks of `block` elements and the blocks over `replications` parts, as
/// evenly as they go. The parts cover the padded length, `size` rounded up to a block; late parts may be
/// empty.
inline std::vector<Part> divide(std::size_t size, std::size_t block, std::size_t replications) {
  const std::size_t blocks = (size + block - 1) / block;
  std::vector<Part> parts;
  std::size_t start = 0;
  for (std::size_t i = 0; i < replications; ++i) {
    const std::size_t share = blocks / replications + (i < blocks % replications ? 1 : 0);
    parts.push_back({start * block, share * block});
    start += share;
  }
  return parts;
}

}  // namespace fabricmark::common
