#include "benchmarks/hpl/tile.hpp"

#include <cblas.h>

#include <mutex>

#include "base/blas_memory.hpp"

namespace fabricmark::hpl {

void Tile::subtract_product(const Extent& extent, const double* right, double* result) const {
  const auto rows = static_cast<blasint>(extent.rows);
  const auto columns = static_cast<blasint>(extent.columns);
  const auto width = static_cast<blasint>(extent.width);
  require_blas_memory(openblas_get_num_threads());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, columns, -1.0, values_.data(), columns,
              right, width, 1.0, result, width);
}

void limit_blas_threads(int threads) {
  static std::once_flag done;
  std::call_once(done, [&] { openblas_set_num_threads(threads); });
}

}  // namespace fabricmark::hpl
