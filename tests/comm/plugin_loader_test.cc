#include "hearth/comm/plugin_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "hearth/comm/engine_group.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

// The fake plug-ins of one folder take the place of gloo's.
class PluginLoader : public TemporaryFolder {
 protected:
  ~PluginLoader() override { unsetenv("HEARTH_PLUGIN_PATH"); }
  static void look_in(const std::string& folder) {
    setenv("HEARTH_PLUGIN_PATH", (std::string(HEARTH_FAKE_PLUGINS) + "/" + folder).c_str(), 1);
  }
  static std::string refusal(const std::string& folder) {
    look_in(folder);
    const std::string problem = gloo().problem;
    EXPECT_EQ(error_of([] { load_plugin("gloo", "none"); }), problem);
    return problem;
  }
  static BackendInfo gloo() {
    const std::vector<BackendInfo> all = backends();
    return *std::ranges::find(all, "gloo", &BackendInfo::name);
  }
};

TEST_F(PluginLoader, FindsPlugins) {
  look_in("good");
  EXPECT_EQ(find_plugin("gloo", "none"), std::string(HEARTH_FAKE_PLUGINS) + "/good/libhearth_comm_gloo.so");
  EXPECT_STREQ(load_plugin("gloo", "none").library, "the store");
  EXPECT_EQ(gloo().library, "the store");
  EXPECT_EQ(gloo().problem, "");
}

TEST_F(PluginLoader, ShowsWhatPluginsSayThroughTheLog) {
  look_in("talkative");
  const LogCapture log;
  const EngineGroup group(load_plugin("gloo", "none"), World{}, std::make_shared<MemoryStore>(), EngineOptions{});
  EXPECT_EQ(log.infos, std::vector<std::string>{"joining"});
  EXPECT_EQ(log.warnings, std::vector<std::string>{"the weather is bad"});
}

TEST_F(PluginLoader, TakesTheFlavourOfTheLauncher) {
  setenv("HEARTH_PLUGIN_PATH", (folder_.string() + "::/nowhere").c_str(), 1);
  write("libhearth_comm_mpi_intel.so", "");
  write("libhearth_comm_mpi_openmpi.so", "");
  EXPECT_EQ(find_plugin("mpi", "intel"), folder_ / "libhearth_comm_mpi_intel.so");
  EXPECT_EQ(find_plugin("mpi", "openmpi"), folder_ / "libhearth_comm_mpi_openmpi.so");
}

TEST_F(PluginLoader, SaysWhichVersionIsNeeded) {
  const std::string problem = refusal("abi");
  EXPECT_TRUE(contains(problem, "has version 99") && contains(problem, "needs version 2")) << problem;
  EXPECT_TRUE(contains(problem, "make build"));
}

TEST_F(PluginLoader, NeverShowsARawSymbol) {
  const std::string problem = refusal("undefined");
  EXPECT_TRUE(contains(problem, "another version of its library") && contains(problem, "libgloo-dev")) << problem;
  EXPECT_EQ(problem.find("hearth_no_such_function"), problem.npos);
}

TEST_F(PluginLoader, NamesTheLibraryThatIsNotThere) {
  const std::string problem = refusal("dependent");
  EXPECT_TRUE(contains(problem, "needs libhearth_fake_absent.so, which is not there: install")) << problem;
}

TEST_F(PluginLoader, RefusesOtherFiles) {
  EXPECT_TRUE(contains(refusal("stranger"), "not a plug-in of Hearth"));
  setenv("HEARTH_PLUGIN_PATH", folder_.c_str(), 1);
  write("libhearth_comm_gloo.so", "not a library");
  EXPECT_TRUE(contains(error_of([] { load_plugin("gloo", "none"); }), "is damaged"));
}

TEST_F(PluginLoader, NamesThePackageOfAMissingOne) {
  EXPECT_TRUE(contains(error_of([] { load_plugin("quux", "none"); }), "no backend quux: choose one of gloo, mpi, ccl"));
  for (const BackendInfo& backend : backends()) {
    EXPECT_NE(backend.library.empty(), backend.problem.empty()) << backend.name;
    EXPECT_TRUE(backend.problem.empty() || contains(backend.problem, "install")) << backend.problem;
  }
}

}  // namespace
}  // namespace hearth::comm
