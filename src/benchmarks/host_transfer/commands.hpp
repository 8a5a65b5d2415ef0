#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/host_transfer/marks.hpp"
#include "runtime/benchmark.hpp"

namespace fabricmark::host_transfer {

/// When single commands were queued, submitted, started and ended, as the device's events have it (Karl 2021,
/// section I.3, code example I.8): a transfer of each size, and a kernel that marks a page.
class Commands {
 public:
  /// `in_place`: also migrations and maps. Collective: which commands have times is the same on all ranks.
  Commands(const runtime::Context& context, const std::vector<std::size_t>& sizes, WorkItems work_items,
           const device::Placement& place, bool in_place);
  /// Bytes of the buffers, and of as much memory of the host under those in place.
  static double device_bytes(const std::vector<std::size_t>& sizes, bool in_place);

  /// Each command once; its parts go to `regions`.
  void run(runtime::TimedRegions& regions);
  /// Number of commands of the last run whose moments were not in their order, and of all.
  [[nodiscard]] std::size_t disordered() const { return disordered_; }
  [[nodiscard]] std::size_t count() const { return commands_.size(); }
  /// The first of them; empty where there is none.
  [[nodiscard]] const std::string& worst() const { return worst_; }
  [[nodiscard]] std::vector<runtime::Metric> metrics() const;
  /// Names of the commands of which the runtime gives no times.
  [[nodiscard]] const std::vector<std::string>& without_times() const { return without_times_; }
  [[nodiscard]] bool times_migrations() const;

 private:
  struct Command {
    std::string name;
    std::size_t bytes = 0;
    std::size_t object = 0;  ///< the buffer in place
  };
  struct InPlace {
    device::HostArray<std::byte> host;
    device::Buffer buffer;
  };
  device::CommandTimes times_of(const Command& command);
  device::CommandTimes of_copy(const Command& command);
  device::CommandTimes of_migration(device::Buffer& buffer, bool to_host);
  device::CommandTimes of_map(device::Buffer& buffer);
  device::CommandTimes of_unmap(device::Buffer& buffer);
  device::CommandTimes of_kernel();

  device::Queue queue_;
  device::HostArray<std::byte> host_;
  device::Buffer buffer_;
  std::vector<InPlace> in_place_;
  DeviceMarks marks_;
  device::Replications kernel_;
  WorkItems work_items_;
  std::vector<Command> commands_;
  std::vector<std::string> without_times_;
  std::size_t disordered_ = 0;
  std::string worst_;
};

}  // namespace fabricmark::host_transfer
