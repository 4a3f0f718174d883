// run_glue: the tasks of GLUE, and files of one's own.
#include <gtest/gtest.h>

#include "hearth/tasks/text_classification/run_glue.h"
#include "tests/tasks/loaded_task.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;
using Names = std::vector<std::string>;
using Task = LoadedTask<RunGlue>;

const std::filesystem::path kGlue = fixture("glue"), kModel = fixture("text_classification/model_pairs");

class GlueTaskTest : public TemporaryFolder {
 protected:
  Task loaded(const std::string& flags, const std::filesystem::path& model = kModel) const {
    return Task("run_glue", model, flags + " --max_seq_length 32 --output_dir " + (folder_ / "out").string());
  }
  std::string error(const std::string& flags) const {
    const std::string sentence = error_of([&] { loaded(flags); });
    EXPECT_FALSE(sentence.empty()) << "no error: " << flags;
    EXPECT_EQ(sentence.find('\n'), sentence.npos) << sentence;
    return sentence;
  }
  std::string train_file(const std::string& contents, const std::string& name = "train.csv") const {
    return "--do_train --train_file " + write(name, contents).string();
  }
};

std::vector<std::int64_t> labels_of(const Dataset& data) {
  std::vector<std::int64_t> items(static_cast<std::size_t>(data.size()));
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<std::int64_t>(i);
  return data.collate(items, 0)->labels.at("labels");
}

std::string evaluation(const std::string& task, const std::string& file) {
  return "--task_name " + task + " --do_eval --validation_file " + (kGlue / file).string();
}

TEST_F(GlueTaskTest, FilesOfEachTask) {
  struct Row {
    const char *task, *file;
    ProblemType problem;
    std::size_t labels;
  };
  const auto single = ProblemType::single_label_classification;
  for (const Row& row :
       {Row{"cola", "cola_train.tsv", single, 2}, Row{"SST-2", "sst2_dev.tsv", single, 2},
        Row{"mrpc", "mrpc_dev.tsv", single, 2}, Row{"stsb", "stsb_dev.tsv", ProblemType::regression, 1},
        Row{"qqp", "qqp_train.tsv", single, 2}, Row{"mnli", "mnli_dev.tsv", single, 3},
        Row{"qnli", "qnli_dev.tsv", single, 2}, Row{"rte", "rte_dev.tsv", single, 2},
        Row{"wnli", "wnli_dev.tsv", single, 2}}) {
    Task task = loaded(evaluation(row.task, row.file));
    EXPECT_GT(task->evaluation_size(0), 0) << row.task;
    EXPECT_EQ(task->head().problem, row.problem) << row.task;
    EXPECT_EQ(task->head().labels.size(), row.labels) << row.task;
  }
  EXPECT_EQ(loaded(evaluation("SST-2", "sst2_dev.tsv"))->head().finetuning_task, "sst2");
}

TEST_F(GlueTaskTest, UnknownTask) {
  EXPECT_EQ(
      error(evaluation("mprc", "mrpc_dev.tsv")),
      "mprc is not a task of GLUE; the tasks are cola, sst2, mrpc, stsb, qqp, mnli, qnli, rte, wnli; did you mean "
      "mrpc?");
}

TEST_F(GlueTaskTest, MetricsOfTasks) {
  const auto best = [](const char* metric) {
    return fmt::format(" --metric_for_best_model {} --eval_strategy epoch --save_strategy epoch", metric);
  };
  loaded(evaluation("mrpc", "mrpc_dev.tsv") + best("combined_score"));
  loaded(evaluation("stsb", "stsb_dev.tsv") + best("spearmanr"));
  loaded(evaluation("cola", "cola_train.tsv") + best("matthews_correlation"));
  EXPECT_TRUE(contains(error(evaluation("sst2", "sst2_dev.tsv") + best("f1")),
                       "--metric_for_best_model f1 is not a metric of this task, which has loss, accuracy, runtime"));
}

TEST_F(GlueTaskTest, HubColumnsInOtherFiles) {
  Task numbers = loaded(train_file("sentence1,sentence2,label,idx\na,b,1,0\nc,d,0,1\n") + " --task_name mrpc");
  Task names = loaded(train_file("{\"sentence1\": \"a\", \"sentence2\": \"b\", \"label\": \"equivalent\"}\n"
                                 "{\"sentence1\": \"c\", \"sentence2\": \"d\", \"label\": \"not_equivalent\"}\n",
                                 "train.jsonl") +
                      " --task_name mrpc");
  for (Task* task : {&numbers, &names}) {
    EXPECT_EQ((*task)->head().labels, (Names{"not_equivalent", "equivalent"}));
    EXPECT_EQ(labels_of(*(*task)->train_data()), (std::vector<std::int64_t>{1, 0}));
  }
  EXPECT_TRUE(
      contains(error(train_file("sentence1,sentence2,label\na,b,1\nc,d,2\n") + " --task_name mrpc"),
               "train.csv: record 2: \"2\" is not a label of mrpc; its labels are not_equivalent, equivalent, or the "
               "numbers 0 to 1"));
}

// As Hugging Face's datasets gives them, with the names of the labels in the file.
TEST_F(GlueTaskTest, ParquetFiles) {
  const std::string flags = "--do_train --train_file " + fixture("parquet/labelled.parquet").string();
  for (const char* task : {"", " --task_name sst2"}) {
    Task loaded_task = loaded(flags + task, fixture("text_classification/model_pairs"));
    EXPECT_EQ(loaded_task->head().labels, (Names{"negative", "positive"})) << task;
    EXPECT_EQ(labels_of(*loaded_task->train_data()), (std::vector<std::int64_t>{1, 0, 1, 0, 1, 0})) << task;
  }
}

TEST_F(GlueTaskTest, SeveralFilesAreOne) {
  const std::string first = write("train-0.csv", "text,label\na,x\nb,y\n").string();
  const std::string second = write("train-1.csv", "text,label\nc,z\nd,x\n").string();
  for (const std::string& files : {first + " " + second, (folder_ / "train-*.csv").string()}) {
    Task task = loaded("--do_train --train_file " + files);
    EXPECT_EQ(task->head().labels, (Names{"x", "y", "z"}));
    EXPECT_EQ(labels_of(*task->train_data()), (std::vector<std::int64_t>{0, 1, 2, 0}));
  }
  write("train-1.csv", "text,label\nc,z\nd,\n");
  EXPECT_TRUE(contains(error("--do_train --train_file " + first + " " + second), "train-1.csv: record 2 has no label"));
  write("train-1.csv", "text,kind\nc,z\n");
  EXPECT_TRUE(
      contains(error("--do_train --train_file " + first + " " + second), "need the same columns of the same types"));
}

TEST_F(GlueTaskTest, MnliHasTwoSets) {
  std::filesystem::copy(kGlue / "mnli_dev.tsv", folder_ / "dev_matched.tsv");
  const std::string flags = "--task_name mnli --do_eval --validation_file " + (folder_ / "dev_matched.tsv").string();
  {
    LogCapture log;
    Task matched = loaded(flags);
    EXPECT_EQ(matched->evaluation_suffixes(), Names{""});
    EXPECT_NE(std::ranges::find(log.infos,
                                "only the matched texts of mnli are evaluated; --validation_mismatched_file "
                                "names the others"),
              log.infos.end());
  }
  Task named = loaded(flags + " --validation_mismatched_file " + (kGlue / "mnli_dev.tsv").string());
  EXPECT_EQ(named->evaluation_suffixes(), (Names{"", "_mm"}));
  std::filesystem::copy(kGlue / "mnli_dev.tsv", folder_ / "dev_mismatched.tsv");
  Task beside = loaded(flags);
  EXPECT_EQ(beside->evaluation_suffixes(), (Names{"", "_mm"}));
  EXPECT_TRUE(contains(error(evaluation("rte", "rte_dev.tsv") + " --validation_mismatched_file x.tsv"),
                       "--validation_mismatched_file and --test_mismatched_file are for --task_name mnli"));
}

TEST_F(GlueTaskTest, OrderOfTheModel) {
  std::filesystem::copy(kModel, folder_ / "model");
  models::Config config = models::load_config(kModel);
  config.set_labels(Names{"Equivalent", "not_equivalent"});
  write("model/config.json", io::dump_json(config.values(), 2));
  Task task = loaded(evaluation("mrpc", "mrpc_dev.tsv"), folder_ / "model");
  EXPECT_EQ(task->head().labels, (Names{"equivalent", "not_equivalent"}));
}

TEST_F(GlueTaskTest, TestFilesNeedNoLabels) {
  const std::string flags = "--task_name sst2 --do_predict --test_file ";
  loaded(flags + (kGlue / "sst2_test.tsv").string());
  loaded(flags + write("test.tsv", "sentence\tlabel\na fine thing\t-1\n").string());
  loaded(flags + write("test.csv", "sentence,label\na fine thing,-1\n").string());
  loaded("--do_predict --test_file " + write("own.csv", "sentence,label\na fine thing,-1\n").string());
  EXPECT_TRUE(contains(error("--task_name sst2 --do_eval --validation_file " + (kGlue / "sst2_test.tsv").string()),
                       "sst2 needs a column \"label\""));
}

TEST_F(GlueTaskTest, OwnFiles) {
  Task task = loaded(train_file("id,question,answer,label\n0,a b,c,10\n1,b,c,9\n2,c,d,10\n"));
  EXPECT_EQ(task->head().labels, (Names{"9", "10"}));  // by value
  EXPECT_EQ(labels_of(*task->train_data()), (std::vector<std::int64_t>{1, 0, 1}));
  EXPECT_EQ(task->head().finetuning_task, std::nullopt);
  const BatchPtr pair = task->train_data()->collate(std::vector<std::int64_t>{0}, 0);
  EXPECT_EQ(std::ranges::count(pair->token_type_ids, 1), 2);  // the answer and [SEP]
  Task sentences = loaded(train_file("other,sentence2,sentence1,label\nx x x,b,a,u\nx x x,d,c,v\n"));
  EXPECT_EQ(sentences->train_data()->length(0), 5);
  Task regression = loaded(train_file("text,label\na,0.5\nb,1\n"));
  EXPECT_EQ(regression->head().problem, ProblemType::regression);
}

TEST_F(GlueTaskTest, MinusOneIsALabelToLearn) {
  Task task = loaded(train_file("text,label\na,-1\nb,1\n"));
  EXPECT_EQ(task->head().labels, (Names{"-1", "1"}));
}

TEST_F(GlueTaskTest, ErrorsOfOwnFiles) {
  const std::string dev = "--do_eval --validation_file " + write("dev.csv", "text,label\na,x\nb,z\n").string();
  EXPECT_TRUE(contains(error(train_file("text,label\na,x\nb,y\n") + " " + dev),
                       "dev.csv: record 2 has the label 'z', which is none of the labels to learn: x, y"));
  EXPECT_TRUE(contains(error(train_file("text,label\na,x\nb,x\n")), "train.csv has only one label, 'x'"));
  EXPECT_TRUE(contains(error(train_file("text,kind\na,x\nb,y\n")),
                       "train.csv has no column \"label\"; its columns are text, kind"));
  EXPECT_TRUE(contains(error(train_file("number,label\n1,x\n2,y\n")),
                       "train.csv has no column with texts beside \"label\"; its columns are number, label"));
  EXPECT_TRUE(contains(error(train_file("words,label\na,x\nb,y\n") + " " + dev),
                       "dev.csv has no column \"words\", which is a text of"));
  EXPECT_TRUE(contains(error(train_file("{\"text\": \"a\", \"label\": [\"x\", \"y\"]}\n", "train.jsonl")),
                       "hearth run_classification learns several labels per text"));
  EXPECT_TRUE(contains(error("--task_name sst2 " + train_file("sentence\tlabel\na\t1\nb\t1\n", "train.tsv")),
                       "train.tsv has only one label, 'positive'"));
}

TEST_F(GlueTaskTest, ClassWeightsAreNotForStsb) {
  EXPECT_EQ(error(evaluation("stsb", "stsb_dev.tsv") + " --class_weights balanced"),
            "--class_weights is for labels, and this is regression; leave it out");
}

TEST_F(GlueTaskTest, CommandToTryTheModel) {
  EXPECT_EQ(loaded(train_file("text,label\na,x\nb,y\n"))->try_it("my model"),
            "hearth classify --model 'my model' --text \"...\"");
  EXPECT_EQ(loaded(train_file("s,t,label\na,b,x\nb,c,y\n"))->try_it("out"),
            "hearth classify --model out --text \"...\" --text_pair \"...\"");
}

TEST_F(GlueTaskTest, RealFiles) {
  const std::filesystem::path data = folder_in("HEARTH_DATA_DIR");
  if (data.empty()) GTEST_SKIP() << "HEARTH_DATA_DIR is not set";
  Task mrpc = loaded(fmt::format("--task_name mrpc --do_train --train_file {0}/mrpc/train.tsv --do_eval "
                                 "--validation_file {0}/mrpc/dev.tsv",
                                 data.string()),
                     data / "minilm-l6");
  EXPECT_EQ(mrpc->train_data()->size(), 3668);
  EXPECT_EQ(mrpc->evaluation_size(0), 408);
  Task sst2 = loaded(fmt::format("--task_name sst2 --do_eval --validation_file {}/sst2/dev.tsv", data.string()),
                     data / "minilm-l6");
  EXPECT_EQ(sst2->evaluation_size(0), 872);
}

}  // namespace
}  // namespace hearth::tasks
