#pragma once

#include "fabric/dataflow/host.hpp"

/// What several tests of dataflow kernels have.
namespace fabricmark::dataflow {

inline constexpr DeviceCost kDevice{1e9, 0, 0};  // a cycle is a nanosecond
inline constexpr Time kCycle = 1'000'000;

inline void produce(stream<int>& out, int count) {
  for (int i = 0; i < count; ++i) out.write(i);
}

inline int sum(stream<int>& in, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += in.read();
  return total;
}

}  // namespace fabricmark::dataflow
