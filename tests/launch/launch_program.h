// `hearth launch` as a user runs it, without a launch file of the user's.
#pragma once

#include <map>

#include "tests/apps/program.h"

namespace hearth {

using Settings = std::map<std::string, std::string>;

inline Settings settings_of(const std::string& text) {
  Settings settings;
  for (const std::string& line : lines_of(text))
    if (const auto sign = line.find('='); sign != line.npos) settings[line.substr(0, sign)] = line.substr(sign + 1);
  return settings;
}

class LaunchTest : public testing::Test {
 protected:
  Outcome launch(const std::string& arguments, const std::string& before = "") const {
    return run_program(folder(), "launch " + arguments, kClean + before);
  }
  // The same under another program, such as mpirun.
  Outcome launch_under(const std::string& starter, const std::string& arguments) const {
    return run_program(folder(), "launch " + arguments, kClean + starter);
  }
  // What `hearth launch` says it would do on a machine of tests/fixtures/topology.
  std::string dry_run(const std::string& machine, const std::string& arguments) const {
    const Outcome outcome = launch("--dry_run " + arguments + " run_qa --x 'a b'",
                                   "export HWLOC_XMLFILE=" + fixture("topology/" + machine + ".xml").string() + ";");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
  static std::string first_line(const std::string& text, std::string_view beginning) {
    for (const std::string& line : lines_of(text))
      if (line.starts_with(beginning)) return line;
    return "";
  }

  // Each rank writes its environment and its CPU mask into the file rank_N.
  std::string contract_printer() const {
    io::replace_file(folder() / "contract.sh",
                     "{ env; grep Cpus_allowed_list /proc/self/status | tr -d '\\t' | tr : =; } > " +
                         (folder() / "rank_$RANK").string() + "\n");
    return "sh " + (folder() / "contract.sh").string();
  }
  Settings contract(int rank) const { return settings_of(io::read_file(folder() / ("rank_" + std::to_string(rank)))); }
  // The variables that every process gets, whichever way it is started.
  static void expect_world(const Settings& settings, int rank, int size, int local_rank, int local_size) {
    const auto value = [&](const char* name) { return settings.contains(name) ? settings.at(name) : "(unset)"; };
    EXPECT_EQ(value("RANK"), std::to_string(rank));
    EXPECT_EQ(value("WORLD_SIZE"), std::to_string(size));
    EXPECT_EQ(value("LOCAL_RANK"), std::to_string(local_rank));
    EXPECT_EQ(value("LOCAL_WORLD_SIZE"), std::to_string(local_size));
    EXPECT_NE(value("MASTER_ADDR"), "(unset)");
    EXPECT_NE(value("MASTER_PORT"), "(unset)");
    EXPECT_NE(value("OMP_NUM_THREADS"), "(unset)");
    EXPECT_EQ(value("ACCELERATE_USE_CPU"), "True");
    EXPECT_EQ(value("ACCELERATE_MIXED_PRECISION"), "bf16");
    EXPECT_EQ(value("ACCELERATE_DYNAMO_BACKEND"), "NO");
    EXPECT_EQ(value("ACCELERATE_DYNAMO_MODE"), "default");
    EXPECT_EQ(value("ACCELERATE_DYNAMO_USE_FULLGRAPH"), "False");
    EXPECT_EQ(value("ACCELERATE_DYNAMO_USE_DYNAMIC"), "False");
    EXPECT_EQ(value("ACCELERATE_USE_IPEX"), "true");
  }

  // A folder for PATH in which mpirun is that of one kind; empty where the machine has none.
  std::string path_of_mpirun(const std::string& kind) const {
    const fs::path program = "/usr/bin/mpirun." + kind;
    if (!fs::exists(program)) return "";
    fs::create_directories(folder() / "bin");
    io::replace_file(folder() / "bin/mpirun", "#!/bin/sh\nexec " + program.string() + " \"$@\"\n");
    fs::permissions(folder() / "bin/mpirun", fs::perms::owner_all);
    return "PATH=" + (folder() / "bin").string() + ":$PATH";
  }

  const fs::path& folder() const { return place_.path(); }
  void write(const fs::path& file, const std::string& contents) const { io::replace_file(folder() / file, contents); }

 private:
  inline static const std::string kClean =
      "export HF_HOME=/nowhere; for v in $(env | sed -n 's/^\\(OMP_[A-Z_]*\\|KMP_[A-Z_]*\\|CCL_[A-Z_]*\\|PMI_[A-Z_]*\\|"
      "RANK\\|WORLD_SIZE\\|LOCAL_[A-Z_]*\\|MASTER_[A-Z_]*\\)=.*/\\1/p'); do unset $v; done; ";
  TemporaryPlace place_;
};

}  // namespace hearth
