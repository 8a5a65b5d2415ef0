#include "benchmarks/common/blas_core.hpp"

#include <gtest/gtest.h>

namespace fabricmark::common {

namespace {

TEST(BlasCore, IsAnotherOneWhereOpenBlasDoesNotKnowTheCpu) {
  EXPECT_EQ(better_core("Prescott", VectorLevel::kAvx512), "SkylakeX");
  EXPECT_EQ(better_core("Nehalem", VectorLevel::kAvx2), "Haswell");
  EXPECT_EQ(better_core("Sandybridge", VectorLevel::kAvx2), "Haswell");
}

TEST(BlasCore, IsOpenBlassWhereItChoseWell) {
  for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids", "Haswell", "Zen", "Excavator"}) {
    EXPECT_EQ(better_core(core, VectorLevel::kAvx512), "") << core;
    EXPECT_EQ(better_core(core, VectorLevel::kAvx2), "") << core;
  }
  EXPECT_EQ(better_core("Prescott", VectorLevel::kOlder), "");
}

}  // namespace

}  // namespace fabricmark::common
