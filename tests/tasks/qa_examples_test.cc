#include <fstream>

#include "hearth/data/csv.h"
#include "hearth/data/python_literal.h"
#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/examples.h"
#include "tests/support.h"

namespace hearth::tasks {

static bool operator==(const QaExample& a, const QaExample& b) {
  return a.id == b.id && a.title == b.title && *a.context == *b.context && a.question == b.question &&
         a.answers == b.answers;
}

namespace {

using QaExampleFiles = TemporaryFolder;

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
  for (const char* name :
       {"records.json", "records.jsonl", "records.csv", "forms/answers_as_python.csv", "forms/answers_as_python.tsv",
        "forms/answers_as_json.tsv", "forms/orient_columns.json", "forms/orient_records.json",
        "forms/orient_index.json", "forms/orient_split.json", "forms/orient_table.json", "forms/orient_list.json"}) {
    const auto records = read_qa_dataset(fixture("qa") / name);
    EXPECT_TRUE(records == articles) << name;
    EXPECT_EQ(records[0].context, records[3].context) << name << ": one context for all its questions";
  }
  EXPECT_TRUE(log.warnings.empty());
}

// Tables with one answer per question, and neither ids nor titles.
TEST(QaDatasetForms, TablesHaveTheFirstAnswers) {
  const LogCapture log;
  auto expected = read_qa_dataset(fixture("qa/articles.json"));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i].id = std::to_string(i);
    expected[i].title.clear();
    if (expected[i].answers.size() > 1) expected[i].answers.resize(1);
  }
  for (const char* name :
       {"answer.csv", "answer_with_index.csv", "answer.json", "answer_text.csv", "answer_start_as_float.tsv"})
    EXPECT_TRUE(read_qa_dataset(fixture("qa/forms") / name) == expected) << name;
  EXPECT_TRUE(log.warnings.empty());
}

// Every example in docs/data.md, a fenced block with a file's name after the language, holds the same two questions.
TEST_F(QaExampleFiles, ExamplesOfTheDocumentationAreRead) {
  const LogCapture log;
  std::ifstream document(fixture("../../docs/data.md"));
  std::string name, contents;
  int read = 0;
  for (std::string line; std::getline(document, line);) {
    if (!line.starts_with("```")) {
      contents += line + "\n";
    } else if (const std::size_t space = line.find(' '); space != line.npos) {
      name = line.substr(space + 1);
      contents.clear();
    } else {
      const auto examples = read_qa_dataset(write(name, contents));
      ASSERT_EQ(examples.size(), 2u) << name;
      EXPECT_EQ(examples[0].question, "Who wrote the first program?") << name;
      EXPECT_EQ(*examples[1].context, "Ada Lovelace wrote the first program in 1843.") << name;
      EXPECT_EQ(examples[0].answers, (std::vector<QaAnswer>{{"Ada Lovelace", 0}})) << name;
      EXPECT_EQ(examples[1].answers, (std::vector<QaAnswer>{{"1843", 40}})) << name;
      ++read;
    }
  }
  EXPECT_EQ(read, 10);
  EXPECT_TRUE(log.warnings.empty());
}

constexpr std::string_view kRecord =
    R"({"id": "x", "context": "a b", "question": "q", "answers": {"text": ["b"], "answer_start": [2]}})";

TEST_F(QaExampleFiles, JsonLinesMayEndInJson) {
  const std::string lines = fmt::format("{}\n\r\n{}\n", kRecord, kRecord);
  const LogCapture log;
  EXPECT_EQ(read_qa_dataset(write("lines.json", lines)).size(), 2u);
  EXPECT_EQ(read_qa_dataset(write("one.json", kRecord)).size(), 1u);
  EXPECT_EQ(read_qa_dataset(write("list.json", fmt::format("[{}]", kRecord))).size(), 1u);
  EXPECT_EQ(read_qa_dataset(write("mark.jsonl", fmt::format("\xEF\xBB\xBF{}", kRecord))).size(), 1u);
}

TEST_F(QaExampleFiles, ColumnsByPlace) {
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

TEST_F(QaExampleFiles, AnIndexThatPandasNamedIsNoColumnByPlace) {
  const auto examples = read_qa_dataset(write("f.csv", "Unnamed: 0,asked,text,answer\n0,q,a b,b\n"));
  EXPECT_EQ(examples[0].question, "q");
  EXPECT_EQ(*examples[0].context, "a b");
}

TEST_F(QaExampleFiles, AThirdColumnOfTextsIsNotTakenForAnswers) {
  const LogCapture log;
  const auto file = write("f.csv", "question,context,source\nq,a b,b\n");
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(file); }),
                       "field \"answers\" is missing: found question, context, source; wanted are question, context"));
  EXPECT_TRUE(read_qa_dataset(file, QaAnswers::optional)[0].answers.empty());
  EXPECT_TRUE(log.warnings.empty());
}

TEST_F(QaExampleFiles, ColumnsWithAMeaningAreNotTakenByPlace) {
  const auto file = write("f.csv", "id,title,context,question\n7,t,a b,q\n");
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(file); }), "record 1 (id 7): field \"answers\" is missing"));
  EXPECT_TRUE(read_qa_dataset(file, QaAnswers::optional)[0].answers.empty());
}

// As run_qa.py: answers count whatever is_impossible says. The mark alone says that there are none.
TEST_F(QaExampleFiles, ImpossibleQuestionsNeedNoAnswers) {
  const auto nested = read_qa_dataset(write("nested.json", R"({"data": [{"paragraphs": [{"context": "a b", "qas": [
      {"id": 1, "question": "q", "is_impossible": true, "answers": []},
      {"id": 2, "question": "q", "is_impossible": true}]}]}]})"));
  EXPECT_TRUE(nested[0].answers.empty());
  EXPECT_TRUE(nested[1].answers.empty());
  EXPECT_EQ(nested[1].id, "2");
  const auto flat = read_qa_dataset(write("flat.json", R"([{"context": "a b", "question": "q", "is_impossible": true,
                                                            "answers": {"text": ["b"], "answer_start": [2]}}])"));
  EXPECT_EQ(flat[0].answers, (std::vector<QaAnswer>{{"b", 2}}));
}

TEST_F(QaExampleFiles, BlankAnswersAreNoAnswers) {
  const auto examples = read_qa_dataset(write("f.json", R"([
      {"context": "a b", "question": "q", "answers": {"text": [""], "answer_start": [-1]}},
      {"context": "a b", "question": "q", "answers": {"text": [" ", "b"], "answer_start": [0, 2]}}])"));
  EXPECT_TRUE(examples[0].answers.empty());
  ASSERT_EQ(examples[1].answers.size(), 1u);
  EXPECT_EQ(examples[1].answers[0].text, "b");
}

TEST_F(QaExampleFiles, ATitleThatIsNotTextIsIgnored) {
  const auto examples =
      read_qa_dataset(write("f.json", R"([{"title": 7, "context": "a b", "question": "q", "answers": []}])"));
  EXPECT_EQ(examples[0].title, "");
}

TEST_F(QaExampleFiles, IdsAreGivenWhereTheyAreMissing) {
  const auto examples = read_qa_dataset(write("f.csv",
                                              "id,question,context,answer\n"
                                              ",q,a b,b\nx,q,a b,b\n,q,a b,b\n"));
  EXPECT_EQ(examples[0].id, "0");
  EXPECT_EQ(examples[1].id, "x");
  EXPECT_EQ(examples[2].id, "2");
}

TEST_F(QaExampleFiles, SharedIdsAreReported) {
  const LogCapture log;
  std::string rows = "id,question,context,answer\n";
  for (const char* id : {"a", "b", "a", "c", "c", "c", "d", "d", "e", "e"}) rows += std::string(id) + ",q,a b,b\n";
  EXPECT_EQ(read_qa_dataset(write("f.csv", rows)).size(), 10u);
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings[0], "f.csv: 5 of 10 questions have the id of an earlier question (a, c, d, ...)"));
}

std::string misplaced(std::string_view id, std::string_view text, std::string_view start) {
  return fmt::format(R"({{"id": "{}", "context": "ä b ö b", "question": "q",
                          "answers": {{"text": ["{}"], "answer_start": [{}]}}}})",
                     id, text, start);
}

TEST_F(QaExampleFiles, MisplacedAnswersAreMovedAndCounted) {
  const LogCapture log;
  struct Case {
    const char *id, *text, *start;
    std::int64_t place;
  };
  const std::vector<Case> cases{{"right", "b", "2", 2},      {"second", "b", "6", 6},  {"bytes", "ö", "5", 4},
                                {"behind", "ö", "99", 4},    {"before", "ö", "-1", 4}, {"near first", "b", "3", 2},
                                {"near last", "b", "5", 6},  {"tie", "b", "4", 2},     {"not given", "ö", "null", 4},
                                {"several", "b", "null", 2}, {"absent", "B", "2", -1}, {"longer", "b ö b!", "2", -1}};
  std::string records;
  for (const Case& one : cases) records += (records.empty() ? "" : ",") + misplaced(one.id, one.text, one.start);
  const auto examples = read_qa_dataset(write("f.json", "[" + records + "]"));
  ASSERT_EQ(examples.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(examples[i].answers, (std::vector<QaAnswer>{{cases[i].text, cases[i].place}})) << cases[i].id;
    EXPECT_EQ(examples[i].answers[0].is_placed(), cases[i].place >= 0);
  }
  ASSERT_EQ(log.warnings.size(), 1u);
  for (const char* part : {"f.json: 9 of 12 answers do not fit", "6 moved from a wrong answer_start",
                           "bytes, behind, before, ...", "1 without answer_start and with several occurrences",
                           "(question several)", "2 not in the context", "(question absent, longer)"})
    EXPECT_TRUE(contains(log.warnings[0], part));
}

TEST_F(QaExampleFiles, AnswersWithoutAStartAreLookedUp) {
  const LogCapture log;
  const auto answers = [&](std::string_view name, std::string_view contents) {
    return read_qa_dataset(write(name, contents))[0].answers;
  };
  const std::vector<QaAnswer> one{{"b", 2}}, two{{"b", 2}, {"a", 0}}, none;
  const auto record = [](std::string_view field) {
    return fmt::format(R"([{{"question": "q", "context": "a b", {}}}])", field);
  };
  EXPECT_EQ(answers("f.json", record(R"("answers": ["b", "a"])")), two);
  EXPECT_EQ(answers("f.json", record(R"("answers": [{"text": "b"}, {"text": "a", "answer_start": 0}])")), two);
  EXPECT_EQ(answers("f.json", record(R"("answers": {"text": ["b", "a"]})")), two);
  EXPECT_EQ(answers("f.json", record(R"("answers": {"text": "b", "answer_start": 2.0})")), one);
  EXPECT_EQ(answers("f.json", record(R"("answers": "b")")), one);
  EXPECT_EQ(answers("f.json", record(R"("answer": "b")")), one);
  EXPECT_EQ(answers("f.json", record(R"("answer": ["b", "a"])")), two);
  EXPECT_EQ(answers("f.json", record(R"("answer_text": ["b", "a"], "answer_start": [2, 0])")), two);
  EXPECT_EQ(answers("f.json", record(R"("answer": null)")), none);
  EXPECT_EQ(answers("f.csv", "question,context,answer\nq,a b,  b \n"), one);
  EXPECT_EQ(answers("f.csv", "question,context,answer\nq,a b,\n"), none);
  EXPECT_EQ(answers("f.csv", "question,context,answers\nq,a b,b\n"), one);
  EXPECT_EQ(answers("f.csv", "question,context,answers\nq,a b,\"['b', 'a']\"\n"), two);
  EXPECT_EQ(answers("f.csv", "question,context,answer\nq,[1] a,[1]\n"), (std::vector<QaAnswer>{{"[1]", 0}}));
  EXPECT_EQ(answers("f.tsv", "question\tcontext\tanswer_text\tanswer_start\nq\ta b\tb\t\n"), one);
  EXPECT_TRUE(log.warnings.empty());
}

TEST_F(QaExampleFiles, BrokenRecordsAreNamed) {
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
  EXPECT_TRUE(contains(second(R"({"context": null, "question": "q", "answers": []})"), "\"context\" is empty"));
  EXPECT_TRUE(contains(second(R"({"id": [], "context": "c", "question": "q", "answers": []})"), "\"id\" must be"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q"})"), "record 2: field \"answers\" is missing"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": 1})"), "\"answers\" must be"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": [1]})"),
                       "\"answers\" must hold texts, or objects"));
  EXPECT_TRUE(contains(second(R"({"context": "c", "question": "q", "answers": [{"text": "c", "answer_start": 0.5}]})"),
                       "\"answers.answer_start\" must be a whole number"));
  EXPECT_TRUE(
      contains(second(R"({"context": "c", "question": "q", "answers": {"text": ["c"], "answer_start": ["x"]}})"),
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

TEST_F(QaExampleFiles, BrokenTablesAndColumnsAreNamed) {
  const auto error_in = [&](std::string_view name, std::string_view contents) {
    return error_of([&] { read_qa_dataset(write(name, contents)); });
  };
  const std::string columns = error_in("f.csv", "title,question,text,label\nt,q,c,1\n");
  EXPECT_TRUE(contains(columns, "f.csv: record 1: field \"context\" is missing: found title, question, text, label"));
  EXPECT_TRUE(contains(columns, "wanted are question, context and one of answers, answer"));
  EXPECT_TRUE(contains(error_in("f.csv", "question;context;answer\nq;c;c\n"), "separated by ';'"));
  EXPECT_TRUE(contains(error_in("f.csv", "question\tcontext\tanswer\nq\tc\tc\n"), "separated by '\\t'"));
  EXPECT_TRUE(contains(error_in("f.tsv", "question,context,answer\nq,c,c\n"), "separated by ','"));
  EXPECT_TRUE(contains(error_in("f.tsv", "question\tcontext\tanswer\nq\tc\n"),
                       "f.tsv: record 1 has 2 fields, but the header names 3: question, context, answer"));
  EXPECT_TRUE(contains(error_in("f.csv", "question,context,answer_text,answer_start\nq,c,c,x\n"),
                       "record 1: field \"answer_start\" must be a whole number"));
  EXPECT_TRUE(contains(error_in("f.csv", "question,context,answers\nq,c,\n"), "field \"answers\" is empty"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"question": ["q", "r"], "context": ["c"], "answer": ["c", "c"]})"),
                       "f.json: column \"context\" has 1 values, but column \"question\" has 2"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"question": {"0": "q"}, "context": {"1": "c"}, "answer": {"0": "c"}})"),
                       "f.json: column \"context\" has the row \"1\" where column \"question\" has the row \"0\""));
  EXPECT_TRUE(contains(error_in("f.json", R"({"columns": ["question"], "data": [["q"], ["r"]]})"),
                       "record 1: field \"context\" is missing: found question"));
  EXPECT_TRUE(contains(error_in("f.json", R"({"columns": ["question", "context", "answer"], "data": [["q"]]})"),
                       "record 1 must be a list of 3 values"));
  EXPECT_TRUE(
      contains(error_in("f.json", R"({"columns": [1], "data": [["q"]]})"), "\"columns\" must be a list of names"));
}

TEST_F(QaExampleFiles, OtherFilesAreRefused) {
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(write("f.txt", "")); }),
                       "f.txt is not a file of questions: its name must end in .json, .jsonl, .csv, .tsv or .parquet"));
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(folder_ / "none.json"); }), "none.json"));
}

TEST(QaExampleFilesOfRealData, IsRead) {
  const char* folder = std::getenv("HEARTH_DATA_DIR");
  if (folder == nullptr) GTEST_SKIP() << "HEARTH_DATA_DIR is not set";
  const LogCapture log;
  EXPECT_EQ(read_qa_dataset(std::filesystem::path(folder) / "squad" / "train.json").size(), 7309u);
  EXPECT_FALSE(read_qa_dataset(std::filesystem::path(folder) / "squad" / "dev.json").empty());
  EXPECT_TRUE(log.warnings.empty());
}

TEST_F(QaExampleFiles, ParquetFilesAndShards) {
  const auto examples = read_qa_dataset(fixture("parquet/questions.parquet"));
  ASSERT_EQ(examples.size(), 3u);
  EXPECT_EQ(examples[1].id, "b");
  EXPECT_EQ(examples[1].title, "Programs");
  EXPECT_EQ(examples[1].answers, (std::vector<QaAnswer>{{"1843", 40}, {"in 1843", 37}}));
  EXPECT_TRUE(examples[2].answers.empty());
  EXPECT_EQ(examples[0].context, examples[1].context) << "shared";
  const auto first = write("0.jsonl", R"({"question": "q", "context": "a b", "answer": "a"})");
  const auto second = write("1.jsonl", R"({"question": "q", "context": "a b", "answer": "b"})");
  const auto both = read_qa_dataset(data::Files{first, second});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].id, "1") << "counted over all files";
  write("1.jsonl", R"({"question": 7, "context": "a b", "answer": "b"})");
  EXPECT_TRUE(contains(error_of([&] { read_qa_dataset(data::Files{first, second}); }), "1.jsonl: record 1: field"));
}

}  // namespace
}  // namespace hearth::tasks
