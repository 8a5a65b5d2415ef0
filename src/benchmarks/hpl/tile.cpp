#include "benchmarks/hpl/tile.hpp"

#include "benchmarks/common/blas_core.hpp"

namespace fabricmark::hpl {

void Tile::subtract_product(const Extent& extent, const double* right, double* result) const {
  const auto rows = static_cast<blasint>(extent.rows);
  const auto columns = static_cast<blasint>(extent.columns);
  const auto width = static_cast<blasint>(extent.width);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, columns, -1.0, values_.data(), columns,
              right, width, 1.0, result, width);
}

}  // namespace fabricmark::hpl
