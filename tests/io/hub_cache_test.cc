#include "hearth/io/hub_cache.h"

#include <gtest/gtest.h>

#include "tests/setting.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

namespace fs = std::filesystem;

class HubCache : public TemporaryFolder {
 protected:
  // Puts the main revision of a model into a cache below the test's folder.
  fs::path add(const std::string& cache, const std::string& entry) const {
    const fs::path model = folder_ / cache / entry;
    fs::create_directories(model / "refs");
    fs::create_directories(model / "snapshots/abc123");
    write((model / "refs/main").string(), "abc123\n");
    return model / "snapshots/abc123";
  }
  std::string cache() const { return (folder_ / "hub").string(); }

 private:
  const Setting home_{"HF_HOME", folder_.string()}, hub_{"HF_HUB_CACHE", ""}, older_{"HUGGINGFACE_HUB_CACHE", ""},
      oldest_{"TRANSFORMERS_CACHE", ""};
};

TEST_F(HubCache, FindsFoldersAndNames) {
  const fs::path snapshot = add("hub", "models--towns--tiny-bert");
  EXPECT_EQ(find_model(folder_.string(), cache(), "main"), folder_);
  EXPECT_EQ(find_model("towns/tiny-bert", cache(), "main"), snapshot);
  EXPECT_EQ(find_model("towns/tiny-bert", cache(), "abc123"), snapshot);
}

TEST_F(HubCache, LooksWhereTransformersLooks) {
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"}) {
    const fs::path snapshot = add(variable, "models--towns--tiny-bert");
    const Setting set(variable, (folder_ / variable).string());
    EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), snapshot) << variable;
  }
  {
    const Setting hub("HF_HUB_CACHE", "/nowhere"), oldest("TRANSFORMERS_CACHE", (folder_ / "oldest").string());
    const fs::path snapshot = add("oldest", "models--towns--tiny-bert");
    EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), snapshot);
  }
  const fs::path snapshot = add("hub", "models--towns--tiny-bert");
  EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), snapshot);
}

TEST_F(HubCache, ATildeInAVariableIsTheHomeFolder) {
  const Setting home("HOME", folder_.string());
  const fs::path below_hf_home = add("hf/hub", "models--towns--tiny-bert");
  const fs::path in_a_cache = add("cache", "models--towns--tiny-bert");
  const Setting hf_home("HF_HOME", "~/hf");
  EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), below_hf_home);
  const Setting cache("TRANSFORMERS_CACHE", "~/cache");
  EXPECT_EQ(find_model("towns/tiny-bert", "", "main"), in_a_cache);
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

TEST_F(HubCache, TheAdvisedDownloadFillsTheFolderAndEntryThatWereLookedAt) {
  const std::string elsewhere = (folder_ / "elsewhere").string();
  {
    const Setting known_to_hf("HF_HUB_CACHE", elsewhere);
    const std::string advice = error_of([&] { find_model("towns/tiny-bert", "", "main"); });
    EXPECT_TRUE(contains(advice, elsewhere + ": download it with `hf download towns/tiny-bert`")) << advice;
  }
  {
    const Setting unknown_to_hf("TRANSFORMERS_CACHE", elsewhere);
    const std::string advice = error_of([&] { find_model("towns/tiny-bert", "", "main"); });
    EXPECT_TRUE(contains(advice, "`hf download towns/tiny-bert --cache-dir " + elsewhere + "`")) << advice;
  }
  add("hub", "models--bert-base-uncased");
  const std::string old_entry = error_of([&] { find_model("bert-base-uncased", "", "v2"); });
  EXPECT_TRUE(contains(old_entry, "`hf download bert-base-uncased --revision v2`")) << old_entry;
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
