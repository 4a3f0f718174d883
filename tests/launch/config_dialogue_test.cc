#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/yaml.h"
#include "tests/launch/conversation.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

constexpr const char* kDown = "\x1b[B";
constexpr const char* kInterrupt = "\x03";

class ConfigDialogue : public TemporaryFolder {
 protected:
  const std::filesystem::path file_ = folder_ / "default_config.yaml";
  const std::vector<std::string> words_{"config", "--config_file", file_.string()};

  void expect_every_key_of(const char* guide) {
    const io::Json expected = io::parse_yaml(io::read_file(fixture("launch") / guide), guide);
    const io::Json written = io::parse_yaml(io::read_file(file_), file_.string());
    for (const auto& [key, value] : expected.items()) EXPECT_EQ(written.value(key, io::Json()), value) << key;
  }
  io::Json written() const { return io::parse_yaml(io::read_file(file_), file_.string()); }
};

// The answers of the guide that people follow, word for word.
struct Answer {
  const char *question, *words;
};
constexpr Answer kGuideOneProcess[] = {
    {"In which compute environment are you running?", "This machine"},
    {"Which type of machine are you using?", "No distributed training"},
    {"Do you want to run your training on CPU only", "yes"},
    {"Do you want to use Intel PyTorch Extension (IPEX) to speed up training on CPU?", "yes"},
    {"Do you wish to optimize your script with torch dynamo?", "NO"},
    {"Do you want to use DeepSpeed?", "NO"},
    {"Do you wish to use FP16 or BF16 (mixed precision)?", "bf16"}};
constexpr Answer kGuideSeveral[] = {
    {"In which compute environment are you running?", "This machine"},
    {"Which type of machine are you using?", "multi-CPU"},
    {"How many different machines will you use", "4"},
    {"What is the rank of this machine?", "0"},
    {"What is the IP address of the machine that will host the main process?", "36.112.23.24"},
    {"What is the port you will use to communicate with the main process?", "29500"},
    {"Are all the machines on the same local network?", "yes"},
    {"Do you want to use Intel PyTorch Extension (IPEX) to speed up training on CPU?", "yes"},
    {"Do you wish to optimize your script with torch dynamo?", "NO"},
    {"How many CPU(s) should be used for distributed training?", "16"},
    {"Do you wish to use FP16 or BF16 (mixed precision)?", "bf16"}};

TEST_F(ConfigDialogue, TheGuidesAnswersForOneProcessOnATerminal) {
  Conversation conversation(words_, Conversation::Over::terminal);
  for (const Answer& answer : kGuideOneProcess) conversation.answer(answer.question, std::string(answer.words) + "\r");
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  EXPECT_TRUE(conversation.terminal_is_as_before());
  expect_every_key_of("guide_no.yaml");
}

TEST_F(ConfigDialogue, TheGuidesAnswersForSeveralProcessesOnATerminal) {
  Conversation conversation(words_, Conversation::Over::terminal);
  for (const Answer& answer : kGuideSeveral) conversation.answer(answer.question, std::string(answer.words) + "\r");
  conversation.answer("Should distributed operations be checked", "\r");
  conversation.answer("Do you want hearth to launch mpirun?", "\r");
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  expect_every_key_of("guide_multi_cpu.yaml");
  EXPECT_EQ(written().at("debug"), false);
  EXPECT_FALSE(written().contains("mpirun_config"));
}

TEST_F(ConfigDialogue, AllTypedAheadOnATerminal) {
  Conversation conversation(words_, Conversation::Over::terminal);
  std::string all;
  for (const Answer& answer : kGuideSeveral) all += std::string(answer.words) + "\r";
  conversation.type(all + "\r\r");
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  expect_every_key_of("guide_multi_cpu.yaml");
}

TEST_F(ConfigDialogue, ArrowsAndDigitsOnATerminal) {
  Conversation conversation(words_, Conversation::Over::terminal);
  conversation.answer("In which compute environment", "\r");
  conversation.answer("Which type of machine", std::string(kDown) + "\r");
  conversation.answer("How many different machines", "12\r");
  conversation.answer("What is the rank", "11\r");
  conversation.answer("What is the IP", "node0\r");
  conversation.answer("What is the port", "29500\r");
  conversation.answer("Are all the machines", "no\r");
  conversation.answer("What rendezvous backend", "\r");
  conversation.answer("IPEX", "\r");
  conversation.answer("torch dynamo", "yes\r");
  conversation.answer("Which dynamo backend", "\r");
  conversation.answer("Do you want to customize", "\r");
  conversation.answer("How many CPU(s)", "\r");
  conversation.answer("FP16 or BF16",
                      "1\x7f"
                      "2\r");
  conversation.answer("Should distributed operations", "yes\r");
  conversation.answer("launch mpirun", "yes\r");
  conversation.answer("path to the hostfile", "/etc/hosts.mpi\r");
  conversation.answer("oneCCL worker threads", "2\r");
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  const io::Json json = written();
  EXPECT_EQ(json.at("machine_rank"), 11);
  EXPECT_EQ(json.at("main_process_ip"), "node0");
  EXPECT_EQ(json.at("same_network"), false);
  EXPECT_EQ(json.at("mixed_precision"), "bf16");
  EXPECT_EQ(json.at("debug"), true);
  EXPECT_EQ(json.at("mpirun_config"), (io::Json{{"mpirun_ccl", "2"}, {"mpirun_hostfile", "/etc/hosts.mpi"}}));
  EXPECT_EQ(json.at("dynamo_config"), (io::Json{{"dynamo_backend", "INDUCTOR"}}));
}

TEST_F(ConfigDialogue, WrongAnswersAreExplainedAndAskedAgainOnATerminal) {
  Conversation conversation(words_, Conversation::Over::terminal);
  conversation.answer("In which compute environment", "AWS\r");
  conversation.answer("'AWS' is none of the choices. Hearth trains on CPUs", "\r");
  conversation.answer("Which type of machine", "multi-GPU\r");
  conversation.answer("'multi-GPU' is none of the choices", "1\r");
  conversation.answer("How many different machines", "four\r");
  conversation.answer("Please enter an integer, 1", "");
  conversation.answer("How many different machines", "1\r");
  conversation.answer("IPEX", "perhaps\r");
  conversation.answer("Please enter yes or no.", "");
  conversation.answer("IPEX", "Yes\r");
  conversation.answer("torch dynamo", "\r");
  conversation.answer("How many CPU(s)", "0\r");
  conversation.answer("Please enter an integer, 1", "");
  conversation.answer("How many CPU(s)", "2\r");
  conversation.answer("FP16 or BF16", "fp8\r");
  conversation.answer("'fp8' is none of the choices", "bf16\r");
  conversation.answer("Should distributed operations", "\r");
  conversation.answer("launch mpirun", "\r");
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  EXPECT_EQ(written().at("num_processes"), 2);
}

TEST_F(ConfigDialogue, InterruptedInAMenuOrAQuestionItLeavesTheOldFileAndTheTerminal) {
  for (const bool in_menu : {true, false}) {
    io::replace_file(file_, "as it was\n");
    Conversation conversation(words_, Conversation::Over::terminal);
    conversation.answer("In which compute environment", "\r");
    conversation.answer("Which type of machine are you using?", in_menu ? "" : "\r");
    conversation.answer(in_menu ? "then Enter" : "CPU only", kInterrupt);
    const int status = conversation.wait();
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << conversation.said();
    EXPECT_TRUE(conversation.terminal_is_as_before());
    EXPECT_EQ(io::read_file(file_), "as it was\n");
    EXPECT_EQ(number_of_files(), 1u);
  }
}

TEST_F(ConfigDialogue, TheGuidesAnswersOnAPipe) {
  Conversation conversation(words_, Conversation::Over::pipes);
  for (const Answer& answer : kGuideSeveral) conversation.type(std::string(answer.words) + "\n");
  conversation.end_input();
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  expect_every_key_of("guide_multi_cpu.yaml");
  EXPECT_TRUE(contains(conversation.said(), "  1: multi-CPU\n"));
  EXPECT_FALSE(contains(conversation.said(), "\x1b"));
}

TEST_F(ConfigDialogue, NumbersAndWrongAnswersOnAPipe) {
  Conversation conversation(words_, Conversation::Over::pipes);
  conversation.type("0\n3\n0\nmaybe\nyes\n\n\nyes\nno\n2\n");
  conversation.end_input();
  EXPECT_EQ(conversation.wait(), 0) << conversation.said();
  EXPECT_TRUE(contains(conversation.said(), "'3' is none of the choices"));
  EXPECT_TRUE(contains(conversation.said(), "Please enter yes or no."));
  EXPECT_TRUE(contains(conversation.said(), "DeepSpeed trains on GPUs"));
  EXPECT_EQ(written().at("mixed_precision"), "bf16");
  EXPECT_EQ(written().at("ipex_config").at("ipex"), false);
}

TEST_F(ConfigDialogue, AnInputThatEndsEarlyWritesNothing) {
  Conversation conversation(words_, Conversation::Over::pipes);
  conversation.type("This machine\nmulti-CPU\n2\n");
  conversation.end_input();
  EXPECT_NE(conversation.wait(), 0);
  EXPECT_TRUE(contains(conversation.said(), "the input ended at the question \"What is the rank of this machine?\""));
  EXPECT_EQ(number_of_files(), 0u);
}

}  // namespace
}  // namespace hearth::launch
