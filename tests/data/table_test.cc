#include "hearth/data/table.h"

#include <cmath>

#include "tests/support.h"

namespace hearth::data {
namespace {

using Texts = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

class TableFile : public TemporaryFolder {
 protected:
  // A column "c" of a .csv file beside another column, so that a line with an empty cell is not blank.
  Column csv(const Texts& cells) const {
    std::string text = "c,beside\n";
    for (const std::string& cell : cells) text += cell + ",x\n";
    return read_table(write("f.csv", text)).at("c");
  }
  ColumnKind kind_in_csv(const Texts& cells) const { return csv(cells).kind(); }
  Column json(std::string_view values) const {
    return read_table(write("f.json", fmt::format(R"({{"data": {{"c": {}}}}})", values))).at("c");
  }
  std::string error_in(std::string_view name, std::string_view text) const {
    const auto file = write(name, text);
    std::string error = error_of([&] { read_table(file); });
    return error.starts_with(file.string()) ? error.substr(file.string().size()) : error;
  }
};

// The kinds of the following tests are those of pandas 2.3 for the same cells.
TEST_F(TableFile, WholeNumbersInCsv) {
  const Column column = csv({"1", "-2", " 007 ", "+3", "\"4\""});
  EXPECT_EQ(column.kind(), ColumnKind::integer);
  EXPECT_EQ(column.integer(1), -2);
  EXPECT_EQ(column.integer(2), 7);
  EXPECT_EQ(column.number(3), 3.0);
  EXPECT_EQ(column.integer(4), 4);
  EXPECT_EQ(column.written(2), "7");
  EXPECT_FALSE(column.has_missing());
}

TEST_F(TableFile, WholeNumbersWithAGapAreNumbers) {
  const Column column = csv({"1", "", "3"});
  EXPECT_EQ(column.kind(), ColumnKind::number);
  EXPECT_EQ(column.number(2), 3.0);
  EXPECT_TRUE(column.is_missing(1));
  EXPECT_TRUE(std::isnan(column.number(1)));
  EXPECT_EQ(column.written(0), "1.0");
}

TEST_F(TableFile, NumbersInCsv) {
  const Column column = csv({"1.5", "2", "1.", ".5", "1e3", "-Infinity", "+inf", "NaN", "1.5e+05"});
  EXPECT_EQ(column.kind(), ColumnKind::number);
  EXPECT_EQ(column.number(1), 2.0);
  EXPECT_EQ(column.number(2), 1.0);
  EXPECT_EQ(column.number(3), 0.5);
  EXPECT_EQ(column.number(4), 1000.0);
  EXPECT_TRUE(std::isinf(column.number(5)));
  EXPECT_EQ(column.written(5), "-inf");
  EXPECT_EQ(column.written(6), "inf");
  EXPECT_TRUE(column.is_missing(7));
  EXPECT_EQ(column.number(8), 150000.0);
}

TEST_F(TableFile, BooleansInCsv) {
  const Column column = csv({"True", "FALSE", "", "true"});
  EXPECT_EQ(column.kind(), ColumnKind::boolean);
  EXPECT_EQ(column.integer(0), 1);
  EXPECT_EQ(column.integer(1), 0);
  EXPECT_EQ(column.written(1), "False");
  EXPECT_TRUE(column.is_missing(2));
  EXPECT_TRUE(std::isnan(column.number(2)));
}

TEST_F(TableFile, TextsInCsvKeepTheirSpelling) {
  const Column column = csv({"1", " 2 ", "x", "NA", "\"a, \"\"b\"\"\"", ""});
  EXPECT_EQ(column.kind(), ColumnKind::text);
  EXPECT_EQ(column.text(0), "1");
  EXPECT_EQ(column.text(1), " 2 ");
  EXPECT_EQ(column.text(4), "a, \"b\"");
  EXPECT_TRUE(column.is_missing(3));
  EXPECT_EQ(column.text(3), "NA");
  EXPECT_EQ(column.written(5), "");
  for (const Texts& cells : std::vector<Texts>{{"True", "1"},
                                               {" True", "False"},
                                               {"1_000", "1"},
                                               {"0x10", "1"},
                                               {"1e", "1"},
                                               {"infi", "1"},
                                               {"NAN", "1"},
                                               {"+nan", "1"},
                                               {"--1", "1"},
                                               {"+-1", "1"},
                                               {"+", "1"},
                                               {"1 2", "1"},
                                               {" ", "1"},
                                               {" NA", "1"},
                                               {"1e400", "1"},
                                               {"18446744073709551616", "1"},
                                               {"-9223372036854775809", "1"},
                                               {"١", "1"}})
    EXPECT_EQ(kind_in_csv(cells), ColumnKind::text) << cells.front();
}

TEST_F(TableFile, MissingCellsInCsv) {
  const Column column = csv({"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
                             "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"});
  EXPECT_EQ(column.kind(), ColumnKind::number);
  for (std::size_t row = 0; row < column.size(); ++row) EXPECT_TRUE(column.is_missing(row)) << row;
  EXPECT_EQ(kind_in_csv({"Null", "none", "na"}), ColumnKind::text);
}

TEST_F(TableFile, NamesInCsvAreThoseOfPandas) {
  const Table table = read_table(write("f.csv", "a,a,,b,a.1,\n1,2,3,4,5,6\n"));
  EXPECT_EQ(table.names(), (Texts{"a", "a.2", "Unnamed: 2", "b", "a.1", "Unnamed: 5"}));
  EXPECT_EQ(table.at("a.2").integer(0), 2);
  EXPECT_EQ(table.at("Unnamed: 5").integer(0), 6);
}

TEST_F(TableFile, TsvHasTabsAndQuotes) {
  const Table table = read_table(write("f.tsv", "text\tlabel\n\"a\tb\"\t0\nc \"d\"\t1\n"));
  EXPECT_EQ(table.at("text").text(0), "a\tb");
  EXPECT_EQ(table.at("text").text(1), "c \"d\"");
  EXPECT_EQ(table.at("label").kind(), ColumnKind::integer);
}

TEST_F(TableFile, ValuesInJson) {
  EXPECT_EQ(json(R"(["1", "b"])").kind(), ColumnKind::text);
  EXPECT_EQ(json("[1, -2]").integer(1), -2);
  EXPECT_EQ(json("[1, 2.5]").kind(), ColumnKind::number);
  EXPECT_EQ(json("[1, 2.5]").number(0), 1.0);
  EXPECT_EQ(json("[9223372036854775807, 1]").kind(), ColumnKind::integer);
  EXPECT_EQ(json("[9223372036854775808, 1]").number(0), 9223372036854775808.0);
  EXPECT_EQ(json("[true, false]").kind(), ColumnKind::boolean);
  EXPECT_EQ(json("[true, false]").written(0), "True");
  EXPECT_EQ(json("[null, null]").kind(), ColumnKind::text);
  EXPECT_TRUE(json("[1.5, NaN]").is_missing(1));
}

// As in Hugging Face's datasets, and unlike csv.
TEST_F(TableFile, WholeNumbersWithNullStayWhole) {
  const Column column = json("[7, null]");
  EXPECT_EQ(column.kind(), ColumnKind::integer);
  EXPECT_EQ(column.integer(0), 7);
  EXPECT_TRUE(column.is_missing(1));
  EXPECT_TRUE(std::isnan(column.number(1)));
}

TEST_F(TableFile, ListsInJson) {
  const Column texts = json(R"([[], ["a", "b"], null])");
  EXPECT_EQ(texts.kind(), ColumnKind::text_list);
  EXPECT_EQ(texts.texts(1), (Texts{"a", "b"}));
  EXPECT_TRUE(texts.texts(0).empty());
  EXPECT_FALSE(texts.is_missing(0));
  EXPECT_TRUE(texts.texts(2).empty());
  EXPECT_TRUE(texts.is_missing(2));
  EXPECT_EQ(json("[[1, 2], []]").integers(0), (Integers{1, 2}));
  EXPECT_EQ(json("[[1, 2], []]").numbers(0), (std::vector<double>{1, 2}));
  EXPECT_EQ(json("[[1], [2.5, 3]]").kind(), ColumnKind::number_list);
  EXPECT_EQ(json("[[1], [2.5, 3]]").numbers(1), (std::vector<double>{2.5, 3}));
  EXPECT_EQ(json("[[], []]").kind(), ColumnKind::text_list);
}

TEST_F(TableFile, ObjectsHaveNoAccessor) {
  for (const char* values : {R"([{"a": 1}, {}])", "[[[1]], []]", "[[true], [false]]"}) {
    const Column column = json(values);
    EXPECT_EQ(column.kind(), ColumnKind::other) << values;
    EXPECT_EQ(column.size(), 2u) << values;
    EXPECT_TRUE(contains(error_of([&] { column.text(0); }), "column \"c\" holds objects or nested lists, but texts"));
  }
}

TEST_F(TableFile, RecordsMayLackColumns) {
  const Table table = read_table(write("f.jsonl", R"({"a": 1}
                                                     {"b": "x"}
                                                     {"b": "y", "a": 3})"));
  EXPECT_EQ(table.names(), (Texts{"a", "b"}));
  EXPECT_EQ(table.rows(), 3u);
  EXPECT_TRUE(table.at("a").is_missing(1));
  EXPECT_TRUE(table.at("b").is_missing(0));
  EXPECT_EQ(table.at("b").text(1), "x");
  EXPECT_EQ(table.at("a").integer(2), 3);
}

TEST_F(TableFile, JsonOfPandasIsRead) {
  for (const char* text :
       {R"([{"t": "x", "n": 1}, {"t": "y", "n": 2}])", R"({"data": [{"t": "x", "n": 1}, {"t": "y", "n": 2}]})",
        R"({"t": ["x", "y"], "n": [1, 2]})", R"({"t": {"0": "x", "1": "y"}, "n": {"0": 1, "1": 2}})",
        R"({"0": {"t": "x", "n": 1}, "1": {"t": "y", "n": 2}})",
        R"({"columns": ["t", "n"], "index": [0, 1], "data": [["x", 1], ["y", 2]]})"}) {
    const Table table = read_table(write("f.json", text));
    EXPECT_EQ(table.names(), (Texts{"t", "n"})) << text;
    ASSERT_EQ(table.rows(), 2u) << text;
    EXPECT_EQ(table.at("t").text(1), "y") << text;
    EXPECT_EQ(table.at("n").integer(1), 2) << text;
  }
}

TEST_F(TableFile, KeepsTheFirstRows) {
  Table table = read_table(write("f.json", R"([{"a": "x", "o": {}}, {"a": "y"}, {"a": null}])"));
  table.keep_first(5);
  EXPECT_EQ(table.rows(), 3u);
  table.keep_first(2);
  EXPECT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.at("a").text(1), "y");
  EXPECT_FALSE(table.at("a").has_missing());
  EXPECT_EQ(table.at("o").size(), 2u);
}

TEST_F(TableFile, AbsentColumnsAreNamed) {
  const auto file = write("f.csv", "sentence,label\na,1\n");
  const Table table = read_table(file);
  EXPECT_EQ(table.find("labels"), nullptr);
  EXPECT_EQ(table.find("label"), &table.columns()[1]);
  EXPECT_EQ(table.file(), file.string());
  EXPECT_EQ(
      error_of([&] { table.at("labels"); }),
      fmt::format("{} has no column \"labels\"; its columns are sentence, label; did you mean label?", file.string()));
}

TEST_F(TableFile, AccessorsNameTheKinds) {
  const Column text = csv({"a"}), gap = json("[1, null]"), lists = json(R"([["a"]])");
  EXPECT_TRUE(contains(error_of([&] { text.integer(0); }),
                       "f.csv: column \"c\" holds texts, but whole numbers are needed; correct the file, or choose "
                       "another column"));
  EXPECT_TRUE(contains(error_of([&] { text.number(0); }), "holds texts, but numbers are needed"));
  EXPECT_TRUE(contains(error_of([&] { text.texts(0); }), "holds texts, but lists of texts are needed"));
  EXPECT_TRUE(contains(error_of([&] { lists.integers(0); }), "lists of texts, but lists of whole numbers are needed"));
  EXPECT_TRUE(contains(error_of([&] { lists.numbers(0); }), "lists of texts, but lists of numbers are needed"));
  EXPECT_TRUE(contains(error_of([&] { lists.written(0); }), "lists of texts, but texts are needed"));
  EXPECT_TRUE(contains(error_of([&] { gap.integer(1); }),
                       "f.json: record 2: column \"c\" has no value; fill it in, or leave the record out"));
  EXPECT_TRUE(contains(error_of([&] { gap.written(1); }), "record 2: column \"c\" has no value"));
}

TEST_F(TableFile, MixedKindsInJsonAreAnError) {
  EXPECT_EQ(error_in("f.jsonl", "{\"label\": 1}\n{\"label\": null}\n{\"label\": \"x\"}\n"),
            ": column \"label\" has values of mixed kinds: whole numbers in record 1, but texts in record 3; write all "
            "of them alike");
  EXPECT_TRUE(contains(error_in("f.json", R"([{"a": true}, {"a": 1}])"),
                       "mixed kinds: true or false in record 1, but whole numbers in record 2"));
  EXPECT_TRUE(contains(error_in("f.json", R"([{"a": []}, {"a": "x"}])"),
                       "mixed kinds: texts in record 2, but lists of texts in record 1"));
  EXPECT_EQ(error_in("f.json", R"([{"a": ["x", 1]}])"),
            ": record 1: column \"a\" has a list that mixes texts and whole numbers; write its items alike");
  EXPECT_EQ(error_in("f.json", R"([{"a": ["x"]}, {"a": ["x", null]}])"),
            ": record 2: column \"a\" has a list with null in it; give every item a value");
}

TEST_F(TableFile, FilesThatAreNoTables) {
  EXPECT_EQ(error_of([] { read_table("f.xml"); }),
            "f.xml is not a file of records: its name must end in .json, .jsonl, .csv, .tsv or .parquet");
  EXPECT_EQ(error_in("f.csv", ""), " is empty; its first line must name the columns");
  for (const char* empty : {"[]", R"({"data": []})"}) EXPECT_EQ(error_in("f.json", empty), " holds no records");
  EXPECT_EQ(error_in("f.csv", "a,b\n"), " holds no records");
  EXPECT_EQ(error_in("f.csv", "a,b\n1,2\n\n3\n"),
            ": record 2 has 1 fields, but the header names 2: a, b; a field with a separator or a line end in it needs "
            "double quotes around it");
  EXPECT_EQ(error_in("f.csv", "a,b\n1,2\n3,\"x\n4,5\n"),
            ": record 2: a quoted field has no closing quote; end the field with one, and double the quotes inside it");
  EXPECT_TRUE(contains(error_in("f.csv", "a,\"b\n1,2\n"), ": header: a quoted field has no closing quote"));
  EXPECT_TRUE(contains(error_in("f.csv", "a;b\n1;2\n"), "seem to be separated by ';'"));
  EXPECT_EQ(error_in("f.json", "[1]"),
            ": record 1 must be an object with named fields, such as {\"sentence\": \"It rains.\", \"label\": 0}");
}

}  // namespace
}  // namespace hearth::data
