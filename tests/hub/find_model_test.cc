#include <gtest/gtest.h>

#include "hearth/hub/model.h"
#include "hearth/hub/repository_cache.h"
#include "tests/setting.h"
#include "tests/support.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;

// Caches as huggingface_hub fills them, without a network.
class FindModel : public TemporaryFolder {
 protected:
  // Puts the main revision of a model into a cache below the test's folder.
  fs::path add(const std::string& cache, const std::string& entry,
               const std::vector<std::string>& files = {"config.json", "vocab.txt", "model.safetensors"}) const {
    const fs::path model = folder_ / cache / entry, snapshot = model / "snapshots/abc123";
    for (const char* part : {"refs", "blobs", "snapshots/abc123"}) fs::create_directories(model / part);
    write((model / "refs/main").string(), "abc123\n");
    for (const std::string& file : files) {
      write((model / "blobs" / file).string(), "{}");
      fs::create_symlink("../../blobs/" + file, snapshot / file);
    }
    return snapshot;
  }
  Access in(const std::string& cache) const { return {(folder_ / cache).string(), "", true}; }
  static fs::path find(const std::string& name, const Access& access = {}, const std::string& revision = "main",
                       ModelParts parts = ModelParts::all) {
    return find_model(name, parts, access, revision);
  }

 private:
  // Port 9 discards: no test here may need a server.
  const Setting home_{"HF_HOME", folder_.string()}, hub_{"HF_HUB_CACHE", ""}, older_{"HUGGINGFACE_HUB_CACHE", ""},
      oldest_{"TRANSFORMERS_CACHE", ""}, endpoint_{"HF_ENDPOINT", "http://127.0.0.1:9"}, offline_{"HF_HUB_OFFLINE", ""},
      older_offline_{"TRANSFORMERS_OFFLINE", ""};
};

TEST_F(FindModel, FindsFoldersAndNames) {
  const fs::path snapshot = add("hub", "models--towns--tiny-bert");
  EXPECT_EQ(find(folder_.string()), folder_);
  EXPECT_EQ(find("towns/tiny-bert"), snapshot);
  EXPECT_EQ(find("towns/tiny-bert", {}, "abc123"), snapshot);
}

TEST_F(FindModel, LooksWhereTransformersLooks) {
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE"}) {
    const fs::path snapshot = add(variable, "models--towns--tiny-bert");
    const Setting set(variable, (folder_ / variable).string());
    EXPECT_EQ(find("towns/tiny-bert"), snapshot) << variable;
  }
  {
    const Setting hub("HF_HUB_CACHE", "/nowhere"), oldest("TRANSFORMERS_CACHE", (folder_ / "oldest").string());
    const fs::path snapshot = add("oldest", "models--towns--tiny-bert");
    EXPECT_EQ(find("towns/tiny-bert"), snapshot);
  }
  const fs::path given = add("given", "models--towns--tiny-bert");
  EXPECT_EQ(find("towns/tiny-bert", in("given")), given);
}

TEST_F(FindModel, ATildeInAVariableIsTheHomeFolder) {
  const Setting home("HOME", folder_.string());
  const fs::path below_hf_home = add("hf/hub", "models--towns--tiny-bert");
  const fs::path in_a_cache = add("cache", "models--towns--tiny-bert");
  const Setting hf_home("HF_HOME", "~/hf");
  EXPECT_EQ(find("towns/tiny-bert"), below_hf_home);
  const Setting cache("TRANSFORMERS_CACHE", "~/cache");
  EXPECT_EQ(find("towns/tiny-bert"), in_a_cache);
}

TEST_F(FindModel, KnowsNamesFromBeforeTheOrganisations) {
  const fs::path bert = add("hub", "models--google-bert--bert-base-uncased");
  const fs::path distilbert = add("hub", "models--distilbert--distilbert-base-cased-distilled-squad");
  const fs::path roberta = add("hub", "models--FacebookAI--roberta-base");
  EXPECT_EQ(find("bert-base-uncased"), bert);
  EXPECT_EQ(find("distilbert-base-cased-distilled-squad"), distilbert);
  EXPECT_EQ(find("roberta-base"), roberta);
  const fs::path albert = add("hub", "models--albert--albert-base-v2");
  EXPECT_EQ(find("albert-base-v2"), albert);
  const fs::path tagger = add("hub", "models--FacebookAI--xlm-roberta-large-finetuned-conll03-english");
  EXPECT_EQ(find("xlm-roberta-large-finetuned-conll03-english"), tagger);
  const fs::path by_its_old_name = add("hub", "models--bert-base-uncased");
  EXPECT_EQ(find("bert-base-uncased"), by_its_old_name);
}

TEST_F(FindModel, NeedsOnlyThePartsThatAreAskedFor) {
  const fs::path config = add("config", "models--towns--tiny-bert", {"config.json"});
  EXPECT_EQ(find("towns/tiny-bert", in("config"), "main", ModelParts::config), config);
  const fs::path tokenizer = add("tokenizer", "models--towns--tiny-bert", {"config.json", "tokenizer.json"});
  EXPECT_EQ(find("towns/tiny-bert", in("tokenizer"), "main", ModelParts::tokenizer), tokenizer);
  const fs::path sharded = add("sharded", "models--towns--tiny-bert",
                               {"config.json", "vocab.txt", "model.safetensors.index.json",
                                "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"});
  EXPECT_EQ(find("towns/tiny-bert", in("sharded")), sharded);
}

// What is missing would be downloaded; where there is no network, the cached commit has to do, with a warning.
TEST_F(FindModel, WithoutANetworkTheCachedCommitHasToDo) {
  const fs::path part = add("hub", "models--towns--tiny-bert", {"config.json"});
  LogCapture log;
  EXPECT_EQ(find("towns/tiny-bert"), part);
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "cannot reach http://127.0.0.1:9"));
  EXPECT_TRUE(contains(log.warnings[0], "using the model towns/tiny-bert as it is in the cache"));
  const std::string missing = error_of([&] { find("towns/other"); });
  EXPECT_TRUE(missing.starts_with(
      "there is no folder towns/other, and the model of that name could not be fetched from the Hub: "))
      << missing;
  EXPECT_TRUE(contains(missing, "cannot reach http://127.0.0.1:9")) << missing;
}

TEST_F(FindModel, AFileIsNoModel) {
  const std::string file = (folder_ / "config.json").string();
  write(file, "{}");
  EXPECT_EQ(error_of([&] { find(file); }), file + " is a file: give the folder of a model");
}

TEST_F(FindModel, OfflineMeansNoRequest) {
  for (const char* variable : {"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"}) {
    const Setting offline(variable, "1");
    const std::string missing = error_of([&] { find("bert-base-uncased"); });
    EXPECT_TRUE(contains(missing, "google-bert/bert-base-uncased is neither a folder nor a model in the cache"))
        << missing;
    EXPECT_TRUE(contains(missing, std::string("and ") + variable + " forbids to download it")) << missing;
    EXPECT_TRUE(contains(missing, "`hearth download google-bert/bert-base-uncased`")) << missing;
    const Access elsewhere = in("elsewhere");
    const std::string revision = error_of([&] { find("towns/tiny-bert", elsewhere, "v2"); });
    EXPECT_TRUE(contains(revision, "`hearth download towns/tiny-bert --revision v2 --cache_dir " + elsewhere.cache_dir))
        << revision;
  }
  const Setting offline("HF_HUB_OFFLINE", "1");
  const fs::path part = add("hub", "models--towns--tiny-bert", {"config.json"});
  LogCapture log;
  EXPECT_EQ(find("towns/tiny-bert"), part);
  EXPECT_TRUE(log.warnings.empty());
}

TEST_F(FindModel, OtherTextsAreNoNames) {
  for (const char* path :
       {"./nowhere", "/nowhere/model", "a/b/c", "nowhere/", "~/model", "", "a/..", "../a", "-a", "a b"})
    EXPECT_TRUE(contains(error_of([&] { find(path); }), "is not a folder")) << path;
}

TEST_F(FindModel, RevisionsDoNotLeadOutOfTheCache) {
  add("hub", "models--towns--tiny-bert");
  const std::string outside = folder_.string();
  for (const std::string& revision :
       {std::string("../../.."), std::string(".."), outside, std::string("main/../.."), std::string("")}) {
    const std::string refusal = error_of([&] { find("towns/tiny-bert", {}, revision); });
    EXPECT_TRUE(contains(refusal, "is not a revision of towns/tiny-bert: give a branch, a tag or a commit")) << refusal;
  }
  write("hub/models--towns--tiny-bert/refs/main", "../../..");
  EXPECT_TRUE(contains(error_of([&] { find("towns/tiny-bert"); }), "is not a revision of"));
}

TEST_F(FindModel, ETagsAndFileNamesDoNotLeadOutOfTheCache) {
  const Repository repository{Repository::Kind::model, "towns/tiny-bert"};
  const RepositoryCache cache(folder_, repository);
  for (const char* etag : {"../../evil", "a/b", "..", "", "a\nb", "a.b"})
    EXPECT_TRUE(contains(error_of([&] { cache.blob(etag); }), "cannot name a file in the cache")) << etag;
  EXPECT_EQ(cache.blob("0123-abc"), folder_ / "models--towns--tiny-bert/blobs/0123-abc");
  for (const char* file : {"../evil", "/etc/passwd", "a/../../b", "a//b", "./a", "a\\b", ""})
    EXPECT_TRUE(contains(error_of([&] { check_file_name(file, repository); }), "outside the cache folder")) << file;
  check_file_name("1_Pooling/config.json", repository);
}

TEST_F(FindModel, LinksAreRelative) {
  const RepositoryCache cache(folder_, {Repository::Kind::model, "towns/tiny-bert"});
  fs::create_directories(folder_ / "models--towns--tiny-bert/blobs");
  write("models--towns--tiny-bert/blobs/abc", "contents");
  cache.link("c0ffee", "1_Pooling/config.json", "abc");
  EXPECT_EQ(fs::read_symlink(cache.file("c0ffee", "1_Pooling/config.json")), "../../../blobs/abc");
  EXPECT_TRUE(cache.has("c0ffee", "1_Pooling/config.json"));
  cache.link("c0ffee", "1_Pooling/config.json", "abc");  // again
  EXPECT_EQ(cache.cached_files("c0ffee"), std::vector<std::string>{"1_Pooling/config.json"});
}

}  // namespace
}  // namespace hearth::hub
