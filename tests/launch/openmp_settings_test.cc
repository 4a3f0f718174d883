#include "hearth/launch/place/openmp_settings.h"

#include <cstdlib>

#include "tests/support.h"

namespace hearth::launch {
namespace {

class OpenMpSettings : public testing::Test {
 protected:
  OpenMpSettings() { clear(); }
  ~OpenMpSettings() override { clear(); }
  static void clear() {
    for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "OMP_WAIT_POLICY", "KMP_AFFINITY",
                             "KMP_BLOCKTIME", "KMP_SETTINGS"})
      unsetenv(name);
  }
  static Variables settings(bool pinned = true) {
    RankPlacement placement;
    placement.places = {{0, 8}, {1, 9}};
    placement.threads = 2;
    placement.pinned = pinned;
    return openmp_settings(placement);
  }
};

TEST_F(OpenMpSettings, OneThreadACore) {
  EXPECT_EQ(settings(),
            (Variables{{"OMP_NUM_THREADS", "2"}, {"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "{0,8},{1,9}"}}));
  EXPECT_EQ(settings(false), (Variables{{"OMP_NUM_THREADS", "2"}}));
}

TEST_F(OpenMpSettings, TheUsersBindingStays) {
  setenv("OMP_PROC_BIND", "spread", 1);
  EXPECT_EQ(settings(), (Variables{{"OMP_NUM_THREADS", "2"}}));
}

TEST_F(OpenMpSettings, KmpIsTranslated) {
  const std::pair<const char*, std::pair<const char*, const char*>> cases[] = {
      {"granularity=fine,compact,1,0", {"OMP_PROC_BIND", "close"}},
      {"scatter", {"OMP_PROC_BIND", "spread"}},
      {"disabled", {"OMP_PROC_BIND", "false"}},
      {"granularity=fine,explicit,proclist=[0-1,8]", {"GOMP_CPU_AFFINITY", "0-1,8"}}};
  for (const auto& [text, wanted] : cases) {
    setenv("KMP_AFFINITY", text, 1);
    EXPECT_EQ(settings()[1], (Variables::value_type{wanted.first, wanted.second})) << text;
  }
  setenv("KMP_BLOCKTIME", "0", 1);
  EXPECT_EQ(settings()[1], (Variables::value_type{"OMP_WAIT_POLICY", "passive"}));
}

TEST_F(OpenMpSettings, KmpWithoutEffectIsNamed) {
  setenv("KMP_BLOCKTIME", "1", 1);
  setenv("KMP_SETTINGS", "1", 1);
  setenv("KMP_AFFINITY", "compact", 1);
  Decisions decisions;
  explain_kmp_variables(decisions);
  ASSERT_EQ(decisions.rows().size(), 3u);
  EXPECT_EQ(decisions.rows()[0].reason, "given to the ranks as OMP_PROC_BIND=close");
  EXPECT_TRUE(contains(decisions.rows()[1].reason, "no effect: it belongs to Intel's OpenMP"));
  EXPECT_TRUE(contains(decisions.rows()[2].reason, "no effect: it belongs to Intel's OpenMP"));
}

}  // namespace
}  // namespace hearth::launch
