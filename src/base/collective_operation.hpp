#pragma once

#include <cstdint>

namespace fabricmark::collectives {

/// What all ranks of a group do together.
enum class Operation : std::uint8_t {
  kBroadcast,
  kScatter,
  kGather,
  kAllGather,
  kReduce,
  kAllReduce,
  kReduceScatter,
  kAllToAll,
  kBarrier,
};

}  // namespace fabricmark::collectives
