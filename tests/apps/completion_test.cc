// What shells complete, and the manual pages: both are made of the flags that each command declares.
#include <algorithm>

#include "tests/apps/program.h"

namespace hearth {
namespace {

class Completion : public ProgramTest {
 protected:
  // The candidates for the last of the words that follow `hearth`.
  std::vector<std::string> complete(const std::string& words) const {
    const Outcome outcome = hearth("completion words " + words);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<std::string> candidates;
    for (const std::string& line : lines_of(outcome.out)) {
      EXPECT_NE(line.find('\t'), line.npos) << line;
      candidates.push_back(line.substr(0, line.find('\t')));
    }
    return candidates;
  }
  bool offers(const std::string& words, const std::string& candidate) const {
    return std::ranges::count(complete(words), candidate) == 1;
  }
  static bool is_installed(const std::string& shell) {
    return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
  }
  // The words that a shell would offer, where `script` asks it. $PROGRAM is the program.
  std::string in_shell(const std::string& shell, const std::string& script) const {
    write("script", script);
    const Outcome outcome = hearth("completion " + shell + " >completion; PROGRAM=" + kProgram +
                                   " PATH=" + fs::path(kProgram).parent_path().string() + ":$PATH " + shell +
                                   (shell == "zsh" ? " -f" : "") + " script");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
};

using Words = std::vector<std::string>;

TEST_F(Completion, OffersCommands) {
  EXPECT_EQ(complete("run_q"), Words{"run_qa"});
  EXPECT_TRUE(offers("''", "ask"));
  EXPECT_TRUE(offers("help as", "ask"));
  EXPECT_EQ(complete("bench tr"), Words{"train"});
  EXPECT_EQ(complete("--"), (Words{"--help", "--version"}));
}

TEST_F(Completion, OffersFlagsWithTheirMeaning) {
  EXPECT_EQ(complete("run_qa --output_d"), Words{"--output_dir"});
  EXPECT_TRUE(offers("run_qa ''", "--do_train"));
  EXPECT_TRUE(offers("bench train --", "--dtype"));
  EXPECT_TRUE(offers("bench train --num_t", "--num_threads")) << "an alias";
  EXPECT_TRUE(contains(hearth("completion words ask --quest").out, "--question\t"));
  EXPECT_FALSE(offers("run_qa --", "--use_ipex")) << "it has no effect";
}

TEST_F(Completion, OffersChoicesAndLeavesFilesToTheShell) {
  EXPECT_EQ(complete("bench train --dtype b"), Words{"bf16"});
  EXPECT_EQ(complete("config sh"), Words{"show"});
  EXPECT_EQ(complete("completion ''"), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(complete("run_qa --train_file ''"), Words{});
  EXPECT_EQ(complete("verify ''"), Words{});
  EXPECT_EQ(complete("no_such_command --"), Words{});
}

TEST_F(Completion, OfALaunchedCommandIsThatCommands) {
  EXPECT_TRUE(offers("launch --num_p", "--num_processes"));
  EXPECT_EQ(complete("launch --num_processes 2 run_q"), Words{"run_qa"});
  EXPECT_EQ(complete("launch --num_processes 2 run_qa --output_d"), Words{"--output_dir"});
  EXPECT_EQ(complete("launch --num_processes 2 bench train --dtype b"), Words{"bf16"});
}

TEST_F(Completion, KnowsEveryCommand) {
  for (const std::string& command : complete("''")) {
    if (command == "bench") continue;
    EXPECT_TRUE(offers(command + " --", "--help")) << command;
  }
}

TEST_F(Completion, WorksInBash) {
  const std::string ask =
      "source completion\n"
      "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _hearth \"$1\"; echo \"${COMPREPLY[*]}\"; }\n";
  EXPECT_EQ(in_shell("bash", ask + "try hearth run_q; try hearth bench train --dtype ''"), "run_qa\nfp32 bf16 fp16\n");
  EXPECT_EQ(in_shell("bash", ask + "try $PROGRAM launch run_qa --output_d"), "--output_dir\n");
}

TEST_F(Completion, WorksInFish) {
  if (!is_installed("fish")) GTEST_SKIP() << "fish is not installed";
  const std::string out = in_shell("fish",
                                   "source completion\ncomplete -C 'hearth run_q'\ncomplete -C 'hearth bench train "
                                   "--dtype b'\ntouch data.json\ncomplete -C 'hearth run_qa --train_file dat'");
  EXPECT_TRUE(contains(out, "run_qa\t")) << out;
  EXPECT_TRUE(contains(out, "bf16\t")) << out;
  EXPECT_TRUE(contains(out, "data.json")) << out;
}

TEST_F(Completion, WorksInZsh) {
  if (!is_installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  // The functions of zsh's completion system, which only an interactive zsh has, print what they are given.
  const std::string out = in_shell(
      "zsh",
      "compdef() { : }\n_describe() { print -rl -- \"${(@P)@[-1]}\" }\n_files() { print files }\nsource completion\n"
      "try() { words=(\"$@\"); CURRENT=$#; _hearth }\n"
      "try hearth run_q; try hearth bench train --dtype b; try hearth run_qa --train_file ''");
  EXPECT_TRUE(out.starts_with("run_qa:fine-tune")) << out;
  EXPECT_TRUE(out.ends_with("\nbf16:--dtype TEXT\nfiles\n")) << out;
}

TEST_F(Completion, EveryCommandHasAManualPage) {
  ASSERT_EQ(hearth("man --output_dir pages").status, 0);
  EXPECT_TRUE(fs::exists(folder() / "pages/hearth.1"));
  EXPECT_TRUE(fs::exists(folder() / "pages/hearth-bench-train.1"));
  for (const std::string& command : complete("''")) {
    const std::string page = text("pages/hearth-" + command + ".1");
    EXPECT_TRUE(page.starts_with(".TH HEARTH\\-")) << command;
    EXPECT_TRUE(contains(page, "\n.SH NAME\nhearth\\-")) << command;
    EXPECT_EQ(page.find("\n\n"), page.npos) << command;
  }
  EXPECT_TRUE(contains(text("pages/hearth-run_qa.1"), "\n.B \\-\\-output_dir TEXT\n"));
  EXPECT_TRUE(contains(text("pages/hearth.1"), "\n.SH EXIT STATUS\n0 success"));
  EXPECT_EQ(hearth("man bench train").out, text("pages/hearth-bench-train.1"));
  EXPECT_TRUE(contains(hearth("man quux").error(), "there is no manual page hearth-quux"));
}

TEST_F(Completion, TheVersionTellsHowTheProgramWasBuilt) {
  EXPECT_EQ(lines_of(hearth("--version").out).size(), 1u);
  const Outcome verbose = hearth("--version --verbose");
  EXPECT_EQ(lines_of(verbose.out).front() + "\n", hearth("--version").out);
  for (const char* key : {"\ncommit: ", "\ndate: ", "\ncompiler: ", "\nflags: ", "\noneDNN: ", "\nplug-ins: "})
    EXPECT_TRUE(contains(verbose.out, key)) << key << verbose.out;
  const io::Json env = io::parse_json(hearth("env --json").out, "env");
  for (const char* key : {"commit", "date", "compiler", "flags"}) EXPECT_TRUE(env.contains(key)) << key;
}

}  // namespace
}  // namespace hearth
