#include "benchmarks/gemm/product.hpp"

#include <cblas.h>

#include "base/blas_memory.hpp"

namespace fabricmark::gemm {

void multiply(const std::vector<double>& left, const std::vector<double>& right, std::vector<double>& sums,
              const Extent& extent) {
  const auto rows = static_cast<blasint>(extent.rows);
  const auto columns = static_cast<blasint>(extent.columns);
  const auto depth = static_cast<blasint>(extent.depth);
  // Several threads of the check are here at the same time.
  static const bool is_alone = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(is_alone);
  require_blas_memory(1);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1.0, left.data(), depth,
              right.data(), columns, 0.0, sums.data(), columns);
}

}  // namespace fabricmark::gemm
