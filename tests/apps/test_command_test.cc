// `hearth test`: it starts the processes of a configuration and checks them.
#include <gtest/gtest.h>

#include "tests/apps/job.h"

namespace hearth {
namespace {

const std::string kSentence = "Test is a success! You are ready for your distributed training!";

class TestCommand : public ProgramTest {
 protected:
  Outcome test_of(const std::string& type, int processes) const {
    write("config.yaml", fmt::format("compute_environment: LOCAL_MACHINE\ndistributed_type: {}\nmachine_rank: 0\n"
                                     "main_process_port: {}\nmixed_precision: 'no'\nnum_machines: 1\n"
                                     "num_processes: {}\nuse_cpu: true\n",
                                     type, launch::free_port(), processes));
    return hearth("test --config_file config.yaml");
  }
};

TEST_F(TestCommand, OneProcess) {
  const Outcome outcome = test_of("'NO'", 1);
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).back(), kSentence);
  EXPECT_TRUE(contains(outcome.out, "processes  1, hosts: 1, over self"));
}

TEST_F(TestCommand, TwoProcessesOverSharedMemory) {
  const Outcome outcome = test_of("MULTI_CPU", 2);
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).back(), kSentence);
  EXPECT_TRUE(contains(outcome.out, "processes  2, hosts: 1, over shm"));
  for (const char* check : {"all_reduce", "reduce", "broadcast", "all_gather", "gather", "scatter", "reduce_scatter",
                            "all_to_all", "send and recv", "barrier", "random numbers", "data sharding",
                            "training in fp32", "training in bf16", "training with a sharded optimizer"})
    EXPECT_TRUE(contains(outcome.out, fmt::format("[0] checking {0}\n[0] ok    {0}  ", check)));
}

TEST_F(TestCommand, AConfigurationThatCannotStart) {
  write("config.yaml", "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 2\n");
  for (const char* file : {"config.yaml", "absent.yaml"}) {
    const Outcome outcome = hearth(std::string("test --config_file ") + file);
    EXPECT_NE(outcome.status, 0);
    EXPECT_TRUE(contains(outcome.err, file));
    EXPECT_FALSE(contains(outcome.out, kSentence));
  }
}

}  // namespace
}  // namespace hearth
