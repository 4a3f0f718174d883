#include "hearth/tokenizer/tokenizer_trainer.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hearth/base/enum_names.h"
#include "hearth/cpu/parallel.h"
#include "hearth/tokenizer/bpe_trainer.h"
#include "hearth/tokenizer/unigram_lattice.h"
#include "hearth/tokenizer/unigram_trainer.h"
#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
namespace fs = std::filesystem;

std::shared_ptr<const Tokenizer> trained(std::string_view text, TokenizerTraining options) {
  TokenizerTrainer trainer(std::move(options));
  trainer.texts().add({&text, 1});
  return trainer.train();
}

Vocabulary vocabulary_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return pipeline_of(tokenizer).model().tokens().all();
}

// The vocabulary behind the special tokens of BERT.
Vocabulary wordpieces(std::string_view text, TokenizerTraining options) {
  Vocabulary vocabulary = vocabulary_of(trained(text, std::move(options)));
  vocabulary.erase(vocabulary.begin(), vocabulary.begin() + 5);
  return vocabulary;
}

TEST(WordPieceTrainer, MergesTheMostFrequentNeighboursFirst) {
  // ##b ##c: 5, a ##b: 4 (then 1, as ##bc takes three), a ##bc: 3, d ##bc: 2.
  EXPECT_EQ(wordpieces("abc abc abc ab dbc DBC", {}),
            (Vocabulary{"a", "b", "c", "d", "##b", "##c", "##bc", "abc", "dbc"}));
}

TEST(WordPieceTrainer, StopsAtTheSizeAskedFor) {
  EXPECT_EQ(wordpieces("abc abc abc ab dbc dbc", {.vocab_size = 12}),
            (Vocabulary{"a", "b", "c", "d", "##b", "##c", "##bc"}));
}

TEST(WordPieceTrainer, MergesRunsOfOneCharacter) {
  // a ##a ##a ##a ##a, a ##aa ##aa, aaa ##aa: of equally frequent pairs the one with the older pieces comes first.
  EXPECT_EQ(wordpieces("aaaaa aaaaa", {}), (Vocabulary{"a", "##a", "##aa", "aaa", "aaaaa"}));
}

TEST(WordPieceTrainer, LeavesRareCharactersOut) {
  EXPECT_EQ(wordpieces("xab ab ab xab", {.limit_alphabet = 2}), (Vocabulary{"a", "b", "##a", "##b", "ab", "##ab"}));
}

TEST(WordPieceTrainer, NormalisesAsTheTokenizerDoes) {
  const std::string text = "\u00C9t\u00E9, \u00C9t\u00E9! \u706B\u706B";
  const Vocabulary lower = wordpieces(text, {});
  EXPECT_NE(std::ranges::find(lower, "ete"), lower.end());
  EXPECT_NE(std::ranges::find(lower, "\u706B"), lower.end());
  EXPECT_EQ(std::ranges::find(lower, "##\u706B"), lower.end());
  const Vocabulary upper = wordpieces(text, {.lowercase = false});
  EXPECT_NE(std::ranges::find(upper, "\u00C9t\u00E9"), upper.end());
}

TEST(WordPieceTrainer, LeavesOutWordsThatTheTokenizerDoesNotCut) {
  EXPECT_EQ(wordpieces("ab ab " + std::string(101, 'c'), {}), (Vocabulary{"a", "b", "##b", "ab"}));
}

TEST(WordPieceTrainer, MakesAVocabularyThatSpellsItsTexts) {
  double last = 0;
  const auto tokenizer =
      trained("The fire in the hearth was warm, and the smoke of wood burned on.\nWarm stone, warm hearth!",
              {.vocab_size = 60, .progress = [&](double done) { last = done; }});
  const Vocabulary vocabulary = vocabulary_of(tokenizer);
  EXPECT_EQ(std::set(vocabulary.begin(), vocabulary.end()).size(), vocabulary.size());
  EXPECT_EQ(last, 1);
  EXPECT_EQ(std::ranges::count(tokenizer->pieces("Warm hearths, undone stone").ids, 1), 0);
  EXPECT_EQ(tokenizer->pieces("warm hearth").ids.size(), 2u);
}

TEST(BpeTrainer, MergesAPairThatComesAboutAgain) {
  // "abcx" is spelled "abc" "x" after both of "ab" + "c" and "a" + "bc" have made "abc".
  const std::vector<CountedWord> words = {{"ab", 20}, {"abcx", 5}, {"bc", 18}, {"zabc", 3}, {"zbcx", 2}};
  const TrainedBpe result = train_bpe(words, {.min_frequency = 1});
  std::set<std::pair<std::string, std::string>> different(result.merges.begin(), result.merges.end());
  EXPECT_EQ(different.size(), result.merges.size());
  for (const auto& [left, right] : result.merges)
    EXPECT_NE(std::ranges::find(result.vocabulary, left + right), result.vocabulary.end());
}

TEST(BpeTrainer, HasEveryByteAndTheSpecialTokensOfRoberta) {
  const auto tokenizer = trained("low low low lower lowest", {.type = TokenizerType::bpe, .vocab_size = 264});
  const Vocabulary vocabulary = vocabulary_of(tokenizer);
  ASSERT_EQ(vocabulary.size(), 264u);
  EXPECT_EQ(Vocabulary(vocabulary.begin(), vocabulary.begin() + 6),
            (Vocabulary{"<s>", "<pad>", "</s>", "<unk>", "<mask>", "!"}));
  EXPECT_EQ(tokenizer->special("mask"), 4);
  const Encoding encoding = tokenizer->encode("low \u706B <mask>");
  EXPECT_EQ(encoding.ids.front(), 0);
  EXPECT_EQ(encoding.ids[encoding.ids.size() - 2], 4);
  EXPECT_EQ(encoding.offsets[encoding.offsets.size() - 2], (Offset{6, 12}));  // RoBERTa's mask includes the spaces
  EXPECT_EQ(tokenizer->decode(encoding.ids, true), "low \u706B");
}

TEST(UnigramTrainer, HasEveryCharacterAndFallingScores) {
  const std::string text = "the fire in the hearth, the hearth in the fire; the warm hearth and the warmer fire";
  const auto tokenizer = trained(text, {.type = TokenizerType::unigram, .vocab_size = 40});
  const Json vocab = [&] {
    Json node;
    pipeline_of(tokenizer).model().write(node);
    return node["vocab"];
  }();
  EXPECT_EQ(vocab[3][0], "<unk>");
  for (std::size_t i = 6; i < vocab.size(); ++i) EXPECT_LE(vocab[i][1], vocab[i - 1][1]);
  EXPECT_EQ(std::ranges::count(tokenizer->pieces(text).ids, 3), 0);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text).ids, true), text);
  EXPECT_EQ(tokenizer->pieces("a\u706B").ids.back(), 3);
}

// All ways to cut a word, added up one by one.
void add_expected_plainly(const UnigramLattice& lattice, std::string_view word, std::size_t begin, double probability,
                          std::vector<std::size_t>& path, std::vector<double>& sums, double& total) {
  if (begin == word.size()) {
    for (const std::size_t piece : path) sums[piece] += probability;
    total += probability;
    return;
  }
  for (std::size_t piece = 0; piece < lattice.pieces().size(); ++piece) {
    const std::string& text = lattice.pieces()[piece];
    if (!lattice.has(piece) || !word.substr(begin).starts_with(text)) continue;
    path.push_back(piece);
    add_expected_plainly(lattice, word, begin + text.size(), probability * std::exp(lattice.score(piece)), path, sums,
                         total);
    path.pop_back();
  }
}

TEST(UnigramLattice, ExpectsWhatTheSumOverAllCutsSays) {
  UnigramLattice lattice({"a", "b", "c", "ab", "bc", "abc", "ca", "cab"});
  lattice.set_scores({-3, -4, -3.5, -2, -2.5, -1.5, UnigramLattice::kRemoved, -4.5});
  for (const std::string_view word : {"a", "abc", "abcabc", "cabcab", "bcabcacab"}) {
    std::vector<double> sums(9), plain(9);
    lattice.add_expected(word, 7, sums);
    std::vector<std::size_t> path;
    double total = 0;
    add_expected_plainly(lattice, word, 0, 1, path, plain, total);
    for (std::size_t piece = 0; piece < 8; ++piece) EXPECT_NEAR(sums[piece], 7 * plain[piece] / total, 1e-12) << word;
  }
}

// The probability of a long word is far below the smallest double.
TEST(UnigramLattice, ScalesLongWords) {
  UnigramLattice lattice({"a", "aa", "b"});
  lattice.set_scores({-20, -21, -25});
  std::string word;
  for (int i = 0; i < 4000; ++i) word += i % 7 == 3 ? "b" : i % 11 == 5 ? "?" : "a";
  std::vector<double> sums(4);
  lattice.add_expected(word, 1, sums);
  EXPECT_NEAR(sums[0] + 2 * sums[1], static_cast<double>(std::ranges::count(word, 'a')), 1e-6);
  EXPECT_NEAR(sums[2], static_cast<double>(std::ranges::count(word, 'b')), 1e-6);
  EXPECT_NEAR(sums[3], static_cast<double>(std::ranges::count(word, '?')), 1e-6);
}

TEST(UnigramLattice, FindsTheMostLikelyCut) {
  UnigramLattice lattice({"a", "b", "ab", "ba"});
  lattice.set_scores({-2, -2, -3, -2.5});
  EXPECT_EQ(lattice.best_path("aba").pieces, (std::vector<std::size_t>{0, 3}));
  EXPECT_EQ(lattice.best_path("ab", 2).pieces, (std::vector<std::size_t>{0, 1}));
  EXPECT_TRUE(lattice.best_path("a", 0).pieces.empty());
  EXPECT_EQ(lattice.best_path("a?").pieces, (std::vector<std::size_t>{0, lattice.unknown()}));
}

// Files of Hugging Face's library: the corpus, and what its trainers make of it (make_trained.py).
const fs::path kTrained = kFixtures / "trained";

std::shared_ptr<const Tokenizer> trained_on_corpus(TokenizerTraining options) {
  TokenizerTrainer trainer(std::move(options));
  trainer.texts().add_file(kTrained / "corpus.txt");
  return trainer.train();
}

TEST(TokenizerTrainer, MakesTheLibrarysVocabularyAndMerges) {
  const Json library = io::read_json(kTrained / "bpe.json");
  for (const Json& expected : library["models"]) {
    const auto tokenizer = trained_on_corpus({.type = TokenizerType::bpe,
                                              .vocab_size = expected["vocab_size"].get<std::int64_t>(),
                                              .min_frequency = expected["min_frequency"].get<std::int64_t>(),
                                              .lowercase = expected["lowercase"].get<bool>()});
    Json node;
    pipeline_of(tokenizer).model().write(node);
    EXPECT_EQ(node["vocab"], expected["vocab"]) << expected["vocab_size"];
    EXPECT_EQ(node["merges"], expected["merges"]) << expected["vocab_size"];
  }
}

TEST(TokenizerTrainer, MakesTheLibrarysUnigramPieces) {
  const Json library = io::read_json(kTrained / "unigram.json");
  for (const Json& expected : library["models"]) {
    const auto tokenizer =
        trained_on_corpus({.type = TokenizerType::unigram, .vocab_size = expected["vocab_size"].get<std::int64_t>()});
    Json node;
    pipeline_of(tokenizer).model().write(node);
    std::map<std::string, double> scores;
    for (const Json& token : node["vocab"]) scores.emplace(token[0], token[1]);
    ASSERT_EQ(scores.size(), expected["vocab"].size());
    for (const Json& token : expected["vocab"]) {
      const auto found = scores.find(token[0]);
      ASSERT_NE(found, scores.end()) << token[0];
      // The library gives characters that have lost their pieces scores in random order, 1e-4 apart.
      EXPECT_NEAR(found->second, token[1], count_code_points(found->first) == 1 ? 0.1 : 1e-9) << token[0];
    }
  }
}

TEST(TokenizerTrainer, GivesTheSameBitsForAnyNumberOfThreadsAndOrderOfTexts) {
  const std::string text = io::read_file(kTrained / "corpus.txt");
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(lines.back().size()))
    lines.push_back(rest.substr(0, rest.find('\n') + 1));
  const auto model = [&](TokenizerType type) {
    TokenizerTrainer trainer({.type = type, .vocab_size = 500});
    for (int i = 0; i < 20; ++i) trainer.texts().add(lines);  // more than one chunk
    Json node;
    pipeline_of(trainer.train()).model().write(node);
    return io::dump_json(node, io::kOneLine);
  };
  for (const TokenizerType type : {TokenizerType::wordpiece, TokenizerType::bpe, TokenizerType::unigram}) {
    cpu::set_num_threads(1);
    const std::string expected = model(type);
    for (const int threads : {2, 8, 16}) {
      std::ranges::reverse(lines);
      cpu::set_num_threads(threads);
      EXPECT_EQ(model(type), expected) << name_of(type) << ", " << threads << " threads";
    }
    cpu::set_num_threads(0);
  }
}

TEST(TokenizerTrainer, SavesTokenizersThatItCanLoad) {
  struct Case {
    TokenizerType type;
    const char *tokenizer_class, *cls, *sep, *pad;
    std::int32_t mask;
  };
  for (const auto& [type, tokenizer_class, cls, sep, pad, mask] :
       {Case{TokenizerType::wordpiece, "ElectraTokenizer", "[CLS]", "[SEP]", "[PAD]", 4},
        Case{TokenizerType::wordpiece, "MPNetTokenizer", "<s>", "</s>", "<pad>", 4},
        Case{TokenizerType::bpe, "RobertaTokenizer", "<s>", "</s>", "<pad>", 4},
        Case{TokenizerType::unigram, "XLMRobertaTokenizer", "<s>", "</s>", "<pad>", 4},
        Case{TokenizerType::unigram, "AlbertTokenizer", "[CLS]", "[SEP]", "<pad>", 4},
        Case{TokenizerType::unigram, "DebertaV2Tokenizer", "[CLS]", "[SEP]", "[PAD]", 4}}) {
    SCOPED_TRACE(tokenizer_class);
    const auto tokenizer = trained_on_corpus({.type = type,
                                              .tokenizer_class = tokenizer_class,
                                              .vocab_size = 600,
                                              .special_tokens = {"<extra>"},
                                              .model_max_length = 64});
    TemporaryPlace place;
    tokenizer->save(place.path());
    const auto loaded = load_tokenizer(place.path());
    EXPECT_EQ(config_of(loaded).tokenizer_class, tokenizer_class);
    EXPECT_EQ(loaded->token(*loaded->special("cls")), cls);
    EXPECT_EQ(loaded->token(*loaded->special("sep")), sep);
    EXPECT_EQ(loaded->token(*loaded->special("pad")), pad);
    EXPECT_EQ(loaded->special("mask"), mask);
    EXPECT_EQ(loaded->model_max_length(), 64);
    EXPECT_EQ(
        loaded->pieces("a<extra>b").ids[1 + (type == TokenizerType::unigram && loaded->pieces("a").ids.size() > 1)], 5);
    for (const char* text : {"The fire was warm.", " two  spaces <mask> \u706B"}) {
      EXPECT_EQ(loaded->encode(text).ids, tokenizer->encode(text).ids) << text;
      EXPECT_EQ(loaded->encode(text, "b").ids, tokenizer->encode(text, "b").ids) << text;
    }
  }
}

TEST(TokenizerTrainer, CountsBrokenUtf8AsReplacementCharacters) {
  const auto tokenizer = trained("a\xFF\xFF a\xFF\xFF", {.type = TokenizerType::unigram, .vocab_size = 20});
  EXPECT_EQ(std::ranges::count(tokenizer->pieces("\uFFFD").ids, 3), 0);
}

TEST(TokenizerTrainer, RefusesWhatCannotBe) {
  EXPECT_EQ(error_of([] { trained(" \n ", {}); }), "the training texts have no words: give files with text");
  EXPECT_NE(error_of([] { trained("a", {.vocab_size = 0}); }), "no error");
  EXPECT_EQ(error_of([] { trained("abc", {.type = TokenizerType::unigram, .vocab_size = 8}); }),
            "a vocabulary of 8 tokens is too small: the texts have 4 different characters, and there are 5 special "
            "tokens; vocab_size must be at least 9");
  EXPECT_EQ(error_of([] { trained("a", {.type = TokenizerType::unigram, .min_frequency = 2}); }),
            "the training of a unigram vocabulary has no min_frequency and no limit_alphabet: leave them out");
  EXPECT_EQ(error_of([] { trained("a", {.tokenizer_class = "RobertaTokenizer"}); }),
            "a RobertaTokenizer has no vocabulary of the type wordpiece; classes of this type are BertTokenizer, "
            "DistilBertTokenizer, ElectraTokenizer, MPNetTokenizer");
  EXPECT_NE(error_of([] { trained("a", {.add_prefix_space = true}); }), "no error");
  EXPECT_NE(error_of([] { trained("a", {.special_tokens = {""}}); }), "no error");
  EXPECT_TRUE(
      contains(error_of([] { TokenizerTrainer({}).texts().add_file("/absent/file.txt"); }), "/absent/file.txt"));
}

}  // namespace
}  // namespace hearth::tokenizer
