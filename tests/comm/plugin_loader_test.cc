#include "hearth/comm/plugin_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "hearth/comm/plugin_files.h"
#include "hearth/comm/plugin_group.h"
#include "tests/support.h"

namespace hearth::comm {
namespace {

// The fake plug-ins of one folder take the place of gloo's.
class PluginLoader : public TemporaryFolder {
 protected:
  ~PluginLoader() override { unsetenv("HEARTH_PLUGIN_PATH"); }
  static void look_in(const std::string& folder) {
    setenv("HEARTH_PLUGIN_PATH", (std::string(kFakePluginsFolder) + "/" + folder).c_str(), 1);
  }
  static std::filesystem::path fake(const std::string& folder) {
    return std::filesystem::path(kFakePluginsFolder) / folder / "libhearth_comm_gloo.so";
  }
  static std::string refusal(const std::string& folder) {
    look_in(folder);
    const std::string problem = gloo().problem;
    EXPECT_EQ(error_of([] { load_plugin("gloo", World{}); }), problem);
    return problem;
  }
  static PluginInfo gloo() {
    const std::vector<PluginInfo> all = describe_plugins();
    return *std::ranges::find(all, "gloo", &PluginInfo::name);
  }
};

TEST_F(PluginLoader, FindsPlugins) {
  look_in("good");
  EXPECT_EQ(find_plugin("gloo", Launcher::none), std::string(kFakePluginsFolder) + "/good/libhearth_comm_gloo.so");
  EXPECT_STREQ(load_plugin("gloo", World{}).library, "the store");
  EXPECT_EQ(gloo().library, "the store");
  EXPECT_EQ(gloo().problem, "");
}

TEST_F(PluginLoader, ShowsWhatPluginsSayThroughTheLog) {
  look_in("talkative");
  const LogCapture log;
  const PluginGroup group(load_plugin("gloo", World{}), World{}, std::make_shared<MemoryStore>(), PluginGroupOptions{});
  EXPECT_EQ(log.infos, std::vector<std::string>{"joining"});
  EXPECT_EQ(log.warnings, std::vector<std::string>{"the weather is bad"});
}

TEST_F(PluginLoader, TakesTheFlavourOfTheLauncher) {
  setenv("HEARTH_PLUGIN_PATH", (folder_.string() + "::/nowhere").c_str(), 1);
  write("libhearth_comm_mpi_intel.so", "");
  write("libhearth_comm_mpi_openmpi.so", "");
  EXPECT_EQ(find_plugin("mpi", Launcher::intel), folder_ / "libhearth_comm_mpi_intel.so");
  EXPECT_EQ(find_plugin("mpi", Launcher::openmpi), folder_ / "libhearth_comm_mpi_openmpi.so");
}

TEST_F(PluginLoader, FindsPluginsThatTheProgramDoesNotKnow) {
  setenv("HEARTH_PLUGIN_PATH", folder_.c_str(), 1);
  std::filesystem::copy(fake("good"), folder_ / "libhearth_comm_quux.so");
  EXPECT_EQ(backend_names(), (std::vector<std::string>{"gloo", "shm", "mpi", "ccl", "quux"}));
  EXPECT_EQ(find_plugin("quux", Launcher::none), folder_ / "libhearth_comm_quux.so");
  EXPECT_STREQ(load_plugin("quux", World{}).library, "the store");
  EXPECT_EQ(describe_plugins().back().name, "quux");
}

TEST_F(PluginLoader, KnowsTheLauncherByTheFile) {
  setenv("HEARTH_PLUGIN_PATH", folder_.c_str(), 1);
  for (const char* name : {"quux_slurm", "quux_intel", "two_words"})
    write(std::string("libhearth_comm_") + name + ".so", "");
  const std::vector<PluginFile> files = plugin_files();
  const auto file = [&](std::string_view name) { return *std::ranges::find(files, name, &PluginFile::name); };
  EXPECT_EQ(file("quux_slurm").backend, "quux");
  EXPECT_EQ(file("quux_slurm").launcher, Launcher::slurm);
  EXPECT_EQ(file("mpi_mpich").backend, "mpi");
  EXPECT_EQ(file("two_words").backend, "two_words");
  EXPECT_TRUE(file("two_words").serves(Launcher::mpich) && !file("quux_intel").serves(Launcher::mpich));
}

TEST_F(PluginLoader, PrefersThePluginThatSaysSoAndDoesNotRefuse) {
  setenv("HEARTH_PLUGIN_PATH", folder_.c_str(), 1);
  std::filesystem::copy(fake("reluctant"), folder_ / "libhearth_comm_quux.so");
  const World by_srun{0, 2, 0, 2, Launcher::slurm}, by_hand{0, 2, 0, 2, Launcher::environment};
  EXPECT_EQ(preferred_backend(by_srun), "quux");
  EXPECT_NE(preferred_backend(by_hand), "quux");
  EXPECT_EQ(error_of([] { load_plugin("quux", World{.launcher = Launcher::environment}); }),
            "[comm] --ddp_backend quux needs Slurm: use srun");
  std::filesystem::rename(folder_ / "libhearth_comm_quux.so", folder_ / "libhearth_comm_quux_intel.so");
  EXPECT_NE(preferred_backend(by_srun), "quux");  // the ranks of srun have no plug-in of their own
}

TEST_F(PluginLoader, PassesOverPluginsThatCannotBeLoaded) {
  setenv("HEARTH_PLUGIN_PATH", folder_.c_str(), 1);
  write("libhearth_comm_quux.so", "not a library");
  for (const int rank : {0, 1}) {
    const LogCapture log;
    EXPECT_NE(preferred_backend({rank, 2, rank, 2, Launcher::environment}), "quux");
    EXPECT_EQ(log.warnings.size(), rank == 0 ? 1 : 0);
  }
}

TEST_F(PluginLoader, SaysWhichVersionIsNeeded) {
  const std::string problem = refusal("abi");
  EXPECT_TRUE(contains(problem, "has version 99") && contains(problem, "needs version 4")) << problem;
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
  EXPECT_TRUE(contains(error_of([] { load_plugin("gloo", World{}); }), "is damaged"));
}

TEST_F(PluginLoader, NamesThePackageOfAMissingOne) {
  EXPECT_TRUE(
      contains(error_of([] { load_plugin("quux", World{}); }), "no backend quux: choose one of gloo, shm, mpi, ccl"));
  for (const PluginInfo& backend : describe_plugins()) {
    EXPECT_NE(backend.library.empty(), backend.problem.empty()) << backend.name;
    EXPECT_TRUE(backend.problem.empty() || contains(backend.problem, "install")) << backend.problem;
  }
}

}  // namespace
}  // namespace hearth::comm
