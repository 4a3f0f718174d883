#include "hearth/launch/plan/mpirun_command.h"

#include <fmt/ranges.h>

#include "tests/support.h"

namespace hearth::launch {
namespace {

LaunchPlan plan_of(int machines, int ranks) {
  LaunchPlan plan;
  plan.method = StartMethod::mpirun;
  plan.num_machines = machines;
  plan.num_processes = ranks;
  plan.local_processes = ranks / machines;
  plan.main_ip = "10.0.0.1";
  plan.communication_threads = 1;
  if (machines > 1) plan.hostfile = "hosts";
  return plan;
}

std::string command(MpiKind kind, const LaunchPlan& plan) {
  return fmt::format("{}", fmt::join(mpirun_command({"mpirun", kind}, plan, {}, {"program", "x"}), " "));
}

TEST(MpirunCommand, KindsByTheirVersions) {
  EXPECT_EQ(kind_of_mpirun("mpirun (Open MPI) 4.1.4\n"), MpiKind::openmpi);
  EXPECT_EQ(kind_of_mpirun("mpirun.openmpi (OpenRTE) 4.1.4\n"), MpiKind::openmpi);
  EXPECT_EQ(kind_of_mpirun("Intel(R) MPI Library for Linux* OS, Version 2021.16"), MpiKind::intel);
  EXPECT_EQ(kind_of_mpirun("HYDRA build details:\n    Version: 4.0.2\n"), MpiKind::mpich);
}

TEST(MpirunCommand, EachGetsFlagsThatItUnderstands) {
  const LaunchPlan plan = plan_of(4, 16);
  EXPECT_TRUE(contains(command(MpiKind::mpich, plan), "mpirun -f hosts -ppn 4 -n 16 -prepend-rank /"));
  EXPECT_TRUE(
      contains(command(MpiKind::intel, plan), "mpirun -f hosts -ppn 4 -n 16 -prepend-rank -genv I_MPI_PIN 0 /"));
  EXPECT_TRUE(contains(command(MpiKind::openmpi, plan), "--hostfile hosts --npernode 4 -n 16 --bind-to none"));
  EXPECT_TRUE(contains(command(MpiKind::openmpi, plan), "-x HEARTH_JOB_TOKEN"));
  EXPECT_EQ(command(MpiKind::mpich, plan_of(1, 2)).find("-f "), std::string::npos);
}

TEST(MpirunCommand, RanksAreLaunchedWithWhatWasDecided) {
  const std::string text = command(MpiKind::mpich, plan_of(4, 16));
  EXPECT_TRUE(contains(
      text,
      " launch --quiet --no_config_file --num_processes 16 --main_process_ip 10.0.0.1 --main_process_port 29500"));
  EXPECT_TRUE(contains(text, "--ccl_worker_count 1"));
  EXPECT_TRUE(text.ends_with(" --no_python program x"));
}

TEST(MpirunCommand, LinesBearTheirRanks) {
  using Origin = std::pair<int, std::string_view>;
  EXPECT_EQ(mpirun_line_origin("[3] text"), (Origin{3, "text"}));
  EXPECT_EQ(mpirun_line_origin("[1,12]<stdout>:text"), (Origin{12, "text"}));
  EXPECT_EQ(mpirun_line_origin("[1,0]<stderr>:"), (Origin{0, ""}));
  EXPECT_EQ(mpirun_line_origin("[host] text"), (Origin{-1, "[host] text"}));
  EXPECT_EQ(mpirun_line_origin("text"), (Origin{-1, "text"}));
}

}  // namespace
}  // namespace hearth::launch
