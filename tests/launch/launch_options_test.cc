#include "hearth/launch/plan/launch_options.h"

#include "tests/support.h"

namespace hearth::launch {
namespace {

LaunchOptions parse(std::vector<std::string> words) { return parse_launch_options(words); }

TEST(LaunchOptions, WordsAfterTheTargetAreItsOwn) {
  const LaunchOptions options = parse({"-q", "--num-processes", "2", "--cpu", "run_qa", "--num_processes", "3", "-q"});
  EXPECT_TRUE(options.quiet);
  EXPECT_TRUE(options.cpu);
  EXPECT_EQ(options.num_processes, 2);
  EXPECT_EQ(options.target, "run_qa");
  EXPECT_EQ(options.target_arguments, (std::vector<std::string>{"--num_processes", "3", "-q"}));
}

TEST(LaunchOptions, HyphensAndShortForms) {
  const LaunchOptions options =
      parse({"-m", "--main-process-port=0", "-t", "0:3", "--use-logical-cores", "pkg.train", "x"});
  EXPECT_TRUE(options.module);
  EXPECT_TRUE(options.use_logical_cores);
  EXPECT_EQ(options.main_process_port, 0);
  EXPECT_EQ(options.tee, "0:3");
  EXPECT_EQ(options.target, "pkg.train");
}

TEST(LaunchOptions, ATargetMayBeginWithAMinusAfterTwo) {
  EXPECT_EQ(parse({"--cpu", "--", "program", "-x"}).target, "program");
}

TEST(LaunchOptions, FlagsNeedTheirWholeNames) {
  EXPECT_EQ(error_of([] {
              parse({"--num_proc", "2", "run_qa"});
            }),
            "there is no option --num_proc; did you mean --num_processes?");
}

TEST(LaunchOptions, ATargetMayBeCalledAsABoolIs) {
  const LaunchOptions options = parse({"-q", "--no_python", "true", "yes"});
  EXPECT_TRUE(options.no_python && options.quiet);
  EXPECT_EQ(options.target, "true");
  EXPECT_EQ(options.target_arguments, std::vector<std::string>{"yes"});
  EXPECT_TRUE(parse({"--help"}).help.has_value());
}

TEST(LaunchOptions, NoAbbreviations) {
  EXPECT_TRUE(contains(error_of([] { parse({"--num_proc", "2", "x"}); }), "there is no option --num_proc"));
}

TEST(LaunchOptions, ATargetIsNeeded) {
  EXPECT_TRUE(contains(error_of([] { parse({"--cpu"}); }), "TARGET is needed"));
}

TEST(LaunchOptions, AcceleratorsAreRefused) {
  EXPECT_TRUE(contains(error_of([] { parse({"--multi_gpu", "x.py"}); }), "Hearth trains on CPUs"));
  EXPECT_TRUE(contains(error_of([] { parse({"--mixed_precision", "fp8", "x.py"}); }), "none of no, fp16, bf16"));
}

TEST(LaunchOptions, WordsAreSplitAtTheTarget) {
  LaunchOptions any;
  Arguments arguments;
  declare(arguments, any);
  const std::vector<std::string> words{"--multi_gpu", "-m", "--num-processes", "2", "x.py", "--cpu"};
  const LaunchWords split = split_launch_words(words, arguments.declared());
  EXPECT_EQ(split.target, 4u);
  std::vector<std::string> own;
  for (const LaunchWords::Flag& flag : split.flags) own.push_back(flag.word);
  EXPECT_EQ(own, (std::vector<std::string>{"--multi_gpu=True", "--module=True", "--num-processes=2"}));
  EXPECT_EQ(split.flags.back().first, 2u);
  EXPECT_EQ(split.flags.back().count, 2u);
  EXPECT_TRUE(contains(error_of([] { parse({"---", "x.py"}); }), "there is no option ---"));
}

TEST(LaunchOptions, WhatChangesNothingIsSaid) {
  const LogCapture log;
  EXPECT_EQ(parse({"--same_network", "--rdzv_backend", "static", "--monitor_interval", "5", "x.py"}).target, "x.py");
  EXPECT_EQ(log.infos.size(), 3u);
}

}  // namespace
}  // namespace hearth::launch
