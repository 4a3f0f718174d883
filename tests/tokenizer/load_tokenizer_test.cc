#include <algorithm>

#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using Ids = std::vector<std::int32_t>;

std::string load_error(const Folder& folder) {
  return error_of([&] { load_tokenizer(folder.path()); });
}

TEST(LoadTokenizer, LowercasesWithoutSettings) {
  Folder folder;
  const auto tokenizer = load_tokenizer(folder.with_vocabulary().path());
  EXPECT_EQ(tokenizer->pieces("FIRE caf\u00E9").ids, tokenizer->pieces("fire cafe").ids);
  EXPECT_EQ(tokenizer->model_max_length(), kUnlimited);
  EXPECT_EQ(tokenizer->special("cls"), 2);
  EXPECT_EQ(tokenizer->special("pad"), 0);
  EXPECT_EQ(tokenizer->special("bos"), std::nullopt);
}

TEST(LoadTokenizer, FollowsItsSettings) {
  Folder folder;
  folder.with_vocabulary().with("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true,
      "tokenize_chinese_chars": false, "model_max_length": 512, "cls_token": "fire",
      "mask_token": {"content": "[MASK]", "lstrip": true, "rstrip": false, "normalized": false, "single_word": false}})");
  folder.with("special_tokens_map.json",
              R"({"cls_token": "iron", "sep_token": "ash", "pad_token": {"content": "stone"}})");
  const auto tokenizer = load_tokenizer(folder.path());
  const PipelineConfig& config = config_of(tokenizer);
  EXPECT_EQ(config.nodes["normalizer"], io::parse_json(R"({"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": false, "strip_accents": true, "lowercase": false})",
                                                       ""));
  EXPECT_EQ(tokenizer->model_max_length(), 512);
  EXPECT_EQ(config.special_names.at("cls"), "iron");
  EXPECT_EQ(config.special_names.at("sep"), "ash");
  EXPECT_EQ(config.special_names.at("pad"), "stone");
  EXPECT_FALSE(std::ranges::find(config.added_tokens, "stone", &AddedToken::content)->normalized);
  EXPECT_EQ(tokenizer->pieces("wood  [MASK]").offsets, (std::vector<Offset>{{0, 4}, {4, 12}}));
}

TEST(LoadTokenizer, ReadsTokensAddedToAVocabulary) {
  Folder folder;
  folder.with_vocabulary().with("added_tokens.json", R"({"<new>": 458, "Brand": 459})");
  folder.with("special_tokens_map.json", R"({"additional_special_tokens": ["<sp>"]})");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->encode("<new> brand Brand <sp>").ids, (Ids{2, 458, 459, 459, 460, 3}));
  EXPECT_EQ(tokenizer->vocab_size(), 461);
  folder.with("added_tokens.json", R"({"<new>": "x"})");
  EXPECT_NE(load_error(folder).find("added_tokens.json"), std::string::npos);
}

TEST(LoadTokenizer, TakesVeryLargeLimitsForNone) {
  for (const char* length : {"1000000000000000019884624838656", "1e30", "9223372036854775807", "null"}) {
    Folder folder;
    folder.with_vocabulary().with("tokenizer_config.json", fmt::format("{{\"model_max_length\": {}}}", length));
    EXPECT_EQ(load_tokenizer(folder.path())->model_max_length(), kUnlimited) << length;
  }
}

// As transformers 4.57.6 has it.
TEST(LoadTokenizer, DoesNotReadTheSpecialTokensMapBesideAnAddedTokensDecoder) {
  Folder folder;
  folder.with_vocabulary().with("special_tokens_map.json", R"({"cls_token": "iron", "sep_token": "ash"})");
  folder.with("tokenizer_config.json",
              R"({"cls_token": "fire", "added_tokens_decoder": {"2": {"content": "[CLS]", "special": true}}})");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(config_of(tokenizer).special_names.at("cls"), "fire");
  EXPECT_EQ(config_of(tokenizer).special_names.at("sep"), "[SEP]");
}

TEST(LoadTokenizer, PrefersTokenizerJson) {
  Folder folder;
  folder.with_vocabulary().with("tokenizer.json", R"({"added_tokens": [], "normalizer": {"type": "BertNormalizer",
      "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": false},
      "pre_tokenizer": {"type": "BertPreTokenizer"},
      "post_processor": {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]},
      "model": {"unk_token": "<?>", "continuing_subword_prefix": "@@", "max_input_chars_per_word": 5,
                "vocab": {"<s>": 0, "</s>": 1, "<?>": 2, "a": 4, "@@b": 3}}})");
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->encode("abb abbbbb").ids, (Ids{0, 4, 3, 3, 2, 1}));
}

TEST(LoadTokenizer, RefusesNodesThatItDoesNotKnow) {
  Folder folder;
  const auto error_with = [&](const std::string& key, const char* value) {
    io::Json json = io::read_json(kFixtures / "added" / "tokenizer.json");
    json[key] = io::parse_json(value, "");
    folder.with("tokenizer.json", io::dump_json(json, io::kOneLine));
    return load_error(folder);
  };
  const std::string file = (folder.path() / "tokenizer.json").string();
  EXPECT_EQ(error_with("normalizer", R"({"type": "Magic"})"), file + ": the normalizer Magic is not supported");
  EXPECT_EQ(error_with("pre_tokenizer", R"({"type": "Sequence", "pretokenizers": [{"type": "Magic"}]})"),
            file + ": the pre-tokenizer Sequence Magic is not supported");
  EXPECT_EQ(error_with("post_processor", R"({"type": "Magic"})"), file + ": the post-processor Magic is not supported");
  EXPECT_EQ(error_with("decoder", R"({"type": "Magic"})"), file + ": the decoder Magic is not supported");
  EXPECT_EQ(error_with("model", R"({"type": "Magic"})"), file + ": the model Magic is not supported");
  EXPECT_NE(error_with("pre_tokenizer", R"({"type": "Split", "pattern": {"Regex": "a|b"}, "behavior": "Isolated"})")
                .find("the regular expression \"a|b\" is not supported"),
            std::string::npos);
}

TEST(LoadTokenizer, RefusesModelsThatContradictThemselves) {
  Folder folder;
  const auto error_of_model = [&](const std::string& model) {
    folder.with("tokenizer.json", fmt::format(R"({{"model": {}}})", model));
    return load_error(folder);
  };
  const auto expect = [&](const std::string& model, const std::string& part) {
    EXPECT_NE(error_of_model(model).find(part), std::string::npos) << model << ": " << error_of_model(model);
  };
  expect(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": [["a", "b"]]})",
         "merge 1 names the token \"ab\", which is not in the vocabulary");
  expect(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]})", "merge 1 is not two tokens");
  expect(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "?"})", "\"unk_token\" \"?\" is not in");
  expect(R"({"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.1})", "\"dropout\"");
  expect(R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})", "have the same id, 0");
  expect(R"({"type": "BPE", "vocab": {"a": 9999999}, "merges": []})", "is not a whole number under");
  expect(R"({"type": "Unigram", "vocab": [["a", NaN]], "unk_id": 0})", "the score of the token \"a\" is not a finite");
  expect(R"({"type": "Unigram", "vocab": [["a"]], "unk_id": 0})", "is not a pair of token and score");
  expect(R"({"type": "Unigram", "vocab": [["a", 0]], "unk_id": 5})", "unk_id");
  expect(R"({"type": "WordPiece", "vocab": {"a": 0}})", "has no token \"[UNK]\"");
}

TEST(LoadTokenizer, NamesWhatIsMissingOrBroken) {
  Folder folder;
  EXPECT_EQ(load_error(folder),
            folder.path().string() +
                " holds no tokenizer: there is no tokenizer.json, nor vocab.txt, nor vocab.json and "
                "merges.txt, nor a SentencePiece model");
  EXPECT_NE(error_of([&] { load_tokenizer(folder.path() / "absent"); }).find("is not a folder"), std::string::npos);

  const std::string vocab = (folder.path() / "vocab.txt").string();
  folder.with("vocab.txt", "");
  EXPECT_NE(load_error(folder).find(vocab + " is empty"), std::string::npos);
  folder.with("vocab.txt", "[UNK]\n[CLS]\n\xFF\n");
  EXPECT_NE(load_error(folder).find(vocab + ": line 3 is not UTF-8"), std::string::npos);
  folder.with("vocab.txt", "[UNK]\n[CLS]\n");
  EXPECT_NE(load_error(folder).find(vocab + " has no token \"[SEP]\""), std::string::npos);

  folder.with_vocabulary();
  for (const char* settings : {"[]", "{", R"({"do_lower_case": 1})", R"({"model_max_length": "x"})",
                               R"({"model_max_length": 0})", R"({"padding_side": "left"})", R"({"cls_token": 5})",
                               R"({"cls_token": {}})", R"({"added_tokens_decoder": {"x": {"content": "y"}}})"}) {
    folder.with("tokenizer_config.json", settings);
    EXPECT_NE(load_error(folder).find("tokenizer_config.json"), std::string::npos) << settings << load_error(folder);
  }
  folder.with("tokenizer_config.json", "{}");
  for (const char* json :
       {"", "[]", "{}", R"({"model": 5})", R"({"model": {"type": "WordPiece"}})",
        R"({"model": {"type": "WordPiece", "vocab": {"a": -1}}, "normalizer": {"type": "BertNormalizer"},
            "pre_tokenizer": {"type": "BertPreTokenizer"}})",
        R"({"model": {"type": "WordPiece", "vocab": {}}, "normalizer": {"type": "BertNormalizer"},
            "pre_tokenizer": {"type": "BertPreTokenizer"}})",
        R"({"model": {"type": "WordPiece", "vocab": {"a": 0}}, "normalizer": {"type": "BertNormalizer"},
            "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": {"type": "TemplateProcessing"}})"}) {
    folder.with("tokenizer.json", json);
    EXPECT_NE(load_error(folder).find("tokenizer.json"), std::string::npos) << json << load_error(folder);
  }
}

// Every node may be of any type: the sentence names the file and the key.
TEST(LoadTokenizer, RefusesNodesOfOtherTypes) {
  Folder folder;
  const auto error_with = [&](const std::string& key, const std::string& value) {
    io::Json json = io::parse_json(R"({"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}},
        "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}})",
                                   "");
    json[key] = io::parse_json(value, "");
    folder.with("tokenizer.json", io::dump_json(json, io::kOneLine));
    return load_error(folder);
  };
  for (const char* key : {"model", "normalizer", "pre_tokenizer", "post_processor", "decoder"})
    for (const char* type : {"5", "[]", "{}", "true"}) {
      const std::string error = error_with(key, fmt::format(R"({{"type": {}}})", type));
      EXPECT_NE(error.find("\"type\" must be a string, found"), std::string::npos) << key << error;
    }
  for (const char* parts :
       {R"("single": null, "pair": null)", R"("single": {}, "pair": 1)", R"("single": [5], "pair": [])",
        R"("single": [], "pair": [])", R"("single": [{"SpecialToken": {"id": "x", "type_id": 0}}], "pair": [])"}) {
    const std::string error =
        error_with("post_processor", fmt::format(R"({{"type": "TemplateProcessing", {}}})", parts));
    EXPECT_NE(error.find("tokenizer.json: the post-processor TemplateProcessing"), std::string::npos) << parts << error;
  }
}

TEST(LoadTokenizer, ReadsLinesOfEveryKind) {
  Folder folder;
  folder.with("vocab.txt", "[UNK]\r\n[CLS]\r[SEP]\n\nfire");
  EXPECT_EQ(read_vocabulary(folder.path() / "vocab.txt"), (Vocabulary{"[UNK]", "[CLS]", "[SEP]", "", "fire"}));
}

}  // namespace
}  // namespace hearth::tokenizer
