#include <sys/syscall.h>
#include <unistd.h>

#include "hearth/cpu/topology.h"
#include "hearth/launch/plan/ports.h"
#include "tests/launch/launch_program.h"

namespace hearth {
namespace {

const std::string kScript = "--mixed_precision bf16 --ipex --main_process_port 0 ";

class Contract : public LaunchTest {
 protected:
  void expect_two_ranks() const {
    for (const int rank : {0, 1}) expect_world(contract(rank), rank, 2, rank, 2);
    EXPECT_FALSE(contract(0).at("HEARTH_JOB_TOKEN").empty());
    EXPECT_EQ(contract(0).at("HEARTH_JOB_TOKEN"), contract(1).at("HEARTH_JOB_TOKEN"));
    EXPECT_EQ(contract(0).at("MASTER_PORT"), contract(1).at("MASTER_PORT"));
    if (cpu::topology().usable_cores >= 2) {
      EXPECT_NE(contract(0).at("Cpus_allowed_list"), contract(1).at("Cpus_allowed_list"));
    }
  }
};

TEST_F(Contract, OneProcess) {
  const Outcome outcome = launch("--mixed_precision bf16 --ipex --num_processes 1 " + contract_printer());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_world(contract(0), 0, 1, 0, 1);
  EXPECT_EQ(contract(0).at("MASTER_ADDR"), "127.0.0.1");
  EXPECT_EQ(contract(0).at("MASTER_PORT"), "29500");
  EXPECT_FALSE(contract(0).contains("CCL_WORKER_COUNT"));
}

TEST_F(Contract, ProcessesOfThisHost) {
  const Outcome outcome = launch(kScript + "--num_processes 2 --ccl_worker_count 1 " + contract_printer());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_two_ranks();
  EXPECT_EQ(contract(1).at("CCL_WORKER_COUNT"), "1");
}

TEST_F(Contract, MpirunOfEachKind) {
  for (const char* kind : {"mpich", "openmpi"}) {
    const std::string path = path_of_mpirun(kind);
    if (path.empty()) GTEST_SKIP() << "there is no mpirun." << kind;
    const Outcome outcome =
        launch(kScript + "--num_processes 2 --mpirun " + contract_printer(), "export " + path + ";");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    expect_two_ranks();
    fs::remove(folder() / "rank_0");
    fs::remove(folder() / "rank_1");
  }
}

// Two hosts that are this one, reached by a program in ssh's place.
TEST_F(Contract, HostfileWithSeveralHosts) {
  const std::string path = path_of_mpirun("mpich");
  if (path.empty()) GTEST_SKIP() << "there is no mpirun.mpich";
  write("hostfile", "127.0.0.2 # node0\n127.0.0.3 # node1\n");
  write("ssh", "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done; shift; eval \"exec $*\"\n");
  fs::permissions(folder() / "ssh", fs::perms::owner_all);
  const Outcome outcome =
      launch("--mixed_precision bf16 --ipex --num_machines 2 --num_processes 4 --mpirun_hostfile hostfile " +
                 contract_printer(),
             "export HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=" + (folder() / "ssh").string() + " " + path + ";");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (int rank = 0; rank < 4; ++rank) {
    expect_world(contract(rank), rank, 4, rank % 2, 2);
    EXPECT_EQ(contract(rank).at("MASTER_ADDR"), "127.0.0.2");
    EXPECT_EQ(contract(rank).at("CCL_WORKER_COUNT"), "1");
  }
}

TEST_F(Contract, AWorldThatExistsGetsOneProcessARank) {
  if (!fs::exists("/usr/bin/mpirun.mpich")) GTEST_SKIP() << "there is no mpirun.mpich";
  write("config.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_CPU\nmixed_precision: bf16\nnum_processes: 4\n"
        "ipex_config:\n  ipex: true\nuse_cpu: true\n");
  write("count.sh", "echo one >> " + (folder() / "count").string() + "; " + contract_printer() + "\n");
  const Outcome outcome = launch_under("mpirun.mpich -n 4", "--config_file config.yaml sh count.sh");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(io::read_file(folder() / "count"), "one\none\none\none\n");
  for (int rank = 0; rank < 4; ++rank) expect_world(contract(rank), rank, 4, rank, 4);
  EXPECT_TRUE(contains(outcome.out, "of a job started by mpich: one process is started"));
}

TEST_F(Contract, SizesOfAWorldMustAgree) {
  const std::string world = "export RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2;";
  const Outcome refused = launch("--num_processes 3 true", world);
  EXPECT_TRUE(contains(refused.error(), "--num_processes 3, but this job was started with 2 processes (environment)"));
  write("config.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_CPU\nnum_processes: 3\nuse_cpu: true\n");
  const Outcome warned = launch("--config_file config.yaml true", world);
  EXPECT_EQ(warned.status, 0);
  EXPECT_TRUE(contains(warned.err, "config.yaml says num_processes: 3, but this job was started with 2 processes"));
}

TEST_F(Contract, MemoryComesFromTheNode) {
  if (syscall(SYS_set_mempolicy, 0, nullptr, 0) != 0) GTEST_SKIP() << "this container forbids to bind memory";
  const Outcome outcome = launch("-q --num_processes 2 --main_process_port 0 head -n 1 /proc/self/numa_maps");
  EXPECT_TRUE(contains(first_line(outcome.out, "[1] "), " prefer"));
}

TEST_F(Contract, TwoRanksTrainAsUnderMpirun) {
  if (kSanitized) GTEST_SKIP() << "MPICH dies in a process with a sanitizer";
  if (!fs::exists("/usr/bin/mpirun.mpich")) GTEST_SKIP() << "there is no mpirun.mpich";
  if (cpu::topology().usable_cores < 2) GTEST_SKIP() << "there is one core for two ranks";
  const std::string job = "run_qa --model_name_or_path " + start_model().string() + " --train_file " +
                          (kFixtures / "train.json").string() +
                          " --max_seq_length 64 --doc_stride 16 --max_steps 3 --disable_tqdm True --do_train "
                          "--output_dir ";
  const Outcome launched = launch("-q --num_processes 2 --main_process_port 0 " + job + "launched");
  EXPECT_EQ(launched.status, 0) << launched.err;
  const Outcome mpirun =
      run_program(folder(), job + "mpirun",
                  "export MASTER_PORT=" + std::to_string(hearth::launch::free_port()) + "; mpirun.mpich -n 2");
  EXPECT_EQ(mpirun.status, 0) << mpirun.err;
  EXPECT_EQ(io::read_file(folder() / "launched/model.safetensors"),
            io::read_file(folder() / "mpirun/model.safetensors"));
}

TEST_F(Contract, OneProcessMayLaunchAWorld) {
  const Outcome outcome =
      launch(std::string("-q --num_processes 1 ") + kProgram + " launch -q --num_processes 2 --main_process_port 0 " +
             std::string("--mixed_precision bf16 --ipex ") + contract_printer());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_world(contract(1), 1, 2, 1, 2);
}

TEST_F(Contract, APythonScript) {
  write("x.py", "import os, sys\nprint(os.environ['RANK'], os.environ['WORLD_SIZE'], sys.argv[1:])\n");
  const Outcome outcome = launch("-q --num_processes 2 --main_process_port 0 x.py --a b");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "[0] 0 2 ['--a', 'b']\n"));
  EXPECT_TRUE(contains(outcome.out, "[1] 1 2 ['--a', 'b']\n"));
  EXPECT_EQ(launch("-q --num_processes 1 x.py").out, "0 1 []\n");
}

TEST_F(Contract, HearthsOwnCommands) {
  const Outcome outcome = launch("-q --num_processes 2 --main_process_port 0 env");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "[1] - usable_cores: "));
}

}  // namespace
}  // namespace hearth
