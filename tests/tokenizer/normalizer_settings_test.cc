#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

struct Case {
  std::string config, settings;  // config.json and tokenizer_config.json; empty: not there
  bool lowercase;
  std::optional<bool> strip_accents;
  bool handle_chinese_chars;
};

constexpr const char* kBert = R"({"model_type": "bert"})";
constexpr const char* kDistilBert = R"({"model_type": "distilbert"})";
constexpr const char* kNamesAClass = R"({"model_type": "bert", "tokenizer_class": "PreTrainedTokenizerFast"})";

// What AutoTokenizer of transformers 4.57.6 (tokenizers 0.22.2) makes of a tokenizer.json whose normalizer has
// lowercase false, strip_accents true, handle_chinese_chars false and clean_text false, beside these files. It refuses
// a folder that tells no class; Hearth reads tokenizer.json there as it stands, under the settings that are given.
const Case kCases[] = {
    {"", "", false, true, false},
    {"", R"({"do_lower_case": true})", true, true, false},
    {kBert, "", true, std::nullopt, true},
    {kBert, R"({"model_max_length": 512})", true, std::nullopt, true},
    {kBert, R"({"do_lower_case": false})", false, std::nullopt, true},
    {kBert, R"({"strip_accents": true})", true, true, true},
    {kBert, R"({"tokenize_chinese_chars": false})", true, std::nullopt, false},
    {kBert, R"({"strip_accents": null, "do_lower_case": false, "tokenize_chinese_chars": false})", false, std::nullopt,
     false},
    {kBert, R"({"tokenizer_class": null})", true, std::nullopt, true},
    {kBert, R"({"tokenizer_class": "PreTrainedTokenizerFast"})", false, true, false},
    {kBert, R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": true})", false, true, false},
    {kBert, R"({"tokenizer_class": "DistilBertTokenizer"})", true, std::nullopt, true},
    {kDistilBert, "", true, std::nullopt, true},
    {kDistilBert, R"({"do_lower_case": false})", false, std::nullopt, true},
    {kDistilBert, R"({"tokenizer_class": "BertTokenizerFast", "do_lower_case": false})", false, std::nullopt, true},
    {kNamesAClass, "", false, true, false},
    {kNamesAClass, R"({"do_lower_case": true})", false, true, false},
    {kNamesAClass, R"({"tokenizer_class": "BertTokenizer"})", true, std::nullopt, true},
    {"", R"({"tokenizer_class": "BertTokenizer"})", true, std::nullopt, true},
    {"", R"({"tokenizer_class": "BertTokenizerFast", "do_lower_case": false})", false, std::nullopt, true},
    {"", R"({"tokenizer_class": "PreTrainedTokenizerFast"})", false, true, false},
};

TEST(NormalizerSettings, AreThoseOfTransformers) {
  io::Json json = io::read_json(kFixtures / "added" / "tokenizer.json");
  json["normalizer"] = {{"type", "BertNormalizer"},
                        {"clean_text", false},
                        {"handle_chinese_chars", false},
                        {"strip_accents", true},
                        {"lowercase", false}};
  for (const Case& expected : kCases) {
    Folder folder;
    folder.with("tokenizer.json", io::dump_json(json, io::kOneLine));
    if (!expected.config.empty()) folder.with("config.json", expected.config);
    if (!expected.settings.empty()) folder.with("tokenizer_config.json", expected.settings);
    const io::Json options = config_of(load_tokenizer(folder.path())).nodes["normalizer"];
    const std::string files = expected.config + " " + expected.settings;
    EXPECT_EQ(options["lowercase"], expected.lowercase) << files;
    EXPECT_EQ(options["strip_accents"], expected.strip_accents ? io::Json(*expected.strip_accents) : io::Json())
        << files;
    EXPECT_EQ(options["handle_chinese_chars"], expected.handle_chinese_chars) << files;
    EXPECT_EQ(options["clean_text"], false) << files;
  }
}

}  // namespace
}  // namespace hearth::tokenizer
