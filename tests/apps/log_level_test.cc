#include "hearth/apps/processes.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

// The lines that a process shows after logging an information and a warning.
std::string shown(int rank, int local_rank, Verbosity level = Verbosity::passive,
                  Verbosity replica = Verbosity::warning, bool on_each_node = true) {
  comm::World world;
  world.size = 4;
  world.local_size = 2;
  world.rank = rank;
  world.local_rank = local_rank;
  TrainingArguments args;
  args.log_level = level;
  args.log_level_replica = replica;
  args.log_on_each_node = on_each_node;
  const LogCapture log;
  apps::log_as(world);
  apps::log_as(world, args);
  log_info("i");
  log_warning("w");
  set_log_level(LogLevel::info);
  std::string all;
  for (const auto* messages : {&log.infos, &log.warnings})
    for (const std::string& message : *messages) all += message + ";";
  return all;
}

TEST(LogLevel, OfTheFirstProcess) {
  EXPECT_EQ(shown(0, 0), "i;rank 0: w;");
  for (const Verbosity level : {Verbosity::detail, Verbosity::debug, Verbosity::info})
    EXPECT_EQ(shown(0, 0, level), "i;rank 0: w;") << name_of(level);
  EXPECT_EQ(shown(0, 0, Verbosity::warning), "rank 0: w;");
  for (const Verbosity level : {Verbosity::error, Verbosity::critical})
    EXPECT_EQ(shown(0, 0, level), "") << name_of(level);
  EXPECT_EQ(shown(0, 0, Verbosity::passive, Verbosity::error), "i;rank 0: w;");
}

TEST(LogLevel, OfTheOthers) {
  EXPECT_EQ(shown(1, 1), "rank 1: w;");
  EXPECT_EQ(shown(1, 1, Verbosity::error), "rank 1: w;");
  EXPECT_EQ(shown(1, 1, Verbosity::error, Verbosity::passive), "rank 1: w;");
  EXPECT_EQ(shown(1, 1, Verbosity::error, Verbosity::info), "rank 1: i;rank 1: w;");
  EXPECT_EQ(shown(1, 1, Verbosity::info, Verbosity::error), "");
}

TEST(LogLevel, OfTheFirstProcessOfAnotherHost) {
  EXPECT_EQ(shown(2, 0), "rank 2: w;");
  EXPECT_EQ(shown(2, 0, Verbosity::info), "rank 2: i;rank 2: w;");
  EXPECT_EQ(shown(2, 0, Verbosity::error), "");
  EXPECT_EQ(shown(2, 0, Verbosity::info, Verbosity::warning, false), "rank 2: w;");
  EXPECT_EQ(shown(3, 1, Verbosity::info), "rank 3: w;");
}

using LogLevelOfARun = ProgramTest;

TEST_F(LogLevelOfARun, SilencesMessagesNotResults) {
  const auto train = [&](const std::string& flags) {
    const Outcome outcome = run_qa("--do_train --max_steps 2 --overwrite_output_dir --output_dir out " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "***** train metrics *****"));
    EXPECT_TRUE(contains(outcome.out, "{\"loss\": "));
    return outcome.out;
  };
  const std::string message = "***** Running training *****";
  EXPECT_TRUE(contains(train(""), message));
  EXPECT_FALSE(contains(train("--log_level warning"), message));
  const std::string notice = "--no_cuda is accepted and has no effect";
  EXPECT_TRUE(contains(train("--no_cuda"), notice));
  for (const char* level : {"warning", "error"})
    EXPECT_FALSE(contains(train(std::string("--no_cuda --log_level ") + level), notice)) << level;
  EXPECT_TRUE(contains(train("--log_level detail"), message));
  EXPECT_TRUE(
      contains(run_qa("--do_train --output_dir out --log_level loud").error(), "--log_level: 'loud' is none of"));
}

}  // namespace
}  // namespace hearth
