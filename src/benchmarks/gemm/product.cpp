#include "benchmarks/gemm/product.hpp"

#include "benchmarks/common/blas_core.hpp"

namespace fabricmark::gemm {

void multiply(const std::vector<double>& left, const std::vector<double>& right, std::vector<double>& sums,
              const Extent& extent) {
  const auto rows = static_cast<blasint>(extent.rows);
  const auto columns = static_cast<blasint>(extent.columns);
  const auto depth = static_cast<blasint>(extent.depth);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1.0, left.data(), depth,
              right.data(), columns, 0.0, sums.data(), columns);
}

}  // namespace fabricmark::gemm
