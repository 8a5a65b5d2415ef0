#include "runtime/benchmark.hpp"

#include "base/error.hpp"

namespace fabricmark::runtime {

std::vector<DerivedMetric> Benchmark::derive(const std::map<std::string, RegionSeconds>& /*regions*/) const {
  return {};
}

void Benchmark::inject(const Fault& /*fault*/) {
  throw bad_use("this benchmark cannot inject faults", "leave out --inject-fault");
}

}  // namespace fabricmark::runtime
