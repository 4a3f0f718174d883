#include "hearth/data/conll.h"

#include "tests/support.h"

namespace hearth::data {
namespace {

using Conll = TemporaryFolder;
using Texts = std::vector<std::string>;

constexpr std::string_view kSentences =
    "-DOCSTART- -X- -X- O\n"
    "\n"
    "Ada NNP B-NP B-PER\n"
    "slept VBD B-VP O\n"
    ". . O O\n"
    "\n"
    "\n"
    "-DOCSTART-\n"
    "# NN B-NP O\n"
    "1 CD I-NP O\n";

Table read_token_table(const std::filesystem::path& file) { return *token_table_reader({file}).next(1000); }

TEST_F(Conll, SentencesAreRows) {
  const Table table = read_token_table(write("train.conll", kSentences));
  EXPECT_EQ(table.names(), (Texts{"tokens", "ner_tags"}));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.at("tokens").kind(), ColumnKind::text_list);
  EXPECT_EQ(table.at("tokens").texts(0), (Texts{"Ada", "slept", "."}));
  EXPECT_EQ(table.at("ner_tags").texts(0), (Texts{"B-PER", "O", "O"}));
  EXPECT_EQ(table.at("tokens").texts(1), (Texts{"#", "1"}));
  EXPECT_FALSE(table.at("ner_tags").has_missing());
}

TEST_F(Conll, ADocumentStartEndsASentence) {
  EXPECT_EQ(read_token_table(write("f.txt", "a O\n-DOCSTART- O\nb O\n")).rows(), 2u);
}

TEST_F(Conll, TabsSeparateBeforeSpaces) {
  const Table table = read_token_table(write("f.bio", "\xEF\xBB\xBFNew York\tB-LOC\r\nis\tO \r\n \t\r\nbig  O"));
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.at("tokens").texts(0), (Texts{"New York", "is"}));
  EXPECT_EQ(table.at("ner_tags").texts(0), (Texts{"B-LOC", "O"}));
  EXPECT_EQ(table.at("ner_tags").texts(1), (Texts{"O"}));
}

TEST_F(Conll, IsTheSameTableAsJson) {
  const Table lines = read_token_table(write("f.conll", "Ada B-PER\nslept O\n\nYes O\n"));
  const Table json = read_token_table(write("f.json", R"({"tokens": ["Ada", "slept"], "ner_tags": ["B-PER", "O"]}
                                                         {"tokens": ["Yes"], "ner_tags": ["O"]})"));
  ASSERT_EQ(json.rows(), lines.rows());
  for (const char* name : {"tokens", "ner_tags"})
    for (std::size_t row = 0; row < json.rows(); ++row) EXPECT_EQ(json.at(name).texts(row), lines.at(name).texts(row));
}

TEST_F(Conll, TheEndingDecides) {
  for (const char* name : {"f.conll", "f.bio", "f.iob", "f.iob2", "f.txt"})
    EXPECT_EQ(read_token_table(write(name, "a O\n")).rows(), 1u) << name;
  EXPECT_EQ(error_of([] { read_token_table("f.xml"); }),
            "f.xml is not a file of tagged words: its name must end in .conll, .bio, .iob, .iob2, .txt, .json, .jsonl, "
            ".csv, .tsv or .parquet");
}

TEST_F(Conll, IsCheckedLineByLine) {
  const auto error_in = [&](std::string_view text) {
    const auto file = write("f.conll", text);
    std::string error = error_of([&] { read_token_table(file); });
    return error.starts_with(file.string()) ? error.substr(file.string().size()) : error;
  };
  EXPECT_EQ(error_in("-DOCSTART- O\n\n"), " holds no sentences; write one word and its tag per line");
  for (const char* line : {"slept", "slept ", "slept\t"})
    EXPECT_EQ(error_in(fmt::format("Ada O\n{}\n", line)),
              ": line 2 has one column only, \"slept\", but a word and its tag are needed, separated by a space or a "
              "tab");
  EXPECT_EQ(error_in("Ada NNP O\n\nslept VBD\n"),
            ": line 3 has 2 columns, but line 1 has 3; the last column is the tag, so no column may be left out");
  EXPECT_EQ(error_in("Ada O\n\xff O\n"), ": line 2 is not UTF-8 text; save the file as UTF-8");
}

}  // namespace
}  // namespace hearth::data
