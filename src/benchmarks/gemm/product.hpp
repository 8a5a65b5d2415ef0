#pragma once

#include <cstddef>
#include <vector>

namespace fabricmark::gemm {

/// Rows and columns of the parts of the result that are checked at a time.
inline constexpr std::size_t kCheckedTile = 512;
/// Rows that are checked in higher precision.
inline constexpr std::size_t kSpotRows = 7;

struct Extent {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

/// sums = left right, by OpenBLAS; row by row without gaps.
void multiply(const std::vector<double>& left, const std::vector<double>& right, std::vector<double>& sums,
              const Extent& extent);

}  // namespace fabricmark::gemm
