// Tokenizers of every kind against what Hugging Face's library gives, and the older files of some.
#include "hearth/tokenizer/bpe.h"
#include "hearth/tokenizer/library_number.h"
#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
namespace fs = std::filesystem;

const fs::path kGoldens = kFixtures / "goldens";

void expect_goldens(const Tokenizer& tokenizer, const fs::path& folder) {
  const Json golden = io::read_json(folder / "cases.json");
  for (const Json& expected : golden["cases"]) {
    expect_case(tokenizer, expected);
    EXPECT_EQ(tokenizer.decode(expected["ids"], true), expected["decoded"].get<std::string>()) << expected["text"];
  }
  for (const Json& expected : golden["pairs"]) {
    const Encoding encoding =
        tokenizer.encode(expected["text"].get<std::string>(), expected["pair"].get<std::string>());
    EXPECT_EQ(Json(encoding.ids), expected["ids"]) << expected["text"];
    EXPECT_EQ(Json(encoding.type_ids), expected["type_ids"]) << expected["text"];
    EXPECT_EQ(json_of(encoding.offsets), expected["offsets"]) << expected["text"];
  }
}

TEST(PipelineTokenizer, GivesTheLibrarysTokensOfEveryKind) {
  int kinds = 0;
  for (const auto& folder : fs::directory_iterator(kGoldens)) {
    SCOPED_TRACE(folder.path().string());
    EXPECT_EQ(io::read_json(folder.path() / "cases.json")["cases"].size(), 100u);
    expect_goldens(*load_tokenizer(folder.path()), folder.path());
    ++kinds;
  }
  EXPECT_EQ(kinds, 6);
}

TEST(PipelineTokenizer, SavesEveryNodeAsItWasRead) {
  for (const auto& folder : fs::directory_iterator(kGoldens)) {
    TemporaryPlace place;
    load_tokenizer(folder.path())->save(place.path());
    EXPECT_EQ(io::read_json(place.path() / "tokenizer.json"), io::read_json(folder.path() / "tokenizer.json"))
        << folder.path();
    expect_goldens(*load_tokenizer(place.path()), folder.path());
  }
}

// vocab.json with merges.txt and SentencePiece models, made by the real libraries; transformers has converted them.
TEST(PipelineTokenizer, ConvertsOlderFilesAsTransformersDoes) {
  int kinds = 0;
  for (const auto& folder : fs::directory_iterator(kFixtures / "older")) {
    SCOPED_TRACE(folder.path().string());
    const auto tokenizer = load_tokenizer(folder.path());
    expect_goldens(*tokenizer, folder.path());
    Json converted = io::read_json(folder.path() / "cases.json")["converted"], own = config_of(tokenizer).nodes;
    pipeline_of(tokenizer).model().write(own["model"]);
    for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"})
      EXPECT_EQ(nlohmann::json(own[key]), nlohmann::json(converted[key])) << key;
    ++kinds;
  }
  EXPECT_EQ(kinds, 4);
}

TEST(PipelineTokenizer, AddsTheExtraIdsOfT5) {
  TemporaryPlace place;
  fs::copy(kFixtures / "older" / "xlm-roberta" / "sentencepiece.bpe.model", place.path() / "spiece.model");
  io::replace_file(place.path() / "config.json", R"({"model_type": "t5"})");
  const auto tokenizer = load_tokenizer(place.path());
  const std::vector<std::int32_t> ids = tokenizer->pieces("fire<extra_id_7>").ids;
  EXPECT_EQ(tokenizer->token(ids.back()), "<extra_id_7>");
  EXPECT_EQ(tokenizer->decode(ids, true), "fire");
}

// A saved tokenizer has vocab.json and merges.txt, too.
TEST(PipelineTokenizer, SavesMergesAndVocabulary) {
  TemporaryPlace place;
  load_tokenizer(kGoldens / "roberta-bpe")->save(place.path());
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"})
    fs::remove(place.path() / name);
  const auto tokenizer = load_tokenizer(place.path());
  const Json golden = io::read_json(kGoldens / "roberta-bpe" / "cases.json");
  for (const Json& expected : golden["cases"])
    if (expected["text"].get<std::string>().find("<mask>") == std::string::npos) expect_case(*tokenizer, expected);
}

TEST(PipelineTokenizer, AddsASpaceBeforeTheWordsOfRoberta) {
  TemporaryPlace place;
  fs::copy(kGoldens / "roberta-bpe" / "tokenizer.json", place.path() / "tokenizer.json");
  io::replace_file(place.path() / "config.json", R"({"model_type": "roberta"})");
  const auto plain = load_tokenizer(place.path()), words = load_tokenizer(place.path(), {.takes_words = true});
  EXPECT_EQ(words->pieces("the").ids, plain->pieces(" the").ids);
  EXPECT_NE(plain->pieces("the").ids, plain->pieces(" the").ids);
  EXPECT_EQ(words->build(words->pieces("the")).offsets[1], (Offset{0, 3}));
  words->save(place.path());
  EXPECT_EQ(load_tokenizer(place.path())->pieces("the").ids, words->pieces("the").ids);
}

TEST(PipelineTokenizer, FindsSpecialTokensByName) {
  const auto roberta = load_tokenizer(kGoldens / "roberta-bpe"), gpt2 = load_tokenizer(kGoldens / "gpt2-bpe");
  EXPECT_EQ(roberta->special("cls"), 0);
  EXPECT_EQ(roberta->special("sep"), 2);
  EXPECT_EQ(roberta->special("pad"), 1);
  EXPECT_EQ(roberta->special("mask"), 4);
  EXPECT_EQ(gpt2->special("pad"), std::nullopt);
}

TEST(PipelineTokenizer, ReadsBrokenUtf8AsReplacementCharacters) {
  for (const auto& folder : fs::directory_iterator(kGoldens)) {
    const auto tokenizer = load_tokenizer(folder.path());
    EXPECT_EQ(tokenizer->pieces("a\xFF b\xE2\x82").ids, tokenizer->pieces("a\uFFFD b\uFFFD\uFFFD").ids);
  }
}

// Scores as Hugging Face's library prints them after reading them from a file.
TEST(LibraryNumber, RoundsAsTheLibraryDoes) {
  const Json pairs = io::read_json(kFixtures / "numbers.json");
  ASSERT_GT(pairs.size(), 100u);
  int changed = 0;
  for (const Json& pair : pairs) {
    EXPECT_EQ(library_number(pair[0]), pair[1].get<double>()) << pair;
    changed += pair[0] != pair[1] ? 1 : 0;
  }
  EXPECT_GT(changed, 10);
  for (const double value : {0.0, 1.0, -3.5, 100.0, 1e300, -2.5e-7}) EXPECT_EQ(library_number(value), value);
}

// The definition: merge the first pair of the list, leftmost first, until none is left.
std::vector<std::string> merged(std::string_view word, const Bpe::Merges& merges) {
  std::vector<std::string> tokens;
  for (const char c : word) tokens.emplace_back(1, c);
  const auto merge_one = [&] {
    for (const auto& [left, right] : merges)
      for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
        if (tokens[i] == left && tokens[i + 1] == right) {
          tokens[i] += right;
          tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1);
          return true;
        }
    return false;
  };
  while (merge_one()) {
  }
  return tokens;
}

// Words of many symbols are merged by another algorithm than those of few.
TEST(Bpe, MergesAsDefined) {
  Bpe::Options options;
  options.merges = {{"a", "a"}, {"aa", "aa"}, {"b", "a"}, {"aa", "b"}, {"ba", "aa"}};
  const Bpe bpe(TokenTable({"a", "b", "aa", "aaaa", "ba", "aab", "baaa"}), options, "the vocabulary");
  std::string word;
  for (std::uint32_t i = 0, random = 1; i < 300; ++i, random = random * 1664525u + 1013904223u) {
    word += (random >> 24) % 3 == 0 ? 'b' : 'a';
    std::vector<Piece> pieces;
    bpe.tokenize(word, pieces);
    std::vector<std::string> tokens;
    for (const Piece& piece : pieces) tokens.push_back(*bpe.tokens().token(piece.id));
    EXPECT_EQ(tokens, merged(word, options.merges)) << word;
  }
}

}  // namespace
}  // namespace hearth::tokenizer
