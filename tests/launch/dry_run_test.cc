#include <fmt/format.h>
#include <unistd.h>

#include "hearth/cpu/topology.h"
#include "hearth/launch/plan/ports.h"
#include "tests/launch/launch_program.h"

namespace hearth {
namespace {

using DryRun = LaunchTest;

TEST_F(DryRun, OneNodeIsOneProcessOnAllCores) {
  const std::string text = dry_run("one_node", "");
  EXPECT_TRUE(contains(text, "  0      0      0        0-3                      4        -"));
  EXPECT_TRUE(contains(text, " run_qa --x 'a b'\n"));
  EXPECT_TRUE(contains(text, "OMP_PLACES={0},{1},{2},{3}\n"));
  EXPECT_TRUE(contains(text, "by default one per NUMA node"));
}

TEST_F(DryRun, TwoNodesWithHardwareThreads) {
  const std::string text = dry_run("two_nodes_threads", "--ccl_worker_count 1");
  EXPECT_TRUE(contains(text, "  0      0      0        0-2,8-10                 3        3,11"));
  EXPECT_TRUE(contains(text, "  1      1      1        4-6,12-14                3        7,15"));
  EXPECT_TRUE(contains(text, "CCL_WORKER_AFFINITY=3,7\n"));
  EXPECT_TRUE(contains(first_line(text, "  rank 1:"), "RANK=1 LOCAL_RANK=1 OMP_PLACES='{4,12},{5,13},{6,14}'"));
}

TEST_F(DryRun, AMaskIsRespected) {
  const std::string text = dry_run("two_nodes_mask", "");
  EXPECT_TRUE(contains(text, "  0      0      0        2-3,10-11                2        -"));
  EXPECT_TRUE(contains(text, "  1      1      1        4-6,12-14                3        -"));
}

TEST_F(DryRun, EightNodes) {
  EXPECT_TRUE(contains(dry_run("eight_nodes", ""), "  7      7      7        14-15                    2        -"));
  const std::string text = dry_run("eight_nodes", "--num_processes 2");
  EXPECT_TRUE(contains(text, "  1      1      4-7      8-15                     8        -"));
}

TEST_F(DryRun, LogicalCores) {
  const std::string text = dry_run("two_nodes_threads", "--use_logical_cores --num_processes 2");
  EXPECT_TRUE(contains(text, "OMP_NUM_THREADS=8\n"));
}

TEST_F(DryRun, InstancesOfSomeCores) {
  const std::string text = dry_run("two_nodes_threads", "--ncores_per_instance 2");
  EXPECT_TRUE(contains(text, "  3      3      1        6-7,14-15                2        -"));
  EXPECT_TRUE(contains(dry_run("two_nodes_threads", "--ninstances 2 --nodes_list 1"),
                       "  0      0      1        4-5,12-13                2        -"));
  EXPECT_TRUE(contains(dry_run("two_nodes_threads", "--cores_list 0-1"),
                       "  0      0      0        0-1                      2        -"));
}

TEST_F(DryRun, OneOfSeveralMachines) {
  const std::string text = dry_run("one_node",
                                   "--num_machines 2 --num_processes 4 --machine_rank 1 --main_process_ip 10.0.0.1 "
                                   "--main_process_port 1234");
  EXPECT_TRUE(contains(text, "  3      1      0        2-3                      2        -"));
  EXPECT_TRUE(contains(text, "MASTER_ADDR=10.0.0.1\n"));
  EXPECT_TRUE(contains(text, "WORLD_SIZE=4\n"));
  EXPECT_FALSE(contains(text, "HEARTH_JOB_TOKEN"));
}

TEST_F(DryRun, PortsThatAreChosen) {
  const std::string text = launch("--dry_run --num_processes 2 --main_process_port 0 run_qa").out;
  EXPECT_TRUE(contains(first_line(text, "  main_process_port"), "a free port"));
  EXPECT_FALSE(contains(text, "MASTER_PORT=0\n"));
}

TEST_F(DryRun, Mpirun) {
  const std::string path = path_of_mpirun("mpich");
  if (path.empty()) GTEST_SKIP() << "there is no mpirun.mpich";
  write("hostfile", "127.0.0.2\n127.0.0.3\n");
  const std::string text =
      launch("--dry_run --num_processes 4 --mpirun_hostfile hostfile run_qa", "export " + path + ";").out;
  EXPECT_TRUE(contains(first_line(text, "  num_machines"), "the hosts of the hostfile"));
  EXPECT_TRUE(contains(first_line(text, "  mpirun "), "mpirun -f hostfile -ppn 2 -n 4 -prepend-rank"));
  EXPECT_TRUE(contains(text, "MASTER_ADDR=127.0.0.2\n"));
  EXPECT_TRUE(contains(text, "CCL_WORKER_COUNT=1\n"));
  EXPECT_TRUE(contains(first_line(text, "  rank 1:"), " RANK=1 LOCAL_RANK=1"));
}

TEST_F(DryRun, FlagsBeatTheFileBeatsTheEnvironment) {
  const std::string port = std::to_string(hearth::launch::free_port());
  write("config.yaml",
        "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_CPU\nmixed_precision: bf16\nnum_processes: 2\n"
        "ipex_config:\n  ipex: true\nuse_cpu: true\nmain_process_port: " +
            port + "\n");
  const std::string with_file = "--dry_run --config_file config.yaml ";
  const std::string environment = "export ACCELERATE_MIXED_PRECISION=fp16 MASTER_PORT=1 OMP_NUM_THREADS=3;";
  const std::string text = launch(with_file + "run_qa", environment).out;
  EXPECT_TRUE(contains(text, "ACCELERATE_MIXED_PRECISION=bf16\n"));
  EXPECT_TRUE(contains(text, "MASTER_PORT=" + port + "\n"));
  EXPECT_TRUE(contains(text, "WORLD_SIZE=2\n"));
  EXPECT_TRUE(contains(text, "OMP_NUM_THREADS=3\n"));
  EXPECT_TRUE(contains(text, "ACCELERATE_USE_IPEX=true\n"));
  EXPECT_TRUE(contains(first_line(text, "  mixed_precision"), "config.yaml"));
  const std::string flags = launch(with_file + "--mixed_precision no --num_processes 1 run_qa", environment).out;
  EXPECT_TRUE(contains(flags, "ACCELERATE_MIXED_PRECISION=no\n"));
  EXPECT_TRUE(contains(first_line(flags, "  num_processes"), "--num_processes"));
  EXPECT_TRUE(
      contains(launch("--dry_run --num_processes 1 run_qa", environment).out, "ACCELERATE_MIXED_PRECISION=fp16\n"));
}

TEST_F(DryRun, AFileThatDistributesNothingStartsOneProcess) {
  write("config.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: 'NO'\nnum_processes: 4\n");
  const Outcome outcome = launch("--dry_run --config_file config.yaml run_qa");
  EXPECT_TRUE(contains(outcome.out + outcome.err, "distributed_type: NO, so one process is started")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "WORLD_SIZE=1\n")) << outcome.out;
  const Outcome asked = launch("--dry_run --num_processes 2 --main_process_port 0 --config_file config.yaml run_qa");
  EXPECT_TRUE(contains(asked.out, "WORLD_SIZE=2\n")) << asked.out;
  EXPECT_FALSE(contains(asked.err, "one process is started")) << asked.err;
}

TEST_F(DryRun, NoFileIsReadWhereNoneIsWanted) {
  fs::create_directories(folder() / "accelerate");
  write("accelerate/default_config.yaml", "distributed_type: MULTI_GPU\n");
  const std::string home = "export HF_HOME=" + folder().string() + ";";
  EXPECT_EQ(launch("--dry_run run_qa", home).status, 1);
  EXPECT_EQ(launch("--dry_run --no_config_file run_qa", home).status, 0);
}

TEST_F(DryRun, OneTaskOfSlurmMayStartAWorld) {
  const std::string task = "export SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_LOCALID=0;";
  const Outcome outcome = launch("--dry_run --num_processes 2 --main_process_port 0 run_qa", task);
  EXPECT_TRUE(contains(outcome.out, "WORLD_SIZE=2\n")) << outcome.err;
  EXPECT_EQ(launch("--dry_run --num_processes 2 run_qa", "export PMI_RANK=0 PMI_SIZE=1;").status, 1);
}

TEST_F(DryRun, NumbersHaveTheirLimits) {
  EXPECT_TRUE(contains(
      launch("--dry_run --num_machines 2 --num_processes 2 --machine_rank 4294967296 --main_process_ip x run_qa")
          .error(),
      "--machine_rank 4294967296: the rank of one of 2 machine(s) is between 0 and 1"));
  EXPECT_TRUE(contains(launch("--dry_run --num_processes 1 run_qa", "export OMP_NUM_THREADS=5000000000;").error(),
                       "5000000000 threads per process are too many"));
}

// The mask that a launcher gave, through a program that stands between it and the rank.
TEST_F(DryRun, ABoundRankIsKnownBehindAWrapper) {
  const auto machine = cpu::usable_machine();
  const int processor = cpu::processors_of_process(getpid()).front();
  if (machine.nodes.front().cores.size() < 2) GTEST_SKIP() << "this process may use one core alone";
  const std::string bound = fmt::format(
      "taskset -c {} env RANK=0 WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 MASTER_ADDR=127.0.0.1", processor);
  for (const std::string wrapper : {"", " timeout 60", " timeout 60 nice"}) {
    const Outcome outcome = launch_under(bound + wrapper, "--dry_run run_qa");
    EXPECT_TRUE(contains(outcome.out, fmt::format("OMP_PLACES={{{}}}\n", processor))) << wrapper << outcome.out;
    EXPECT_FALSE(contains(outcome.err, "share 1 core")) << wrapper << outcome.err;
  }
}

TEST_F(DryRun, TargetsOfAllKinds) {
  write("x.py", "");
  EXPECT_TRUE(contains(launch("--dry_run x.py --y").out, "\n  python3 -u x.py --y\n"));
  EXPECT_TRUE(contains(launch("--dry_run -m pkg.mod --y").out, "\n  python3 -u -m pkg.mod --y\n"));
  EXPECT_TRUE(contains(launch("--dry_run --no_python x.py --y").out, "\n  x.py --y\n"));
  EXPECT_TRUE(contains(launch("--dry_run run_qa a.json").out, std::string("\n  ") + kProgram + " run_qa a.json\n"));
  EXPECT_EQ(launch("--dry_run y.py").error(), "there is no script y.py");
}

TEST_F(DryRun, KmpVariablesAreExplained) {
  const std::string text =
      launch("--dry_run run_qa", "export KMP_BLOCKTIME=1 KMP_AFFINITY=granularity=fine,scatter;").out;
  EXPECT_TRUE(contains(first_line(text, "  KMP_BLOCKTIME"), "no effect: it belongs to Intel's OpenMP"));
  EXPECT_TRUE(contains(first_line(text, "  KMP_AFFINITY"), "OMP_PROC_BIND=spread"));
  EXPECT_TRUE(contains(text, "OMP_PROC_BIND=spread\n"));
}

}  // namespace
}  // namespace hearth
