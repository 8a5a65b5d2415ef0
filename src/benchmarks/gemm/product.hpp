#pragma once

#include <cstddef>
#include <vector>

namespace fabricmark::gemm {

/// Rows of the parts of the result that are checked at a time, and the columns of these that a thread takes.
inline constexpr std::size_t kCheckedRows = 512;
inline constexpr std::size_t kCheckedColumns = 256;
/// Rows that are checked in higher precision.
inline constexpr std::size_t kSpotRows = 7;

struct Extent {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t depth = 0;
};

/// sums = left right, by OpenBLAS on this thread; row by row without gaps.
void multiply(const std::vector<double>& left, const std::vector<double>& right, std::vector<double>& sums,
              const Extent& extent);

}  // namespace fabricmark::gemm
