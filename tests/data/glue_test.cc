#include "hearth/data/glue.h"

#include "hearth/data/glue_file.h"
#include "tests/support.h"

namespace hearth::data {
namespace {

using GlueFile = TemporaryFolder;
using Texts = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

GlueRows read(std::string_view task, std::string_view file, GlueLabels labels = GlueLabels::optional) {
  return read_glue(fixture("glue") / file, glue_task(task), labels);
}

TEST(GlueTask, HasColumnsLabelsAndMetrics) {
  EXPECT_EQ(glue_tasks().size(), 9u);
  EXPECT_EQ(glue_task("mnli").columns.a, "premise");
  EXPECT_EQ(glue_task("mnli").columns.b, "hypothesis");
  EXPECT_EQ(glue_task("mnli").labels, (Texts{"entailment", "neutral", "contradiction"}));
  EXPECT_EQ(glue_task("qqp").metrics, (Texts{"accuracy", "f1"}));
  EXPECT_EQ(glue_task("rte").labels, (Texts{"entailment", "not_entailment"}));
  EXPECT_EQ(glue_task("wnli").labels, (Texts{"not_entailment", "entailment"}));
  for (const GlueTask& task : glue_tasks()) {
    EXPECT_EQ(task.has_pairs(), task.name != "cola" && task.name != "sst2") << task.name;
    EXPECT_EQ(task.is_regression(), task.name == "stsb") << task.name;
    EXPECT_EQ(task.has_pairs(), !task.file_columns.b.empty()) << task.name;
    EXPECT_EQ(task.columns.label, "label");
  }
}

TEST(GlueTask, IsFoundByItsOfficialSpelling) {
  EXPECT_EQ(glue_task("STS-B").name, "stsb");
  EXPECT_EQ(glue_task("SST-2").name, "sst2");
  EXPECT_EQ(glue_task("CoLA").name, "cola");
}

TEST(GlueTask, OthersAreAnError) {
  EXPECT_EQ(error_of([] { glue_task("mrcp"); }),
            "mrcp is not a task of GLUE; the tasks are cola, sst2, mrpc, stsb, qqp, mnli, qnli, rte, wnli; did you "
            "mean mrpc?");
  EXPECT_TRUE(contains(error_of([] { glue_task("mnli-mm"); }), "mnli-mm is not a task of GLUE"));
}

TEST(GlueFiles, WithOneText) {
  const GlueRows cola = read("cola", "cola_train.tsv");
  EXPECT_EQ(cola.a, (Texts{"The harbour froze.", "The harbour \"froze the quickly.", "Who skated?"}));
  EXPECT_EQ(cola.labels, (Labels{1, 0, 1}));
  EXPECT_TRUE(cola.b.empty());
  EXPECT_EQ(read("cola", "cola_test.tsv").a, (Texts{"Nobody skated.", "Skated nobody did who."}));
  const GlueRows sst2 = read("sst2", "sst2_dev.tsv");
  EXPECT_EQ(sst2.a, (Texts{"a warm and patient film ", "\" dull \" is too kind "}));
  EXPECT_EQ(sst2.labels, (Labels{1, 0}));
  EXPECT_EQ(read("sst2", "sst2_test.tsv").a, (Texts{"uneven but sincere ."}));
}

TEST(GlueFiles, WithTwoTexts) {
  const GlueRows mrpc = read("mrpc", "mrpc_dev.tsv");
  EXPECT_EQ(mrpc.a, (Texts{"The ferry was late on Monday.", "The ferry was late."}));
  EXPECT_EQ(mrpc.b, (Texts{"\"On Monday the ferry was late.", "The ferry was new."}));
  EXPECT_EQ(mrpc.labels, (Labels{1, 0}));
  const GlueRows qnli = read("qnli", "qnli_dev.tsv");
  EXPECT_EQ(qnli.a[0], "Who built the mill?");
  EXPECT_EQ(qnli.b[1], "The mill stands by the river.");
  EXPECT_EQ(qnli.labels, (Labels{0, 1}));
  const GlueRows rte = read("rte", "rte_dev.tsv");
  EXPECT_EQ(rte.a[0], "The mill, built in 1790, still works.");
  EXPECT_EQ(rte.labels, (Labels{0, 1}));
  EXPECT_EQ(read("wnli", "wnli_dev.tsv").labels, (Labels{1, 0}));
}

TEST(GlueFiles, WithScores) {
  const GlueRows rows = read("stsb", "stsb_dev.tsv");
  EXPECT_EQ(rows.b, (Texts{"A man rows a boat.", "A bell rings."}));
  EXPECT_EQ(rows.scores, (std::vector<double>{4.6, 0}));
  EXPECT_TRUE(rows.labels.empty());
  EXPECT_TRUE(rows.has_labels());
}

TEST(GlueFiles, ForTestsHaveNoLabels) {
  for (const std::string task : {"cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "rte"}) {
    const GlueRows rows = read(task, task + "_test.tsv");
    EXPECT_GT(rows.size(), 0u) << task;
    EXPECT_FALSE(rows.has_labels()) << task;
    EXPECT_EQ(rows.b.size(), glue_task(task).has_pairs() ? rows.size() : 0) << task;
  }
  EXPECT_TRUE(contains(error_of([] { read("mrpc", "mrpc_test.tsv", GlueLabels::required); }),
                       "mrpc_test.tsv: mrpc needs a column \"Quality\", but the file has index, #1 ID, #2 ID, #1 "
                       "String, #2 String; test files have no labels, so give the train or dev file"));
}

TEST(GlueFiles, RowsWithoutMeaningAreLeftOutAndCounted) {
  const GlueRows qqp = read("qqp", "qqp_train.tsv");
  EXPECT_EQ(qqp.a, (Texts{"How deep is the loch?", "Who is it?"}));
  EXPECT_EQ(qqp.labels, (Labels{1, 0}));
  EXPECT_EQ(qqp.cut_rows, 1);
  const GlueRows mnli = read("mnli", "mnli_dev.tsv");
  EXPECT_EQ(mnli.a, (Texts{"All doors are open."}));
  EXPECT_EQ(mnli.b, (Texts{"The front door is open."}));
  EXPECT_EQ(mnli.labels, (Labels{0}));
  EXPECT_EQ(mnli.undecided_rows, 1);
  EXPECT_EQ(read("mnli", "mnli_train.tsv").labels, (Labels{1, 2}));
}

TEST_F(GlueFile, MayHaveOtherLineEnds) {
  const auto file = write("dev.tsv", "sentence\tlabel\r\ngood\t1\r\n\r\nbad\tnegative");
  const GlueRows rows = read_glue(file, glue_task("sst2"), GlueLabels::optional);
  EXPECT_EQ(rows.a, (Texts{"good", "bad"}));
  EXPECT_EQ(rows.labels, (Labels{1, 0}));
}

TEST_F(GlueFile, IsCheckedLineByLine) {
  const auto error_in = [&](std::string_view task, std::string_view text) {
    const auto file = write("f.tsv", text);
    std::string error = error_of([&] { read_glue(file, glue_task(task), GlueLabels::optional); });
    return error.starts_with(file.string()) ? error.substr(file.string().size()) : error;
  };
  EXPECT_EQ(error_in("sst2", ""), " is empty; give the .tsv file of this task that GLUE distributes");
  EXPECT_EQ(error_in("sst2", "sentence\tlabel\n"), " holds no rows that can be used");
  EXPECT_EQ(
      error_in("rte", "sentence\tlabel\na\t1\n"),
      ": rte needs a column \"sentence1\", but the file has sentence, label; give the .tsv file of this task that "
      "GLUE distributes");
  EXPECT_EQ(error_in("sst2", "sentence\tlabel\na\t1\nb\tc\t0\n"),
            ": line 3 has 3 fields, but 2 are needed: sentence, label; fields end at tabs");
  EXPECT_EQ(error_in("sst2", "sentence\tlabel\na\n"),
            ": line 2 has 1 fields, but 2 are needed: sentence, label; fields end at tabs");
  EXPECT_EQ(error_in("qqp", "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t2\t3\ta\tb\t0\tc\n"),
            ": line 2 has 7 fields, but 6 are needed: id, qid1, qid2, question1, question2, is_duplicate; fields end "
            "at tabs");
  EXPECT_EQ(error_in("cola", "x\t1\t\ta\nx\t2\t\tb\n"),
            ": line 2: \"2\" is not a label of cola; its labels are unacceptable, acceptable, or the numbers 0 to 1");
  EXPECT_EQ(error_in("rte", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\t-\n"),
            ": line 2: \"-\" is not a label of rte; its labels are entailment, not_entailment, or the numbers 0 to 1");
  EXPECT_EQ(error_in("stsb", "sentence1\tsentence2\tscore\na\tb\t5.5\n"),
            ": line 2: the score of stsb must be a number from 0 to 5, not \"5.5\"; correct it, or leave it out");
  EXPECT_EQ(error_in("sst2", "sentence\tlabel\na\xff\t1\n"), ": line 2 is not UTF-8 text; save the file as UTF-8");
}

TEST(GlueOnRealData, IsRead) {
  const auto folder = folder_in("HEARTH_DATA_DIR");
  if (folder.empty()) GTEST_SKIP() << "HEARTH_DATA_DIR is not set";
  const auto expect = [&](const char* task, const char* split, std::size_t rows, std::int64_t positive) {
    const GlueRows read = read_glue(folder / task / split, glue_task(task), GlueLabels::required);
    EXPECT_EQ(read.size(), rows) << task << " " << split;
    EXPECT_EQ(std::count(read.labels.begin(), read.labels.end(), 1), positive) << task << " " << split;
  };
  expect("mrpc", "train.tsv", 3668, 2474);
  expect("mrpc", "dev.tsv", 408, 279);
  expect("sst2", "train.tsv", 67349, 37569);
  expect("sst2", "dev.tsv", 872, 444);
}

TEST_F(GlueFile, RecordsOfOtherFormatsHaveTheColumnsOfTheHub) {
  const auto file =
      write("mrpc.jsonl", R"({"sentence1": "It snowed.", "sentence2": "Snow fell.", "label": 1, "idx": 0})"
                          "\n");
  const GlueRows rows = read_glue(file, glue_task("mrpc"));
  EXPECT_EQ(rows.a, Texts{"It snowed."});
  EXPECT_EQ(rows.b, Texts{"Snow fell."});
  EXPECT_EQ(rows.labels, Labels{1});
  EXPECT_EQ(read_glue(fixture("glue/mrpc_dev.tsv"), glue_task("mrpc")).labels,
            read("mrpc", "mrpc_dev.tsv", GlueLabels::required).labels);
  const auto wrong = write("wrong.csv", "sentence1,sentence2,label\na,b,2\n");
  EXPECT_TRUE(
      contains(error_of([&] { read_glue(wrong, glue_task("mrpc")); }), "record 1: \"2\" is not a label of mrpc"));
}

}  // namespace
}  // namespace hearth::data
