#include "hearth/comm/world.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "hearth/base/environment.h"
#include "hearth/comm/connect.h"
#include "hearth/comm/plugin_loader.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

using Variables = std::map<std::string, std::string>;

// The variables of launchers as given while this lives, all others unset.
class Launched {
 public:
  explicit Launched(const Variables& variables) {
    for (const EnvironmentVariable& variable : environment_variables()) {
      const std::string_view name = variable.name;
      if (name == "HOME" || !getenv(variable.name)) continue;
      before_[variable.name] = getenv(variable.name);
      unsetenv(variable.name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    given_ = variables;
  }
  ~Launched() {
    for (const auto& [name, value] : given_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

 private:
  Variables before_, given_;
};

struct Case {
  Variables variables;
  int rank, size, local_rank, local_size;
  Launcher launcher;
};

TEST(World, ComesFromTheLaunchersVariables) {
  const Case cases[] = {
      {{}, 0, 1, 0, 1, Launcher::none},
      {{{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "2"}},
       3,
       4,
       1,
       2,
       Launcher::environment},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}}, 1, 2, 1, 2, Launcher::environment},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "localhost"}}, 1, 2, 1, 2, Launcher::environment},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}}, 1, 2, 0, 1, Launcher::environment},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}, {"LOCAL_RANK", "1"}},
       1,
       2,
       1,
       2,
       Launcher::environment},
      {{{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}},
       2,
       4,
       0,
       2,
       Launcher::mpich},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"I_MPI_HYDRA_UUID", "c1"}}, 1, 2, 1, 2, Launcher::intel},
      {{{"OMPI_COMM_WORLD_RANK", "5"},
        {"OMPI_COMM_WORLD_SIZE", "6"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
        {"PMIX_RANK", "5"}},
       5,
       6,
       2,
       3,
       Launcher::openmpi},
      {{{"MV2_COMM_WORLD_RANK", "1"},
        {"MV2_COMM_WORLD_SIZE", "2"},
        {"MV2_COMM_WORLD_LOCAL_RANK", "0"},
        {"MV2_COMM_WORLD_LOCAL_SIZE", "1"}},
       1,
       2,
       0,
       1,
       Launcher::mvapich},
      {{{"PMIX_RANK", "1"}, {"SLURM_STEP_ID", "0"}, {"SLURM_NTASKS", "2"}}, 1, 2, 1, 2, Launcher::pmix},
      {{{"SLURM_STEP_ID", "0"},
        {"SLURM_PROCID", "5"},
        {"SLURM_NTASKS", "8"},
        {"SLURM_LOCALID", "1"},
        {"SLURM_NODEID", "2"},
        {"SLURM_STEP_TASKS_PER_NODE", "3,1,2(x2)"}},
       5,
       8,
       1,
       2,
       Launcher::slurm},
      // In the script of sbatch, and in the shell of salloc.
      {{{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, 0, 1, 0, 1, Launcher::none},
      {{{"SLURM_STEP_ID", "4294967290"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, 0, 1, 0, 1, Launcher::none},
      // The pattern of torch-ccl's README: under mpirun, RANK=$PMI_RANK.
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, 1, 2, 1, 2, Launcher::mpich},
  };
  for (const Case& expected : cases) {
    const Launched launched(expected.variables);
    const World world = world_from_environment();
    SCOPED_TRACE(testing::PrintToString(expected.variables));
    EXPECT_EQ(world.rank, expected.rank);
    EXPECT_EQ(world.size, expected.size);
    EXPECT_EQ(world.local_rank, expected.local_rank);
    EXPECT_EQ(world.local_size, expected.local_size);
    EXPECT_EQ(world.launcher, expected.launcher);
    EXPECT_EQ(world.several_hosts(), expected.local_size < expected.size);
  }
}

TEST(World, TellsOfAnotherMpisHydra) {
  const Variables mpich{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}};
  const auto advice = [](Variables variables, const Variables& more) {
    variables.insert(more.begin(), more.end());
    const Launched launched(variables);
    return launcher_advice(world_from_environment());
  };
  EXPECT_EQ(advice(mpich, {}), "");
  EXPECT_TRUE(contains(advice(mpich, {{"I_MPI_MPIRUN", "mpirun"}}), "hearth env --setvars"));
  EXPECT_EQ(advice(mpich, {{"I_MPI_MPIRUN", "mpirun"}, {"I_MPI_HYDRA_UUID", "c1"}}), "");
}

TEST(World, RefusesNonsenseByName) {
  const std::pair<Variables, const char*> cases[] = {
      {{{"RANK", "one"}, {"WORLD_SIZE", "2"}}, "RANK=one"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "2"}}, "RANK=-1"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "WORLD_SIZE=0"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2x"}}, "WORLD_SIZE=2x"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "99999999999"}}, "WORLD_SIZE=99999999999"},
      {{{"RANK", "2"}, {"WORLD_SIZE", "2"}}, "RANK=2 must be below WORLD_SIZE=2"},
      {{{"WORLD_SIZE", "2"}}, "set RANK too"},
      {{{"RANK", "1"}}, "set WORLD_SIZE too"},
      {{{"PMIX_RANK", "1"}}, "set WORLD_SIZE too"},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "3"}}, "MPI_LOCALNRANKS=3"},
      {{{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "2"}}, "MPI_LOCALRANKID=2"},
  };
  for (const auto& [variables, message] : cases) {
    const Launched launched(variables);
    EXPECT_TRUE(contains(error_of([] { world_from_environment(); }), message));
  }
}

TEST(Backend, IsChosenAndRefusedAsAccelerateDoes) {
  const World one_host{0, 2, 0, 2, Launcher::environment}, two_hosts{0, 2, 0, 1, Launcher::environment};
  ConnectOptions options;
  const auto refusal = [&](const World& world, const char* backend) {
    options.backend = backend;
    return error_of([&] { connect(world, options); });
  };
  const Launched launched(Variables{{"HEARTH_PLUGIN_PATH", "/nowhere"}});
  const auto is_there = [](const char* backend) { return find_plugin(backend, Launcher::environment).has_value(); };
  EXPECT_EQ(preferred_backend(one_host), is_there("shm") ? "shm" : "gloo");
  EXPECT_EQ(preferred_backend(two_hosts), "gloo");
  EXPECT_TRUE(contains(refusal(one_host, "ccl"), is_there("ccl") ? "CCL_WORKER_COUNT=1" : "install"));
  EXPECT_TRUE(contains(refusal(one_host, "mpi"), is_there("mpi") ? "use mpirun" : "install"));
  EXPECT_TRUE(contains(refusal(one_host, "nccl"), "no backend nccl"));
  EXPECT_TRUE(contains(refusal(two_hosts, "shm"), is_there("shm") ? "needs all ranks on one host" : "install"));
  EXPECT_TRUE(contains(refusal(two_hosts, "gloo"), is_there("gloo") ? "set MASTER_ADDR" : "install"));
  EXPECT_EQ(connect(World{}, {})->backend(), "self");
  {
    const Launched loopback(Variables{{"MASTER_ADDR", "127.0.0.1"}});
    EXPECT_TRUE(contains(refusal(two_hosts, "gloo"), is_there("gloo") ? "127.0.0.1 is a loopback" : "install"));
  }
}

}  // namespace
}  // namespace hearth::comm
