#pragma once

#include <cstddef>
#include <vector>

namespace fabricmark::hpl {

/// A part of a matrix in double precision, for products by OpenBLAS (benchmarks/common/products.hpp).
class Tile {
 public:
  static constexpr std::size_t kRows = 256;
  static constexpr std::size_t kColumns = 256;
  struct Extent {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t width = 0;  ///< columns of the other factor and of the result
  };

  Tile() : values_(kRows * kColumns) {}
  [[nodiscard]] double* row(std::size_t row, std::size_t columns) { return values_.data() + row * columns; }
  /// result -= tile right; all row by row without gaps.
  void subtract_product(const Extent& extent, const double* right, double* result) const;

 private:
  std::vector<double> values_;
};

}  // namespace fabricmark::hpl
