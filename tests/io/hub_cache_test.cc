#include "hearth/io/hub_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support.h"

namespace hearth::io {
namespace {

namespace fs = std::filesystem;

class HubCache : public TemporaryFolder {
 protected:
  HubCache() { forget_environment(); }
  ~HubCache() override { forget_environment(); }

  static void forget_environment() {
    for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "HF_HOME"})
      unsetenv(variable);
  }
  // Puts the main revision of a model into a cache below the test's folder.
  fs::path add(const std::string& cache, const std::string& entry) const {
    const fs::path model = folder_ / cache / entry;
    fs::create_directories(model / "refs");
    fs::create_directories(model / "snapshots/abc123");
    write((model / "refs/main").string(), "abc123\n");
    return model / "snapshots/abc123";
  }
  std::string cache() const { return (folder_ / "hub").string(); }
};

TEST_F(HubCache, FindsFoldersAndNames) {
  const fs::path snapshot = add("hub", "models--towns--tiny-bert");
  EXPECT_EQ(find_model(folder_.string(), cache(), "main"), folder_);
  EXPECT_EQ(find_model("towns/tiny-bert", cache(), "main"), snapshot);
  EXPECT_EQ(find_model("towns/tiny-bert", cache(), "abc123"), snapshot);
}

TEST_F(HubCache, LooksWhereTransformersLooks) {
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"}) {
    forget_environment();
    const fs::path snapshot = add(variable, "models--towns--tiny-bert");
    setenv(variable, (folder_ / variable).c_str(), 1);
    EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), snapshot) << variable;
  }
  setenv("HF_HUB_CACHE", "/nowhere", 1);
  EXPECT_EQ(find_model("towns/tiny-bert", "", "main"),
            folder_ / "TRANSFORMERS_CACHE/models--towns--tiny-bert/snapshots/abc123");
  forget_environment();
  setenv("HF_HOME", folder_.c_str(), 1);
  EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), add("hub", "models--towns--tiny-bert"));
}

TEST_F(HubCache, KnowsNamesFromBeforeTheOrganisations) {
  const fs::path bert = add("hub", "models--google-bert--bert-base-uncased");
  const fs::path distilbert = add("hub", "models--distilbert--distilbert-base-cased-distilled-squad");
  const fs::path roberta = add("hub", "models--FacebookAI--roberta-base");
  EXPECT_EQ(find_model("bert-base-uncased", cache(), "main"), bert);
  EXPECT_EQ(find_model("distilbert-base-cased-distilled-squad", cache(), "main"), distilbert);
  EXPECT_EQ(find_model("roberta-base", cache(), "main"), roberta);
  const fs::path by_its_old_name = add("hub", "models--bert-base-uncased");
  EXPECT_EQ(find_model("bert-base-uncased", cache(), "main"), by_its_old_name);
}

TEST_F(HubCache, SaysHowToDownloadWhatIsMissing) {
  const std::string missing = error_of([&] { find_model("bert-base-uncased", "", "main"); });
  EXPECT_TRUE(contains(missing, "bert-base-uncased is neither a folder nor a model in the local Hub cache")) << missing;
  EXPECT_TRUE(contains(missing, "`hf download google-bert/bert-base-uncased`")) << missing;
  add("hub", "models--towns--tiny-bert");
  const std::string revision = error_of([&] { find_model("towns/tiny-bert", cache(), "v2"); });
  EXPECT_TRUE(contains(revision, "not its revision v2")) << revision;
  EXPECT_TRUE(contains(revision, "`hf download towns/tiny-bert --revision v2 --cache-dir " + cache() + "`"))
      << revision;
  for (const char* path : {"./nowhere", "/nowhere/model", "a/b/c", "nowhere/", "~/model", ""})
    EXPECT_TRUE(contains(error_of([&] { find_model(path, "", "main"); }), "is not a folder")) << path;
}

TEST_F(HubCache, RevisionsDoNotLeadOutOfTheCache) {
  add("hub", "models--towns--tiny-bert");
  const std::string outside = folder_.string();
  for (const std::string& revision :
       {std::string("../../.."), std::string(".."), outside, std::string("main/../.."), std::string("")}) {
    const std::string refusal = error_of([&] { find_model("towns/tiny-bert", cache(), revision); });
    EXPECT_TRUE(contains(refusal, "is not a revision of towns/tiny-bert: give a branch, a tag or a commit")) << refusal;
  }
  write("hub/models--towns--tiny-bert/refs/main", "../../..");
  EXPECT_TRUE(contains(error_of([&] { find_model("towns/tiny-bert", cache(), "main"); }), "is not a revision of"));
}

}  // namespace
}  // namespace hearth::io
