#include <optional>

#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

const Json& cases() {
  static const Json json = io::read_json(kFixtures / "cases.json");
  return json;
}

NormalizerOptions options_of(const Json& json) {
  const Json& accents = json["strip_accents"];
  return {json["clean_text"], json["handle_chinese_chars"],
          accents.is_null() ? std::nullopt : std::optional(accents.get<bool>()), json["lowercase"]};
}

TEST(BertTokenizer, GivesTheLibrarysIdsAndOffsets) {
  ASSERT_EQ(cases()["sets"].size(), 4u);
  for (const Json& set : cases()["sets"]) {
    SCOPED_TRACE(set["options"].dump());
    const PipelineTokenizer tokenizer = tokenizer_with(options_of(set["options"]));
    for (const Json& expected : set["cases"]) expect_case(tokenizer, expected);
  }
}

TEST(BertTokenizer, FindsAddedTokensAsTheLibraryDoes) {
  const auto tokenizer = load_tokenizer(kFixtures / "added");
  for (const Json& expected : cases()["added"]) expect_case(*tokenizer, expected);
}

TEST(BertTokenizer, CutsPairsIntoTheLibrarysWindows) {
  const PipelineTokenizer tokenizer = tokenizer_with({});
  for (const Json& expected : cases()["windows"]) {
    const auto windows = tokenizer.encode_windows(tokenizer.pieces(expected["first"].get<std::string>()),
                                                  tokenizer.pieces(expected["second"].get<std::string>()),
                                                  expected["max_length"], expected["stride"]);
    ASSERT_EQ(windows.size(), expected["windows"].size());
    for (std::size_t i = 0; i < windows.size(); ++i) {
      EXPECT_EQ(Json(windows[i].ids), expected["windows"][i]["ids"]);
      EXPECT_EQ(Json(windows[i].type_ids), expected["windows"][i]["type_ids"]);
      EXPECT_EQ(Json(windows[i].sequence), expected["windows"][i]["sequence"]);
      EXPECT_EQ(json_of(windows[i].offsets), expected["windows"][i]["offsets"]);
    }
  }
}

TEST(BertTokenizer, DecodesAsTheLibraryDoes) {
  const PipelineTokenizer tokenizer = tokenizer_with({});
  for (const Json& expected : cases()["decoded"])
    EXPECT_EQ(tokenizer.decode(expected["ids"], expected["skip_special_tokens"]), expected["text"].get<std::string>());
  EXPECT_EQ(tokenizer.decode({-1, 2147483647}, false), "");
}

TEST(BertTokenizer, SaysWhyWindowsDoNotFit) {
  const PipelineTokenizer tokenizer = tokenizer_with({});
  const TokenizedText first = tokenizer.pieces("the fire is warm"), second = tokenizer.pieces("ash and smoke and iron");
  ASSERT_EQ(first.ids.size(), 4u);
  ASSERT_EQ(second.ids.size(), 5u);
  EXPECT_EQ(tokenizer.encode_windows(first, second, 12, 100).size(), 1u);
  EXPECT_EQ(
      error_of([&] { tokenizer.encode_windows(first, second, 7, 0); }),
      "a maximum length of 7 leaves no room for the second text: the first has 4 tokens, and 3 special tokens are "
      "added; shorten the first text or raise the maximum length");
  EXPECT_EQ(error_of([&] { tokenizer.encode_windows(first, second, 9, 2); }),
            "a stride of 2 does not fit: a maximum length of 9, with 4 tokens of the first text and 3 special tokens, "
            "leaves room for 2 tokens of the second, and the stride must be less than that");
  EXPECT_NE(error_of([&] { tokenizer.encode_windows(first, second, 9, -1); }), "no error");
}

TEST(BertTokenizer, ReadsBrokenUtf8AsReplacementCharacters) {
  const PipelineTokenizer tokenizer = tokenizer_with({});
  const TokenizedText pieces = tokenizer.pieces("fi\xFFre \xE2\x82 ash\xC3");
  EXPECT_EQ(pieces.ids, tokenizer.pieces("fire ash").ids);
  EXPECT_EQ(pieces.offsets, (std::vector<Offset>{{0, 5}, {9, 12}}));
}

TEST(BertTokenizer, OfEqualTokensTheLastCounts) {
  const PipelineTokenizer tokenizer =
      bert_tokenizer({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fire", "", "fire"});
  EXPECT_EQ(tokenizer.pieces("fire").ids, std::vector<std::int32_t>{7});
  EXPECT_EQ(tokenizer.decode({5, 6, 7}, false), "fire");  // as in the library: the first has no id any more
  EXPECT_EQ(tokenizer.vocab_size(), 8);
}

TEST(BertTokenizer, GivesSpecialTokensThatTheVocabularyLacksNewIds) {
  const PipelineTokenizer tokenizer = bert_tokenizer({"[UNK]", "[CLS]", "[SEP]", "fire"});
  EXPECT_EQ(tokenizer.special("pad"), 4);
  EXPECT_EQ(tokenizer.pieces("[MASK] fire").ids, (std::vector<std::int32_t>{5, 3}));
  EXPECT_EQ(tokenizer.vocab_size(), 6);
  EXPECT_EQ(tokenizer.decode({5, 3}, true), "fire");
}

}  // namespace
}  // namespace hearth::tokenizer
