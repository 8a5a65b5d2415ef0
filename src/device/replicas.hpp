#pragma once

#include <string>
#include <vector>

namespace fabricmark::device {

struct DeviceInfo;
struct EntryPoint;

/// What stands for the copies of a kernel, its replicas, that are to run at the same time.
enum class Replicas {
  kOneEntry,  ///< objects of one entry point, which run at once
  kEntries,  ///< entry points of their own, name_0, name_1, ...: Intel's FPGAs run the objects of one in turn
  kComputeUnits,  ///< compute units that v++ makes of one (nk=), which XRT calls name:{name_1},
                  ///< name:{name_2}, ...
};

/// Which of these a device needs, or what $FABRICMARK_REPLICAS says: "one-entry", "entries" or
/// "compute-units". Throws Error (bad use) for anything else there.
Replicas replicas_of(const DeviceInfo& info);

/// What the replicas of an entry point are called in a program: one name for all, or one for each of `count`.
std::vector<std::string> replica_names(const EntryPoint& entry, Replicas replicas, int count);

}  // namespace fabricmark::device
