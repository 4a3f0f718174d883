#include <set>
#include <utility>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/yaml.h"
#include "hearth/launch/config/launch_config.h"
#include "hearth/launch/config/launch_keys.h"
#include "tests/support.h"

namespace hearth::launch {
namespace {

using ConfigFile = TemporaryFolder;

LaunchConfig read_fixture(std::string_view name) {
  const LogCapture log;
  return read_launch_config(fixture("launch") / name);
}

// The text of a file after it was read and written again.
std::string rewritten(const std::filesystem::path& folder, std::string_view name) {
  write_launch_config(read_fixture(name), folder / name);
  return io::read_file(folder / name);
}

std::string original(std::string_view name) { return io::read_file(fixture("launch") / name); }

TEST_F(ConfigFile, WhatAccelerateWroteIsWrittenTheSame) {
  for (const char* name : {"accelerate_1_6_no.yaml", "accelerate_1_6_multi_cpu.yaml", "accelerate_1_6_mpirun.json",
                           "accelerate_1_6_dynamo.yaml"})
    EXPECT_EQ(rewritten(folder_, name), original(name)) << name;
}

TEST_F(ConfigFile, EveryKeyOfALaterAccelerateKeepsItsValue) {
  for (const char* name :
       {"accelerate_1_15_no.yaml", "accelerate_1_15_multi_cpu.yaml", "guide_no.yaml", "guide_multi_cpu.yaml"}) {
    const io::Json before = io::parse_yaml(original(name), name),
                   after = io::parse_yaml(rewritten(folder_, name), name);
    for (const auto& [key, value] : before.items()) {
      if (!value.is_object()) {
        EXPECT_EQ(after.at(key), value) << name << " " << key;
      } else {
        for (const auto& [inner_key, inner] : value.items())
          EXPECT_EQ(after.at(key).at(inner_key), inner) << name << " " << inner_key;
      }
    }
  }
}

TEST_F(ConfigFile, MembersHoldTheValues) {
  const LaunchConfig config = read_fixture("accelerate_1_6_multi_cpu.yaml");
  EXPECT_EQ(config.distributed_type, "MULTI_CPU");
  EXPECT_EQ(config.num_machines, 4);
  EXPECT_EQ(config.num_processes, 16);
  EXPECT_EQ(config.main_process_ip, "36.112.23.24");
  EXPECT_EQ(config.main_process_port, 29500);
  EXPECT_EQ(config.mixed_precision, "bf16");
  EXPECT_EQ(config.mpirun_hostfile, "/home/ann/hostfile");
  EXPECT_EQ(config.mpirun_ccl, 2);  // '2' in the file
  EXPECT_TRUE(config.use_cpu && config.ipex && config.same_network);
  EXPECT_EQ(read_fixture("accelerate_1_15_no.yaml").dynamo_use_regional_compilation, true);
}

TEST_F(ConfigFile, ReadsTheJsonThatConfigDefaultOfAccelerateWrites) {
  const LaunchConfig config = read_fixture("accelerate_1_6_default.yaml");
  EXPECT_EQ(config.mixed_precision, "bf16");
  EXPECT_TRUE(config.use_cpu);
}

TEST_F(ConfigFile, ConvertsEarlierKeys) {
  const LaunchConfig old = read_fixture("accelerate_0_15_no.yaml");
  EXPECT_EQ(old.dynamo_backend, "INDUCTOR");
  EXPECT_FALSE(old.main_process_ip.has_value());
  EXPECT_EQ(read_fixture("accelerate_0_3_fp16.yaml").mixed_precision, "fp16");
  const std::string updated = rewritten(folder_, "accelerate_0_15_no.yaml");
  EXPECT_TRUE(contains(updated, "dynamo_config:\n  dynamo_backend: INDUCTOR\n"));
  EXPECT_FALSE(contains(updated, "null"));
}

TEST_F(ConfigFile, SaysThatIpexIsAlwaysOn) {
  const LogCapture log;
  read_launch_config(fixture("launch/guide_no.yaml"));
  ASSERT_EQ(log.infos.size(), 1u);
  EXPECT_TRUE(contains(log.infos[0], "always on"));
}

TEST_F(ConfigFile, GpuIdsOfAMachineWithoutGpusAreAWarning) {
  const LogCapture log;
  EXPECT_FALSE(read_launch_config(fixture("launch/accelerate_1_6_gpu_question.yaml")).use_cpu);
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "gpu_ids"));
}

class BadConfigFile : public TemporaryFolder {
 protected:
  std::string error_with(const std::string& lines) {
    const auto file = write("config.yaml", "distributed_type: MULTI_CPU\n" + lines);
    return error_of([&] { read_launch_config(file); });
  }
};

TEST_F(BadConfigFile, UnknownKeysAreNamedWithTheNearest) {
  const std::string error = error_with("num_proceses: 4\nipex_config:\n  ipexx: true\n");
  EXPECT_TRUE(contains(error, "num_proceses (did you mean num_processes?)"));
  EXPECT_TRUE(contains(error, "ipexx (did you mean ipex?)"));
}

TEST_F(BadConfigFile, KeysOfOtherDevicesGetASentence) {
  EXPECT_TRUE(contains(error_with("deepspeed_config:\n  zero_stage: 2\n"), "deepspeed_config asks for DeepSpeed"));
  EXPECT_TRUE(contains(error_with("fsdp_config:\n  fsdp_offload_params: false\n"), "fsdp_config asks for FSDP"));
  EXPECT_TRUE(contains(error_with("tpu_use_cluster: true\n"), "asks for TPUs"));
  EXPECT_TRUE(contains(error_with("gpu_ids: 0,1\n"), "asks for GPUs"));
  EXPECT_TRUE(contains(error_with("compute_environment: AMAZON_SAGEMAKER\n"), "LOCAL_MACHINE"));
  EXPECT_TRUE(contains(error_with("mixed_precision: fp8\n"), "no, fp16 or bf16"));
  const auto file = write("gpu.yaml", "distributed_type: MULTI_GPU\n");
  EXPECT_TRUE(contains(error_of([&] { read_launch_config(file); }), "NO or MULTI_CPU"));
}

TEST_F(BadConfigFile, WrongValuesAreNamed) {
  EXPECT_TRUE(contains(error_with("num_processes: many\n"), "num_processes: 'many' is not a whole number"));
  EXPECT_TRUE(contains(error_with("num_processes: 0\n"), "num_processes is 0"));
  EXPECT_TRUE(contains(error_with("machine_rank: 2\nnum_machines: 2\n"), "machine_rank is 2"));
  EXPECT_TRUE(contains(error_with("main_process_port: 99999\n"), "99999"));
  EXPECT_TRUE(contains(error_with("num_machines: [1]\n"), "num_machines must be one value"));
}

TEST_F(BadConfigFile, WhatIsNoTableOfKeysIsAnError) {
  for (const char* text : {"", "bert\n", "- a\n"}) {
    const auto file = write("config.yaml", text);
    EXPECT_TRUE(contains(error_of([&] { read_launch_config(file); }), "is not a launch file"));
  }
  EXPECT_TRUE(contains(error_of([&] { read_launch_config(write("a.yaml", "use_cpu: true\n")); }), "distributed_type"));
}

// Cut anywhere within a line: never read as if it were whole, and never anything but one sentence with file and place.
TEST_F(BadConfigFile, ACutFileIsNamedWithThePlace) {
  for (const auto& [name, place] :
       {std::pair{"guide_multi_cpu.yaml", "line"}, {"accelerate_1_6_mpirun.json", "column"}}) {
    const std::string whole = original(name);
    for (std::size_t size = 1; size + 20 < whole.size(); size += 3) {
      const std::string part = whole.substr(0, size);
      if (part.back() == '\n' && !whole.starts_with('{')) continue;  // whole lines are a file of their own
      const auto file = write(name, part);
      const std::string error = error_of([&] { read_launch_config(file); });
      EXPECT_TRUE(contains(error, file.string())) << part;
      EXPECT_TRUE(contains(error, place)) << part;
    }
  }
}

TEST_F(BadConfigFile, WrittenByHandWithoutQuotes) {
  const auto file = write("config.yaml", "distributed_type: NO\nmixed_precision: no\nuse_cpu: yes");
  const LaunchConfig config = read_launch_config(file);
  EXPECT_EQ(config.distributed_type, "NO");
  EXPECT_EQ(config.mixed_precision, "no");
  EXPECT_EQ(config.num_processes, 1);
}

TEST(ConfigPath, FollowsTheEnvironment) {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  unsetenv("HF_HOME");
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(default_config_path(), "/x/huggingface/accelerate/default_config.yaml");
  setenv("HF_HOME", "/h", 1);
  EXPECT_EQ(default_config_path(), "/h/accelerate/default_config.yaml");
  unsetenv("HF_HOME");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(default_config_path(), home + "/.cache/huggingface/accelerate/default_config.yaml");
}

TEST(ConfigKeys, EveryKeyHasAMeaningAndANameOfItsOwn) {
  LaunchConfig config;
  std::set<std::string_view> names;
  for (const LaunchKey& key : launch_keys(config)) {
    EXPECT_FALSE(key.meaning.empty()) << key.name;
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
  }
}

}  // namespace
}  // namespace hearth::launch
