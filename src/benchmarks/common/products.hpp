#pragma once

#include "base/blas_memory.hpp"
#include "benchmarks/common/blas_core.hpp"

namespace fabricmark::common {

/// To be called before so many threads make products by OpenBLAS, each by itself: none waits for another
/// there. Throws Error (environment) where there is not the memory.
inline void prepare_products(int threads) {
  openblas_set_num_threads(1);
  require_blas_memory(threads);
}

}  // namespace fabricmark::common
