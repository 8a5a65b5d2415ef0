#include "runtime/asked_for.hpp"

#include <array>
#include <cstdlib>
#include <map>

#include "support.hpp"

namespace fabricmark::runtime {

namespace {

using test::mentions;
using test::message_of;

/// The variables that say what was asked for, set for a test and gone with it.
class Variables {
 public:
  using Values = std::map<std::string, std::string>;
  explicit Variables(const Values& values) {
    clear();
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Variables() { clear(); }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

 private:
  static void clear() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE", "FLUX_JOB_SIZE",
                             "JSM_NAMESPACE_SIZE", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS",
                             "FABRICMARK_EXPECT_RANKS", "FABRICMARK_EXPECT_DEVICE", "FABRICMARK_LAUNCHER"}) {
      unsetenv(name);
    }
  }
};

TEST(AskedFor, ProcessesThatAreRunsOfTheirOwnAreRefused) {
  for (const auto& [name, launcher] : {std::pair{"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                                       {"MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun"},
                                       {"PMI_SIZE", "mpiexec"},
                                       {"FLUX_JOB_SIZE", "flux run"},
                                       {"JSM_NAMESPACE_SIZE", "jsrun"}}) {
    const Variables set(Variables::Values{{name, "2"}});
    const std::string line = message_of([] { check_ranks(1, true); }, ExitCode::kEnvironment);
    EXPECT_TRUE(mentions(line, std::string(launcher) + " started 2 processes")) << line;
    EXPECT_TRUE(mentions(message_of([] { check_ranks(4, false); }, ExitCode::kEnvironment), "4 ranks"));
    EXPECT_NO_THROW(check_ranks(2, true));
  }
}

TEST(AskedFor, StepsOfSrunAreToldFromScriptsOfAJob) {
  const auto is_refused = [](const std::map<std::string, std::string>& values) {
    const Variables set(values);
    try {
      check_ranks(1, false);
    } catch (const Error& error) {
      EXPECT_TRUE(mentions(error.what(), "srun started 2 processes")) << error.what();
      EXPECT_TRUE(mentions(error.what(), "srun --mpi=")) << error.what();
      return true;
    }
    return false;
  };
  EXPECT_TRUE(is_refused({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}}));
  EXPECT_TRUE(is_refused({{"SLURM_STEP_ID", "3"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_NTASKS", "8"}}));
  EXPECT_FALSE(is_refused({{"SLURM_NTASKS", "2"}})) << "the script of a job";
  EXPECT_FALSE(is_refused({{"SLURM_STEP_ID", "4294967291"}, {"SLURM_NTASKS", "2"}})) << "its step";
  EXPECT_FALSE(is_refused({{"SLURM_STEP_ID", "4294967290"}, {"SLURM_NTASKS", "2"}})) << "a shell of salloc";
  EXPECT_FALSE(is_refused({{"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_NTASKS", "2"}}));
  EXPECT_FALSE(is_refused({{"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}, {"OMPI_COMM_WORLD_SIZE", "1"}}))
      << "mpirun, started on a node by srun";
}

TEST(AskedFor, OtherRanksThanAskedForAreRefused) {
  const Variables set(Variables::Values{{"FABRICMARK_EXPECT_RANKS", "4"}});
  EXPECT_NO_THROW(check_ranks(4, false));
  EXPECT_TRUE(
      mentions(message_of([] { check_ranks(2, false); }), "asked for 4 ranks, but this run has 2 ranks"));
  setenv("FABRICMARK_LAUNCHER", "srun", 1);
  const std::string line = message_of([] { check_ranks(1, true); }, ExitCode::kEnvironment);
  EXPECT_TRUE(mentions(line, "srun was to start 4 ranks, but this run has 1 rank")) << line;
}

TEST(AskedFor, AnotherDeviceThanAskedForIsRefused) {
  device::DeviceInfo info;
  info.name = "GPU of 2030";
  info.platform_index = 1;
  const Variables set(Variables::Values{{"FABRICMARK_EXPECT_DEVICE", info.name}});
  EXPECT_NO_THROW(check_device(info));
  info.name = "CPU";
  EXPECT_TRUE(mentions(message_of([&] { check_device(info); }, ExitCode::kEnvironment),
                       "the device 1:0 is 'CPU', but 'GPU of 2030' was asked for"));
}

}  // namespace

}  // namespace fabricmark::runtime
