#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace fabricmark {

/// What the control groups of this process, and those above them, leave it; whichever allows least.
struct ControlGroups {
  std::uint64_t free_bytes = std::numeric_limits<std::uint64_t>::max();  ///< memory; the largest: no limit
  std::string memory_group;  ///< folder of the group that allows least memory; empty: none limits it
  double cpus = 0;           ///< seconds of processors a second; 0: no quota
};

/// Read anew from /proc and the file systems of groups (versions 1 and 2) below `root`, which tests have.
ControlGroups control_groups(const std::string& root = "");

}  // namespace fabricmark
