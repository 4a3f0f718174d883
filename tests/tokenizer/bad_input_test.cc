// Broken tokenizers: each is refused by one sentence that names the file and what is wrong.
#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

std::string load_error(const Folder& folder) {
  return error_of([&] { load_tokenizer(folder.path()); });
}

// A tokenizer.json that loads, for tests to break.
Json good() {
  return io::parse_json(R"({"added_tokens": [],
      "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "WhitespaceSplit"},
      "post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
      "decoder": {"type": "Fuse"},
      "model": {"type": "BPE", "unk_token": "<s>", "vocab": {"<s>": 0, "a": 1, "b": 2, "ab": 3}, "merges": [["a", "b"]]}})",
                        "");
}

class BrokenJson {
 public:
  std::string error_of(const Json& json) const {
    folder_.with("tokenizer.json", io::dump_json(json, io::kOneLine));
    return load_error(folder_);
  }
  std::string file() const { return (folder_.path() / "tokenizer.json").string(); }

 private:
  mutable Folder folder_;
};

TEST(BadTokenizer, TheGoodOneLoads) { EXPECT_EQ(BrokenJson().error_of(good()), "no error"); }

TEST(BadTokenizer, SequencesInsideThemselves) {
  struct Kind {
    const char *key, *name, *list, *inner;
  };
  for (const auto& [key, name, list, inner] :
       {Kind{"normalizer", "normalizer", "normalizers", "NFC"},
        Kind{"pre_tokenizer", "pre-tokenizer", "pretokenizers", "WhitespaceSplit"},
        Kind{"post_processor", "post-processor", "processors", "ByteLevel"},
        Kind{"decoder", "decoder", "decoders", "Fuse"}}) {
    const auto nested = [&, list = list, inner = inner](int levels) {
      Json node = {{"type", inner}};
      for (int i = 0; i < levels; ++i) node = {{"type", "Sequence"}, {list, Json::array({node})}};
      return node;
    };
    const BrokenJson broken;
    Json json = good();
    json[key] = nested(3);
    EXPECT_EQ(broken.error_of(json), "no error") << key;
    json[key] = nested(200);
    EXPECT_EQ(broken.error_of(json),
              fmt::format("{}: the {}: sequences are nested more than 16 levels deep", broken.file(), name));
    json[key] = {{"type", "Sequence"}};
    EXPECT_EQ(broken.error_of(json),
              fmt::format("{}: the {} Sequence: \"{}\" must be a list", broken.file(), name, list));
  }
}

TEST(BadTokenizer, JsonThatIsNestedWithoutEnd) {
  Folder folder;
  folder.with("tokenizer.json", R"({"model": )" + std::string(200000, '['));
  EXPECT_TRUE(contains(load_error(folder), "tokenizer.json"));
}

TEST(BadTokenizer, TemplatesThatContradictTheVocabulary) {
  const BrokenJson broken;
  Json json = good();
  Json& token = json["post_processor"]["special_tokens"]["<s>"];
  token["ids"] = {77};
  EXPECT_EQ(
      broken.error_of(json),
      broken.file() + ": the post-processor: the special token \"<s>\" has the id 77, but the vocabulary has 4 tokens");
  token["ids"] = {0, 1};
  EXPECT_EQ(broken.error_of(json), broken.file() +
                                       ": the post-processor TemplateProcessing: \"ids\" and \"tokens\" of the special "
                                       "token \"<s>\" are not lists of the same length");
  token["ids"] = {-1};
  EXPECT_TRUE(contains(broken.error_of(json), "an id of the special token \"<s>\" is not under"));
  json["post_processor"]["special_tokens"].erase("<s>");
  EXPECT_TRUE(contains(broken.error_of(json), "\"special_tokens\" does not have \"<s>\", which the template names"));
  json = good();
  json["post_processor"]["single"][1]["Sequence"]["id"] = "B";
  EXPECT_TRUE(contains(broken.error_of(json), "\"single\" names the text B"));
  json = good();
  json["post_processor"]["pair"].erase(1);
  EXPECT_TRUE(contains(broken.error_of(json), "\"pair\" must name the texts A and B"));
}

TEST(BadTokenizer, AddedTokensThatContradictEachOther) {
  const BrokenJson broken;
  Json json = good();
  json["added_tokens"] = {{{"id", 9}, {"content", "<x>"}}, {{"id", 9}, {"content", "<y>"}}};
  EXPECT_EQ(broken.error_of(json), broken.file() + ": the added tokens \"<x>\" and \"<y>\" have the same id, 9");
  json["added_tokens"] = {{{"id", 1}, {"content", "<x>"}}};
  EXPECT_EQ(broken.error_of(json), broken.file() + ": the added token \"<x>\" has the id 1, which is that of \"a\"");
  json["added_tokens"] = {{{"id", 1}, {"content", "<s>"}}};  // the vocabulary knows better, as in the library
  EXPECT_EQ(broken.error_of(json), "no error");
  json["added_tokens"] = {{{"id", 4}}};
  EXPECT_TRUE(contains(broken.error_of(json), "content"));
}

TEST(BadTokenizer, MergesThatNameUnknownTokens) {
  const BrokenJson broken;
  Json json = good();
  for (const auto& [merge, unknown] : {std::pair{Json{"a", "c"}, "c"}, {Json{"c", "a"}, "c"}, {Json{"b", "a"}, "ba"}}) {
    json["model"]["merges"] = Json::array({{"a", "b"}, merge});
    EXPECT_EQ(broken.error_of(json), fmt::format("{}: merge 2 names the token \"{}\", which is not in the vocabulary",
                                                 broken.file(), unknown));
  }
  for (const Json& merge : {Json("ab"), Json("a b c"), Json(5), Json{"a"}, Json{"a", 5}, Json(nullptr)}) {
    json["model"]["merges"] = Json::array({merge});
    EXPECT_TRUE(contains(broken.error_of(json), "merge 1 is not two tokens")) << merge;
  }
  json["model"]["merges"] = Json::array({{"", "a"}});
  EXPECT_TRUE(contains(broken.error_of(json), "merge 1 has an empty token"));
  json["model"].erase("merges");
  EXPECT_EQ(broken.error_of(json), broken.file() + " has no \"merges\"");
}

TEST(BadTokenizer, MergesFileThatDoesNotFitItsVocabulary) {
  Folder folder;
  folder.with("config.json", R"({"model_type": "gpt2"})").with("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  const auto error_with = [&](const std::string& merges) { return load_error(folder.with("merges.txt", merges)); };
  EXPECT_EQ(error_with("#version: 0.2\na b\n"), "no error");
  EXPECT_EQ(error_with("a c\n"), (folder.path() / "vocab.json").string() +
                                     ": merge 1 names the token \"c\", which is not in the vocabulary");
  for (const char* merges : {"a\n", "a b c\n", " b\n", "a \n", "a \xFF\n"})
    EXPECT_EQ(error_with(std::string("a b\n") + merges),
              (folder.path() / "merges.txt").string() + ": line 2 is not two tokens with a space between them");
  folder.with("merges.txt", "a b\n").with("vocab.json", "[1]");
  EXPECT_TRUE(contains(load_error(folder), "vocab.json: the model's \"vocab\" holds no tokens"));
}

TEST(BadTokenizer, ScoresThatAreNotNumbers) {
  Folder folder;
  for (const char* score : {"NaN", "Infinity", "-Infinity", "1e999"}) {
    folder.with(
        "tokenizer.json",
        fmt::format(R"({{"model": {{"type": "Unigram", "unk_id": 0, "vocab": [["a", 0], ["b", {}]]}}}})", score));
    EXPECT_TRUE(contains(load_error(folder), "tokenizer.json")) << score << load_error(folder);
  }
  folder.with("tokenizer.json", R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", "0"]]}})");
  EXPECT_TRUE(contains(load_error(folder), "entry 0 of the model's \"vocab\" is not a pair of token and score"));
}

// Ids without a token are as good as in the library: no text has them, and they decode to nothing.
TEST(BadTokenizer, VocabulariesWithHoles) {
  const BrokenJson broken;
  Json json = good();
  json["model"]["vocab"] = {{"<s>", 0}, {"a", 2}, {"b", 5}, {"ab", 9}};
  Folder folder;
  folder.with("tokenizer.json", io::dump_json(json, io::kOneLine));
  const auto tokenizer = load_tokenizer(folder.path());
  EXPECT_EQ(tokenizer->vocab_size(), 10);
  EXPECT_EQ(tokenizer->encode("ab ba").ids, (std::vector<std::int32_t>{0, 9, 5, 2}));
  EXPECT_EQ(tokenizer->decode({9, 3, 5}, false), "abb");
  tokenizer->save(folder.path() / "saved");
  EXPECT_EQ(io::read_json(folder.path() / "saved" / "tokenizer.json")["model"]["vocab"], json["model"]["vocab"]);

  json["model"]["vocab"] = {{"<s>", 0}, {"a", 1}, {"b", 2}, {"ab", 4000000}};
  EXPECT_TRUE(contains(broken.error_of(json), ": the id of token \"ab\" is not a whole number under "));
  json["model"]["vocab"] = {{"<s>", 0}, {"a", 1}, {"b", 1}, {"ab", 3}};
  EXPECT_EQ(broken.error_of(json), broken.file() + ": the tokens \"a\" and \"b\" have the same id, 1");
  json["model"]["vocab"] = {{"<s>", 0}, {"a", 1.5}, {"b", 2}, {"ab", 3}};
  EXPECT_TRUE(contains(broken.error_of(json), ": the id of token \"a\" is not a whole number under "));
}

TEST(BadTokenizer, NodesThatAreMissing) {
  const BrokenJson broken;
  Json json = good();
  for (const char* key : {"normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens"}) {
    Json without = json;
    without.erase(key);
    EXPECT_EQ(broken.error_of(without), "no error") << key;  // as in the library: a tokenizer without that step
  }
  Json without = json;
  without.erase("model");
  EXPECT_EQ(broken.error_of(without), broken.file() + " has no \"model\"");
  for (const char* key : {"vocab", "merges"}) {
    without = json;
    without["model"].erase(key);
    EXPECT_EQ(broken.error_of(without), fmt::format("{} has no \"{}\"", broken.file(), key));
  }
  json["model"]["unk_token"] = "?";
  EXPECT_EQ(broken.error_of(json), broken.file() + ": \"unk_token\" \"?\" is not in the vocabulary");
}

// The SentencePiece model of the fixtures, broken in every way that protocol buffers can be.
class BrokenModel {
 public:
  std::string error_of(const std::string& bytes) const {
    folder_.with("config.json", R"({"model_type": "xlm-roberta"})").with("sentencepiece.bpe.model", bytes);
    const std::string error = load_error(folder_), start = (folder_.path() / "sentencepiece.bpe.model").string() +
                                                           " is not a SentencePiece model, or is damaged: ";
    return error.starts_with(start) ? error.substr(start.size()) : error;
  }
  static std::string good() { return io::read_file(kFixtures / "older" / "xlm-roberta" / "sentencepiece.bpe.model"); }

 private:
  mutable Folder folder_;
};

TEST(BadTokenizer, SentencePieceModelsThatAreCutOff) {
  const BrokenModel broken;
  const std::string good = BrokenModel::good();
  EXPECT_EQ(broken.error_of(good), "no error");
  EXPECT_EQ(broken.error_of(""), "it has no pieces");
  int cut_off = 0;
  for (std::size_t size = 1; size < good.size(); size += 7) {
    const std::string error = broken.error_of(good.substr(0, size));
    if (error == "no error") continue;  // cut between two pieces
    EXPECT_TRUE(error == "it is cut off" || contains(error, "unknown piece") || contains(error, "has no token"))
        << size << ": " << error;
    ++cut_off;
  }
  EXPECT_GT(cut_off, 500);
}

TEST(BadTokenizer, SentencePieceModelsThatAreDamaged) {
  const BrokenModel broken;
  const auto piece = [](std::string_view body) {
    return std::string("\x0A") + static_cast<char>(body.size()) + std::string(body);
  };
  EXPECT_EQ(broken.error_of("this is no model at all"), "a field has a type that is not known");
  EXPECT_EQ(broken.error_of("\x08\x05"), "a field is not a text");         // pieces are a number
  EXPECT_EQ(broken.error_of(piece("\x08\x05")), "a field is not a text");  // the text of a piece is a number
  EXPECT_EQ(broken.error_of(piece("\x0A\x01"
                                  "a\x10\x05")),
            "a field is not a real number");  // so is its score
  EXPECT_EQ(broken.error_of(piece(std::string_view("\x0A\x01"
                                                   "a\x15\x00\x00\xC0\x7F",
                                                   8))),
            "the score of a piece is not a finite number");
  EXPECT_EQ(broken.error_of(piece("\x0A\x01"
                                  "a\x18\x63")),
            "a number is out of range");  // a type that does not exist
  EXPECT_EQ(broken.error_of(piece("\x0A\x01\xFF")), "a piece is empty or not UTF-8");
  EXPECT_EQ(broken.error_of(piece("")), "a piece is empty or not UTF-8");
  EXPECT_EQ(broken.error_of("\x0A\xFF\xFF\xFF\xFF\x7F"
                            "a"),
            "it is cut off");  // a piece of 32 GiB
  EXPECT_EQ(broken.error_of("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"
                            "a"),
            "it is cut off");
  EXPECT_EQ(broken.error_of("\x0A" + std::string(11, '\xFF')), "a number is too long");
}

}  // namespace
}  // namespace hearth::tokenizer
