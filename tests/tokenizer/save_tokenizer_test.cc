#include "hearth/tokenizer/tokenizer_files.h"
#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

struct Saved {
  Json tokenizer, settings, special_tokens_map;
};

// Reads the tokenizer of a folder, saves it in another and reads the files there.
Saved save_again(const Folder& folder) {
  const std::filesystem::path place = folder.path() / "saved";
  load_tokenizer(folder.path())->save(place);
  return {io::read_json(place / "tokenizer.json"), io::read_json(place / "tokenizer_config.json"),
          io::read_json(place / "special_tokens_map.json")};
}

TEST(SaveTokenizer, GivesBackTheSameTokens) {
  Folder folder;
  folder.with("tokenizer.json", io::read_file(kFixtures / "added" / "tokenizer.json"));
  folder.with("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true, "model_max_length": 77})");
  const auto before = load_tokenizer(folder.path());
  before->save(folder.path() / "new" / "saved");
  const auto after = load_tokenizer(folder.path() / "new" / "saved");
  std::filesystem::remove(folder.path() / "new" / "saved" / "tokenizer.json");
  const auto from_vocab = load_tokenizer(folder.path() / "new" / "saved");
  for (const std::string text : {"x<pad>y <l>  one bone", "caf\u00E9 fire Caf\u00E9 Fire FIRE [MASK] \u4E2D\u706B"}) {
    for (const auto& tokenizer : {after, from_vocab}) {
      EXPECT_EQ(tokenizer->encode(text).ids, before->encode(text).ids) << text;
      EXPECT_EQ(tokenizer->encode(text).offsets, before->encode(text).offsets) << text;
    }
  }
  EXPECT_EQ(after->model_max_length(), 77);
  EXPECT_EQ(after->vocab_size(), before->vocab_size());
  EXPECT_EQ(pipeline_of(after).model().tokens().all(), pipeline_of(before).model().tokens().all());
}

TEST(SaveTokenizer, KeepsSettingsThatItDoesNotKnow) {
  Folder folder;
  folder.with_vocabulary().with("tokenizer_config.json", R"({"additional_special_tokens": ["fire"],
      "model_input_names": ["input_ids", "attention_mask"], "clean_up_tokenization_spaces": true,
      "never_split": ["iron"], "house": {"rooms": [1, 2]}, "model_max_length": 1e30,
      "tokenizer_file": "/elsewhere/tokenizer.json", "name_or_path": "elsewhere"})");
  const Json settings = save_again(folder).settings;
  EXPECT_EQ(settings["additional_special_tokens"], Json({"fire"}));
  EXPECT_EQ(settings["model_input_names"], Json({"input_ids", "attention_mask"}));
  EXPECT_EQ(settings["clean_up_tokenization_spaces"], true);
  EXPECT_EQ(settings["never_split"], Json({"iron"}));
  EXPECT_EQ(settings["house"], Json({{"rooms", {1, 2}}}));
  EXPECT_EQ(settings["model_max_length"], 1e30);
  EXPECT_FALSE(settings.contains("tokenizer_file"));  // of the machine that wrote the file
  EXPECT_FALSE(settings.contains("name_or_path"));
}

TEST(SaveTokenizer, ReplacesTheSettingsThatItKnows) {
  Folder folder;
  folder.with_vocabulary().with("tokenizer_config.json", R"({"do_lower_case": null, "cls_token": "fire"})");
  folder.with("special_tokens_map.json", R"({"cls_token": "iron"})");
  const Saved saved = save_again(folder);
  EXPECT_EQ(saved.settings["do_lower_case"], true);
  EXPECT_EQ(saved.settings["cls_token"], "iron");
  EXPECT_EQ(saved.settings["clean_up_tokenization_spaces"], false);
  EXPECT_EQ(saved.special_tokens_map["cls_token"], "iron");
}

// Once there is an added_tokens_decoder, transformers no longer reads special_tokens_map.json.
TEST(SaveTokenizer, TakesTheSpecialTokensMapIntoTheSettings) {
  Folder folder;
  const Json mask = {{"content", "[MASK]"}, {"lstrip", true}};
  folder.with_vocabulary().with("tokenizer_config.json", R"({"additional_special_tokens": ["ash"]})");
  folder.with(
      "special_tokens_map.json",
      io::dump_json({{"additional_special_tokens", {"stone"}}, {"eos_token", "iron"}, {"mask_token", mask}}, 2));
  const Saved saved = save_again(folder);
  EXPECT_EQ(saved.settings["additional_special_tokens"], Json({"ash", "stone"}));
  EXPECT_EQ(saved.settings["eos_token"], "iron");
  EXPECT_EQ(saved.settings["mask_token"], Json({{"__type", "AddedToken"}, {"content", "[MASK]"}, {"lstrip", true}}));
  EXPECT_EQ(saved.special_tokens_map["additional_special_tokens"], Json({"ash", "stone"}));
  EXPECT_EQ(saved.special_tokens_map["mask_token"], mask);
}

// transformers 4.57 takes a token that is a plain object in tokenizer_config.json for a dict, and fails.
TEST(SaveTokenizer, MarksTokensThatAreObjects) {
  Folder folder;
  const Json stone = {{"content", "stone"}, {"lstrip", true}}, iron = {{"content", "iron"}, {"rstrip", true}};
  folder.with_vocabulary().with("tokenizer_config.json", R"({"additional_special_tokens": ["stone"]})");
  folder.with("special_tokens_map.json",
              io::dump_json({{"additional_special_tokens", {stone, iron}}, {"eos_token", iron}}, 2));
  const Saved saved = save_again(folder);
  const Json marked = {{"__type", "AddedToken"}, {"content", "iron"}, {"rstrip", true}};
  EXPECT_EQ(saved.settings["additional_special_tokens"], Json({"stone", marked}));
  EXPECT_EQ(saved.settings["eos_token"], marked);
  EXPECT_EQ(saved.special_tokens_map["additional_special_tokens"], Json({"stone", iron}));
  EXPECT_EQ(saved.special_tokens_map["eos_token"], iron);
}

TEST(SaveTokenizer, KeepsNodesOfTokenizerJsonThatItDoesNotKnow) {
  Json json = io::read_json(kFixtures / "added" / "tokenizer.json");
  json["truncation"] = {{"direction", "Right"}, {"max_length", 128}, {"strategy", "LongestFirst"}, {"stride", 0}};
  json["decoder"]["cleanup"] = false;
  json["model"]["house"] = 1;
  json["house"] = {1, 2};
  Folder folder;
  folder.with("tokenizer.json", io::dump_json(json, 2));
  EXPECT_EQ(save_again(folder).tokenizer, json);
}

std::string saved_class(const Folder& folder) {
  return save_again(folder).settings["tokenizer_class"].get<std::string>();
}

TEST(SaveTokenizer, NamesTheClassOfTheModel) {
  Folder folder;
  folder.with_vocabulary();
  EXPECT_EQ(saved_class(folder), "BertTokenizer");
  folder.with("config.json", R"({"model_type": "distilbert"})");
  EXPECT_EQ(saved_class(folder), "DistilBertTokenizer");
  folder.with("config.json", R"({"model_type": "bert"})");
  EXPECT_EQ(saved_class(folder), "BertTokenizer");
  folder.with("config.json", R"({"model_type": "bert", "tokenizer_class": "MyTokenizer"})");
  EXPECT_EQ(saved_class(folder), "MyTokenizer");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(saved_class(folder), "PreTrainedTokenizerFast");
}

TEST(SaveTokenizer, NamesTheClassOfTheModelThatItIsSavedBeside) {
  Folder folder;
  folder.with_vocabulary().with("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizerFast"})");
  io::create_directories(folder.path() / "saved");
  folder.with("saved/config.json", R"({"model_type": "distilbert"})");
  EXPECT_EQ(saved_class(folder), "DistilBertTokenizer");
  folder.with("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  EXPECT_EQ(saved_class(folder), "BertJapaneseTokenizer");
}

}  // namespace
}  // namespace hearth::tokenizer
