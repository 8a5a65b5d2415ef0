#include "runtime/asked_for.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/number_from.hpp"

namespace fabricmark::runtime {

namespace {

std::optional<std::int64_t> number_in(const char* name) {
  return number_from<std::int64_t>(environment(name));
}

/// Only of a step of srun: the script of a job has the variables of the whole job, and starts one process.
std::optional<std::int64_t> tasks_of_step() {
  // From here on Slurm numbers steps that are none of srun's: scripts, shells and what is beside them.
  constexpr std::int64_t kSpecial = 0xfffffff0;
  const std::optional<std::int64_t> step = number_in("SLURM_STEP_ID");
  if (!step || *step >= kSpecial) return std::nullopt;
  const std::optional<std::int64_t> own = number_in("SLURM_STEP_NUM_TASKS");
  return own ? own : number_in("SLURM_NTASKS");
}

std::string remedy_for(const std::string& launcher) {
  if (launcher == "srun") {
    return "use `srun --mpi=pmix` or what else of `srun --mpi=list` this MPI library has, or its mpirun";
  }
  return "use the mpirun of the MPI library that the programs were built with";
}

}  // namespace

std::optional<Launched> launched() {
  // The process's own launcher first: one that was started by srun passes srun's variables on.
  constexpr std::array kVariables{
      std::pair{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
      std::pair{"MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun"},
      std::pair{"PMI_SIZE", "mpiexec"},
      std::pair{"FLUX_JOB_SIZE", "flux run"},
      std::pair{"JSM_NAMESPACE_SIZE", "jsrun"},
  };
  for (const auto& [name, launcher] : kVariables) {
    if (const auto count = number_in(name)) return Launched{launcher, static_cast<int>(*count)};
  }
  if (const auto count = tasks_of_step()) return Launched{"srun", static_cast<int>(*count)};
  return std::nullopt;
}

void check_ranks(int ranks, bool are_processes) {
  const std::string has = ranks == 1 ? "1 rank" : fmt::format("{} ranks", ranks);
  const std::optional<std::int64_t> asked = number_in("FABRICMARK_EXPECT_RANKS");
  const std::string launcher = environment("FABRICMARK_LAUNCHER");
  if (asked && *asked != ranks) {
    if (launcher.empty())
      throw bad_use(fmt::format("asked for {} ranks, but this run has {}", *asked, has), "ask for them once");
    throw environment_failure(
        fmt::format("{} was to start {} ranks, but this run has {}", launcher, *asked, has),
        remedy_for(launcher));
  }
  const std::optional<Launched> found = launched();
  if (!found || found->processes <= 1 || (are_processes && ranks > 1)) return;
  throw environment_failure(
      fmt::format("{} started {} processes, but each of them is a run of its own, of {}", found->launcher,
                  found->processes, has),
      remedy_for(found->launcher));
}

void check_device(const device::DeviceInfo& info) {
  const std::string asked = environment("FABRICMARK_EXPECT_DEVICE");
  if (asked.empty() || asked == info.name) return;
  throw environment_failure(
      fmt::format("the device {}:{} is '{}', but '{}' was asked for", info.platform_index, info.device_index,
                  info.name, asked),
      "look at `fabricmark list --devices` again, or choose it by name: --platform and --device");
}

}  // namespace fabricmark::runtime
