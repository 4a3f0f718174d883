#include "hearth/tokenizer/wordpiece_trainer.h"

#include <set>

#include "tests/tokenizer/fixtures.h"

namespace hearth::tokenizer {
namespace {

Vocabulary trained(std::string_view text, WordPieceTraining options) {
  WordPieceTrainer trainer(std::move(options));
  trainer.add_text(text);
  return trainer.train();
}

TEST(WordPieceTrainer, MergesTheMostFrequentNeighboursFirst) {
  // ##b ##c: 5, a ##b: 4 (then 1, as ##bc takes three), a ##bc: 3, d ##bc: 2.
  const Vocabulary vocabulary = trained("abc abc abc ab dbc DBC", {.min_frequency = 2, .special_tokens = {"[UNK]"}});
  EXPECT_EQ(vocabulary, (Vocabulary{"[UNK]", "a", "b", "c", "d", "##b", "##c", "##bc", "abc", "dbc"}));
}

TEST(WordPieceTrainer, StopsAtTheSizeAskedFor) {
  const Vocabulary vocabulary = trained("abc abc abc ab dbc dbc", {.vocab_size = 8, .special_tokens = {"[UNK]"}});
  EXPECT_EQ(vocabulary, (Vocabulary{"[UNK]", "a", "b", "c", "d", "##b", "##c", "##bc"}));
}

TEST(WordPieceTrainer, MergesRunsOfOneCharacter) {
  // a ##a ##a ##a ##a, a ##aa ##aa, aaa ##aa: of equally frequent pairs the one with the older pieces comes first.
  const Vocabulary vocabulary = trained("aaaaa aaaaa", {.special_tokens = {}});
  EXPECT_EQ(vocabulary, (Vocabulary{"a", "##a", "##aa", "aaa", "aaaaa"}));
}

TEST(WordPieceTrainer, LeavesRareCharactersOut) {
  const Vocabulary vocabulary = trained("xab ab ab xab", {.limit_alphabet = 2, .special_tokens = {}});
  EXPECT_EQ(vocabulary, (Vocabulary{"a", "b", "##a", "##b", "ab", "##ab"}));
}

TEST(WordPieceTrainer, NormalisesAsTheTokenizerDoes) {
  const std::string text = "\u00C9t\u00E9, \u00C9t\u00E9! \u706B\u706B";
  const Vocabulary lower = trained(text, {.special_tokens = {}});
  EXPECT_NE(std::ranges::find(lower, "ete"), lower.end());
  EXPECT_NE(std::ranges::find(lower, "\u706B"), lower.end());
  EXPECT_EQ(std::ranges::find(lower, "##\u706B"), lower.end());
  WordPieceTraining cased{.special_tokens = {}};
  cased.normalizer.lowercase = false;
  const Vocabulary upper = trained(text, cased);
  EXPECT_NE(std::ranges::find(upper, "\u00C9t\u00E9"), upper.end());
}

TEST(WordPieceTrainer, DependsOnWordsAndCountsOnly) {
  WordPieceTrainer forwards({}), backwards({});
  forwards.add_text("the fire in the hearth\nburned and burned, unburnable\n");
  backwards.add_text("unburnable , burned and");
  backwards.add_text("burned hearth the in\tfire the");
  EXPECT_EQ(forwards.train(), backwards.train());
  EXPECT_EQ(forwards.train(), forwards.train());
}

TEST(WordPieceTrainer, MakesAVocabularyThatSpellsItsTexts) {
  Folder folder;
  folder.with("a.txt", "The fire in the hearth was warm, and the smoke of wood burned on.\nWarm stone, warm hearth!");
  std::int64_t last = 0, of = 0;
  WordPieceTraining options{.vocab_size = 60};
  options.progress = [&](std::int64_t tokens, std::int64_t all) {
    last = tokens;
    of = all;
  };
  WordPieceTrainer trainer(options);
  trainer.add_file(folder.path() / "a.txt");
  const Vocabulary vocabulary = trainer.train();
  EXPECT_EQ(std::set(vocabulary.begin(), vocabulary.end()).size(), vocabulary.size());
  EXPECT_EQ(last, static_cast<std::int64_t>(vocabulary.size()));
  EXPECT_EQ(of, last);
  const PipelineTokenizer tokenizer = bert_tokenizer(vocabulary);
  const TokenizedText pieces = tokenizer.pieces("Warm hearths, undone stone");
  EXPECT_EQ(std::ranges::count(pieces.ids, 1), 0);
  EXPECT_EQ(tokenizer.pieces("warm hearth").ids.size(), 2u);
}

TEST(WordPieceTrainer, RefusesWhatCannotBe) {
  EXPECT_NE(error_of([] { trained(" \n ", {}); }), "no error");
  EXPECT_NE(error_of([] { trained("a", {.vocab_size = 0}); }), "no error");
  EXPECT_NE(error_of([] { WordPieceTrainer({}).add_file("/absent/file.txt"); }).find("/absent/file.txt"),
            std::string::npos);
}

}  // namespace
}  // namespace hearth::tokenizer
