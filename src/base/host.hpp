#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fabricmark {

/// The computer that a process runs on.
struct Host {
  std::string name;
  std::string cpu;
  int logical_cores = 1;
  int sockets = 1;
  int numa_nodes = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t last_level_cache_bytes = 0;  ///< see the function of this name
  std::string operating_system;
  std::string kernel;
};

/// Read once, with hwloc where it knows.
const Host& describe_host();

/// hwloc's version, such as "2.9.0".
std::string hwloc_version();

/// Cores that this process may run on: of its mask, and no more than the quotas of its control groups allow.
int usable_cores();
/// Those of the machine, whatever this process may use.
int machine_cores();

/// Their numbers, ascending; of the calling thread, and empty where the system does not say.
std::vector<int> usable_cpus();

/// Room for what is allocated next, and what sets its limit, for messages.
struct MemoryRoom {
  std::uint64_t bytes = 0;
  std::string where;  ///< such as "on the host" or "in the control group /sys/fs/cgroup/job"
};
/// On the host without swapping, or in a control group of this process where that allows less: what the
/// processes of a host share. `root` stands for / in tests.
MemoryRoom host_memory_room(const std::string& root = "");
/// In the address space of this process (RLIMIT_AS, RLIMIT_DATA); the largest number without a limit.
MemoryRoom address_room();
/// The least of these, in bytes.
std::uint64_t available_memory_bytes();
/// Bytes of all last-level caches that this process's cores reach; 0 where the system does not say. A cache
/// counts for 32 MiB for each of its cores at most: no processor has more (AMD EPYC 72F3 has as much), so one
/// that is said to have more belongs to a host that a virtual machine has a few cores of.
std::uint64_t last_level_cache_bytes();

/// The variable's value; empty where it is not set.
std::string environment(const char* variable);

/// Without its end; empty where there is no such file.
std::string first_line(const std::filesystem::path& file);

/// UTC, "2026-11-21T01:02:03Z".
std::string time_now();

}  // namespace fabricmark
