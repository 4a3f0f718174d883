#include "hearth/data/qa_dataset.h"

#include "hearth/data/csv.h"
#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::data {

static bool operator==(const QaExample& a, const QaExample& b) {
  return a.id == b.id && a.title == b.title && *a.context == *b.context && a.question == b.question &&
         a.answers == b.answers;
}

namespace {

using QaDataset = TemporaryFolder;

TEST(QaDatasetForms, AreTheSameQuestions) {
  const LogCapture log;
  const auto articles = read_qa_dataset(fixture("qa/articles.json"));
  ASSERT_EQ(articles.size(), 10u);
  EXPECT_EQ(articles[0].id, "q1");
  EXPECT_EQ(articles[0].title, "Skerry");
  EXPECT_EQ(articles[0].answers[0], (QaAnswer{"Tomás Ó Faoláin", 52}));
  EXPECT_EQ(articles[0].answers.size(), 2u);
  EXPECT_TRUE(articles[4].answers.empty());
  EXPECT_EQ(articles[6].question, "What costs \"£3.50\",\nor so?");
  for (const char* name : {"qa/records.json", "qa/records.jsonl", "qa/records.csv"}) {
    const auto records = read_qa_dataset(fixture(name));
    EXPECT_TRUE(records == articles) << name;
    EXPECT_EQ(records[0].context, records[3].context) << name << ": one context for all its questions";
  }
  EXPECT_TRUE(log.warnings.empty());
}

constexpr std::string_view kRecord =
    R"({"id": "x", "context": "a b", "question": "q", "answers": {"text": ["b"], "answer_start": [2]}})";

TEST_F(QaDataset, JsonLinesNeedNotBeCalledSo) {
  const std::string lines = fmt::format("{}\n\r\n{}\n", kRecord, kRecord);
  EXPECT_EQ(read_qa_dataset(write("lines.json", lines)).size(), 2u);
  EXPECT_EQ(read_qa_dataset(write("one.json", kRecord)).size(), 1u);
  EXPECT_EQ(read_qa_dataset(write("list.json", fmt::format("[{}]", kRecord))).size(), 1u);
  EXPECT_EQ(read_qa_dataset(write("mark.jsonl", fmt::format("\xEF\xBB\xBF{}", kRecord))).size(), 1u);
}

TEST_F(QaDataset, ColumnsByPlace) {
  const auto examples = read_qa_dataset(write("f.csv",
                                              "asked,text,gold\n"
                                              "q,a b,\"{'text': ['b'], 'answer_start': [2]}\"\n"
                                              "r,a b,\"{\"\"text\"\": [], \"\"answer_start\"\": []}\"\n"));
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].id, "0");
  EXPECT_EQ(examples[1].id, "1");
  EXPECT_EQ(examples[0].question, "q");
  EXPECT_EQ(*examples[0].context, "a b");
  EXPECT_EQ(examples[0].answers, (std::vector<QaAnswer>{{"b", 2}}));
  EXPECT_TRUE(examples[1].answers.empty());
}

TEST_F(QaDataset, ColumnsWithAMeaningStandInForNone) {
  const auto file = write("f.csv", "id,title,context,question\n7,t,a b,q\n");
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(file); }), "record 1 (id 7): field \"answers\" is missing"));
  EXPECT_TRUE(read_qa_dataset(file, QaAnswers::optional)[0].answers.empty());
}

TEST_F(QaDataset, ImpossibleQuestionsHaveNoAnswer) {
  const auto file = write("f.json", R"({"data": [{"paragraphs": [{"context": "a b", "qas": [
      {"id": 1, "question": "q", "is_impossible": true, "answers": [{"text": "b", "answer_start": 2}]},
      {"id": 2, "question": "q", "is_impossible": true}]}]}]})");
  const auto examples = read_qa_dataset(file);
  EXPECT_TRUE(examples[0].answers.empty());
  EXPECT_TRUE(examples[1].answers.empty());
  EXPECT_EQ(examples[1].id, "2");
}

TEST_F(QaDataset, MisplacedAnswersAreCounted) {
  const LogCapture log;
  const auto record = [](std::string_view id, std::string_view text, int start) {
    return fmt::format(R"({{"id": "{}", "context": "ä b ö", "question": "q",
                            "answers": {{"text": ["{}"], "answer_start": [{}]}}}})",
                       id, text, start);
  };
  read_qa_dataset(write("f.json", fmt::format("[{},{},{},{},{},{}]", record("in", "b", 2), record("bytes", "b", 3),
                                              record("behind", "b", 99), record("before", "b", -1),
                                              record("end", "ö", 4), record("long", "ö!", 4))));
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "f.json: 4 of 6 answers"));
  EXPECT_TRUE(contains(log.warnings[0], "bytes"));
}

TEST_F(QaDataset, BrokenRecordsAreNamed) {
  const auto error_in = [&](std::string_view name, std::string_view contents) {
    return error_of([&] { read_qa_dataset(write(name, contents)); });
  };
  const auto second = [&](std::string_view record) {
    const std::string error = error_in("f.jsonl", fmt::format("{}\n{}\n", kRecord, record));
    EXPECT_TRUE(contains(error, "f.jsonl: record 2"));
    return error;
  };
  EXPECT_TRUE(
      contains(second(R"({"id": "y", "context": "c", "answers": []})"), "(id y): field \"question\" is missing"));
  EXPECT_TRUE(contains(second(R"({"id": "y", "context": 3, "question": "q", "answers": []})"), "\"context\" must be"));
  EXPECT_TRUE(contains(second(R"({"id": [], "context": "c", "question": "q", "answers": []})"), "\"id\" must be"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q"})"), "record 2: field \"answers\" is missing"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": 1})"), "\"answers\" must be"));
  EXPECT_TRUE(
      contains(second(R"({"context": "c", "question": "q", "answers": [1]})"), "\"answers\" must hold objects"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": [{"text": "c"}]})"),
                       "\"answers.answer_start\" must be"));
  EXPECT_TRUE(
      contains(second(R"({"context": "c", "question": "q", "answers": {"text": ["c"], "answer_start": ["0"]}})"),
               "\"answers.answer_start\" must be"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": {"text": [], "answer_start": [1]}})"),
                       "has 0 texts but 1 starts"));
  EXPECT_TRUE(contains(second("[1]"), "must be an object"));
  EXPECT_TRUE(contains(second("{"), "is not valid JSON"));

  EXPECT_TRUE(
      contains(error_in("f.json", R"({"data": [{"paragraphs": [{"qas": []}]}]})"), "f.json: article 1, paragraph 1"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"data": [{"paragraphs": [{"context": "c", "qas": []}]}, {}]})"),
                       "article 2: field \"paragraphs\" must be a list"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"data": 3})"), "\"data\" must be a list"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"data": []})"), "holds no questions"));
  EXPECT_TRUE(contains(error_in("f.json", ""), "not valid JSON"));
  EXPECT_TRUE(contains(error_in("f.jsonl", "\n"), "holds no questions"));

  EXPECT_TRUE(contains(error_in("f.csv", "question,context,answers\nq,c\n"), "record 1 has 2 fields"));
  EXPECT_TRUE(
      contains(error_in("f.csv", "question,context,answers\nq,c,{'text'\n"), "record 1: field \"answers\" cannot"));
  EXPECT_TRUE(contains(error_in("f.csv", "question,context,answers\nq,\xFF,[]\n"), "\"context\" is not UTF-8"));
  EXPECT_TRUE(contains(error_in("f.csv", "question,context,answers\n\"q"), "no closing quote"));
  EXPECT_TRUE(contains(error_in("f.csv", ""), "is empty"));
}

TEST_F(QaDataset, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(write("f.txt", "")); }), "f.txt should be a csv or a json file"));
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(folder_ / "none.json"); }), "none.json"));
}

TEST(CsvReader, ReadsQuotedFields) {
  CsvReader reader(
      "\xEF\xBB\xBF"
      "a,b,c\r\n\n\"x,\"\"y\"\"\nz\",,\"\"\nlast,1,2",
      "f");
  std::vector<std::string> fields;
  using Fields = std::vector<std::string>;
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"a", "b", "c"}));
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"x,\"y\"\nz", "", ""}));
  EXPECT_TRUE(reader.next(fields));
  EXPECT_EQ(fields, (Fields{"last", "1", "2"}));
  EXPECT_FALSE(reader.next(fields));
}

TEST(PythonLiteral, IsReadAsJson) {
  const auto read = [](std::string_view text) { return io::dump_json(parse_python_literal(text, "it"), io::kOneLine); };
  EXPECT_EQ(read(R"({'text': array(['it\'s', "d'or"], dtype=object), 'answer_start': array([5, -2])})"),
            R"({"text": ["it's", "d'or"], "answer_start": [5, -2]})");
  EXPECT_EQ(read(R"( [None, True, False, (1, 2.5,), {}, 'a\n\x41\u00e9\U0001F600\\', ] )"),
            R"([null, true, false, [1, 2.5], {}, "a\nA\u00e9\ud83d\ude00\\"])");
  EXPECT_EQ(read(R"({"a": [true, null, "\ud83d\ude00"]})"), R"({"a": [true, null, "\ud83d\ude00"]})");
  for (const char* wrong :
       {"", "{'a'}", "{'a': }", "['a'", "'a", "'\\", "[1 2]", "x", "1 2", "'\\q'", "'\\ud800'", "{1: 2}"}) {
    EXPECT_TRUE(contains(error_of([&] { read(wrong); }), "it is neither JSON nor a Python literal")) << wrong;
  }
  EXPECT_THROW(read(std::string(100'000, '[')), Error);
}

TEST(QaDatasetOnRealData, IsRead) {
  const char* folder = std::getenv("HEARTH_DATA_DIR");
  if (folder == nullptr) GTEST_SKIP() << "HEARTH_DATA_DIR is not set";
  const LogCapture log;
  EXPECT_EQ(read_qa_dataset(std::filesystem::path(folder) / "squad" / "train.json").size(), 7309u);
  EXPECT_TRUE(log.warnings.empty());
}

}  // namespace
}  // namespace hearth::data
