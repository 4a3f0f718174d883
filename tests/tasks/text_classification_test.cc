// run_classification and what it shares with run_glue.
#include <gtest/gtest.h>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/common/name_list.h"
#include "hearth/tasks/text_classification/class_report.h"
#include "hearth/tasks/text_classification/class_weights.h"
#include "hearth/tasks/text_classification/columns.h"
#include "hearth/tasks/text_classification/run_classification.h"
#include "tests/tasks/loaded_task.h"

namespace hearth::tasks {
namespace {

using models::ProblemType;
using Names = std::vector<std::string>;
using Task = LoadedTask<RunClassification>;

const std::filesystem::path kFolder = fixture("text_classification");

// Files of the temporary folder, with the model of the fixtures.
class TextClassificationTest : public TemporaryFolder {
 protected:
  Task loaded(const std::string& flags, const std::string& model = "model_pairs") const {
    return Task("run_classification", kFolder / model,
                "--max_seq_length 32 --output_dir " + (folder_ / "out").string() + " " + flags);
  }
  std::string error(const std::string& flags, const std::string& model = "model_pairs") const {
    const std::string sentence = error_of([&] { loaded(flags, model); });
    EXPECT_FALSE(sentence.empty()) << "no error: " << flags;
    EXPECT_EQ(sentence.find('\n'), sentence.npos) << sentence;
    return sentence;
  }
  // --train_file and --validation_file with these contents.
  std::string files(const std::string& train, const std::string& validation, const std::string& ending = "csv") const {
    return train_file(train, ending) + " --do_eval --validation_file " + write("dev." + ending, validation).string();
  }
  std::string train_file(const std::string& contents, const std::string& ending = "csv") const {
    return "--do_train --train_file " + write("train." + ending, contents).string();
  }
};

io::Json expected(const std::string& name) { return io::read_json(kFolder / "expected.json").at(name); }

std::vector<std::int64_t> all_items(const Dataset& data) {
  std::vector<std::int64_t> items;
  for (std::int64_t item = 0; item < data.size(); ++item) items.push_back(item);
  return items;
}

std::string flags_of_case(const std::string& name) {
  const bool moods = name == "moods";
  const std::string ending = moods ? ".jsonl" : ".csv";
  std::string flags = "--max_seq_length 20 --do_train --do_eval --train_file " +
                      (kFolder / (name + "_train" + ending)).string() + " --validation_file " +
                      (kFolder / (name + "_dev" + ending)).string();
  if (moods) flags += " --text_column_names subject,body";
  if (name == "pairs") flags += " --text_column_names sentence1 --text_pair_column_names sentence2";
  return flags;
}

class TextFeaturesGolden : public testing::TestWithParam<const char*> {};

TEST_P(TextFeaturesGolden, TokensAndLabels) {
  const std::string name = GetParam();
  Task task("run_classification", kFolder / ("model_" + name), flags_of_case(name));
  const DatasetPtr data = task->train_data();
  const io::Json features = expected(name).at("features");
  ASSERT_EQ(data->size(), std::ssize(features));
  for (std::int64_t item = 0; item < data->size(); ++item) {
    const BatchPtr batch = data->collate(std::vector{item}, 0);
    const io::Json& feature = features[static_cast<std::size_t>(item)];
    EXPECT_EQ(io::Json(batch->input_ids), feature.at("input_ids"));
    EXPECT_EQ(io::Json(batch->token_type_ids), feature.at("token_type_ids"));
    const io::Json& label = feature.at("label");
    const io::Json ours =
        name == "pairs" ? io::Json(batch->labels.at("labels")) : io::Json(batch->float_labels.at("labels"));
    EXPECT_EQ(ours, label.is_array() ? label : io::Json::array({label}));
  }
}

TEST_P(TextFeaturesGolden, PaddedBatch) {
  const std::string name = GetParam();
  std::string flags = flags_of_case(name);
  flags.replace(flags.find("_train."), 6, "_dev");
  Task task("run_classification", kFolder / ("model_" + name), flags + " --pad_to_max_length False");
  const BatchPtr batch = task->train_data()->collate(std::vector<std::int64_t>{0, 1, 2, 3}, 0);
  const io::Json golden = expected(name).at("batch");
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> keys;
  for (const io::Json& row : golden.at("input_ids"))
    for (const io::Json& id : row) ids.push_back(id);
  for (const io::Json& row : golden.at("attention_mask")) keys.push_back(std::count(row.begin(), row.end(), 1));
  EXPECT_EQ(batch->input_ids, ids);
  EXPECT_EQ(batch->key_counts, keys);
}

INSTANTIATE_TEST_SUITE_P(Cases, TextFeaturesGolden, testing::Values("pairs", "scores", "moods"),
                         [](const auto& name) { return std::string(name.param); });

TEST_F(TextClassificationTest, LabelsAreStringsOfAllFiles) {
  LogCapture log;
  write("test.csv", "sentence,label\na,3\na,-1\n");
  Task task = loaded(files("sentence,label\na,2\nb,10\n", "sentence,label\na,7\n") + " --do_predict --test_file " +
                     (folder_ / "test.csv").string());
  EXPECT_EQ(task->head().labels, (Names{"10", "2", "3", "7"}));
  EXPECT_EQ(task->head().problem, ProblemType::single_label_classification);
  EXPECT_EQ(task->head().finetuning_task, "text-classification");
  EXPECT_EQ(task->train_data()->collate(std::vector<std::int64_t>{0, 1}, 0)->labels.at("labels"),
            (std::vector<std::int64_t>{1, 0}));
  bool warned = false;
  for (const std::string& warning : log.warnings) warned |= bool(contains(warning, "cannot be learned: 3, 7"));
  EXPECT_TRUE(warned);
}

TEST_F(TextClassificationTest, FractionsAreRegression) {
  Task task = loaded(train_file("sentence,label\na,0.5\nb,2\n"));
  EXPECT_EQ(task->head().problem, ProblemType::regression);
  EXPECT_EQ(task->head().labels, Names{"LABEL_0"});
  EXPECT_EQ(task->train_data()->collate(std::vector<std::int64_t>{0, 1}, 0)->float_labels.at("labels"),
            (std::vector<float>{0.5, 2}));
}

TEST_F(TextClassificationTest, DoRegressionDecides) {
  Task numbers = loaded(train_file("sentence,label\na,1\nb,2\n") + " --do_regression True");
  EXPECT_EQ(numbers->head().problem, ProblemType::regression);
  Task classes = loaded(train_file("sentence,label\na,1.5\nb,2.5\n") + " --do_regression False");
  EXPECT_EQ(classes->head().labels, (Names{"1.5", "2.5"}));
  EXPECT_TRUE(contains(error(train_file("sentence,label\na,x\nb,y\n") + " --do_regression"),
                       "column \"label\" holds texts, but numbers are needed"));
}

TEST_F(TextClassificationTest, ListsAreSeveralLabels) {
  const Names labels{"x", "y", "z"};
  const std::vector<float> targets{1, 0, 1, 0, 0, 0, 0, 1, 0};
  Task lists = loaded(train_file(R"([{"sentence": "a", "label": ["x", "z"]}, {"sentence": "b", "label": []},
                                     {"sentence": "c", "label": ["y"]}])",
                                 "json"));
  Task cells = loaded(train_file("sentence,label\na,\"['x', 'z']\"\nb,[]\nc,\"[\"\"y\"\"]\"\n"));
  for (Task* task : {&lists, &cells}) {
    EXPECT_EQ((*task)->head().problem, ProblemType::multi_label_classification);
    EXPECT_EQ((*task)->head().labels, labels);
    EXPECT_EQ((*task)->train_data()->collate(std::vector<std::int64_t>{0, 1, 2}, 0)->float_labels.at("labels"),
              targets);
  }
  Task numbers =
      loaded(train_file("{\"sentence\": \"a\", \"label\": [2, 10]}\n{\"sentence\": \"b\", \"label\": [2]}\n", "jsonl"));
  EXPECT_EQ(numbers->head().labels, (Names{"10", "2"}));
}

TEST_F(TextClassificationTest, OrderOfTheModel) {
  Task task = loaded(train_file("sentence,label\na,YES\nb,No\nc,perhaps\n"));
  EXPECT_EQ(task->head().labels, (Names{"No", "perhaps", "YES"}));
}

TEST_F(TextClassificationTest, EvaluationTakesTheLabelsOfTheModel) {
  const std::string file = write("dev.csv", "sentence,label\na,yes\nb,no\n").string();
  Task task = loaded("--do_eval --validation_file " + file);
  EXPECT_EQ(task->head().labels, (Names{"no", "perhaps", "yes"}));
  write("dev.csv", "sentence,label\na,yes\nb,maybe\n");
  EXPECT_EQ(error("--do_eval --validation_file " + file),
            file +
                ": record 2 has the label 'maybe', which is none of the labels to learn: no, perhaps, yes; correct the "
                "record, or add the label to the training data");
}

TEST_F(TextClassificationTest, TextsOfColumns) {
  const std::string file = write("t.jsonl", "{\"a\": \"x\", \"b\": 2, \"c\": null, \"label\": 1}\n").string();
  const data::Table table = data::read_table(file);
  const TextRows rows = text_rows(table, {{"a", "b"}, {"c"}, "+"}, LabelsIn::required);
  EXPECT_EQ(rows.first, Names{"x+2"});
  EXPECT_EQ(rows.second, Names{""});
  EXPECT_EQ(names_in("a,b"), (Names{"a", "b"}));
}

TEST_F(TextClassificationTest, TheOnlyColumnOfTextNeedsNoName) {
  Task task = loaded(train_file("id,review,label\n1,fine,x\n2,bad,y\n"));
  EXPECT_EQ(task->train_data()->size(), 2);
  EXPECT_TRUE(contains(error(train_file("title,review,label\na,fine,x\nb,bad,y\n")),
                       "train.csv has no column \"sentence\"; name those of the text with --text_column_names: title, "
                       "review"));
  EXPECT_FALSE(contains(error(train_file("title,review,label\na,fine,x\nb,bad,y\n")), "review, label"));
  EXPECT_TRUE(
      contains(error(train_file("label\nx\ny\n")), "train.csv has no column \"sentence\"; add a column of texts"));
  Task removed = loaded(train_file("title,review,label\na,fine,x\nb,bad,y\n") + " --remove_columns title");
  EXPECT_EQ(removed->train_data()->size(), 2);
}

TEST_F(TextClassificationTest, ColumnsThatAreNotThere) {
  const std::string train = train_file("review,label\nfine,x\nbad,y\n");
  EXPECT_TRUE(contains(error(train + " --text_column_names reviews"),
                       "train.csv has no column \"reviews\"; its columns are review, label; did you mean review?"));
  EXPECT_TRUE(contains(error(train + " --label_column_name stars"),
                       "train.csv has no column \"stars\"; its columns are review, label"));
  EXPECT_TRUE(contains(error(train + " --remove_columns stars"), "train.csv has no column \"stars\""));
  EXPECT_TRUE(contains(error(train + " --text_column_names review --remove_columns review"),
                       "--remove_columns removes review, which --text_column_names needs"));
  EXPECT_TRUE(contains(error(files("review,label\nfine,x\nbad,y\n", "text,label\nfine,x\n")),
                       "dev.csv has no column \"review\", which is a text of"));
}

TEST_F(TextClassificationTest, ColumnsThatTheRunNeedsAreNotRemoved) {
  const std::string one = train_file("sentence,label\nfine,x\nbad,y\n");
  EXPECT_EQ(error(one + " --remove_columns label"),
            "--remove_columns removes label, which is the label column; leave it out, or name another with "
            "--label_column_name");
  EXPECT_TRUE(contains(error(one + " --label_column_name kind --remove_columns kind"),
                       "--remove_columns removes kind, which is the label column"));
  EXPECT_EQ(error(one + " --remove_columns sentence"),
            "--remove_columns removes sentence, which is the text column; leave it out");
  EXPECT_EQ(error(train_file("title,sentence,body,label\na,fine,b,x\nb,bad,c,y\n") + " --remove_columns sentence"),
            "--remove_columns removes sentence, which is the text column; leave it out, or name those of the text with "
            "--text_column_names: title, body");
  Task other = loaded(train_file("sentence,body,label\nfine,a b c,x\nbad,d e f,y\n") + " --remove_columns sentence");
  EXPECT_EQ(other->train_data()->length(0), 5);
}

TEST_F(TextClassificationTest, TextColumnsThatCannotBeMeant) {
  const std::string train = train_file("sentence,label\nfine,x\nbad,y\n");
  for (const char* empty : {"--text_column_names=", "--text_column_names=,"})
    EXPECT_EQ(error(train + " " + empty),
              "--text_column_names is empty; name columns of the text, with commas between them, or leave it out");
  EXPECT_TRUE(contains(error(train + " --text_column_names sentence --text_pair_column_names="),
                       "--text_pair_column_names is empty"));
  EXPECT_EQ(error(train + " --text_column_names sentence,label"),
            "--text_column_names has label, which is the label column; leave it out, or name another with "
            "--label_column_name");
  EXPECT_TRUE(contains(error(train + " --text_column_names sentence --text_pair_column_names label"),
                       "--text_pair_column_names has label"));
  loaded(train_file("label,kind\nfine,x\nbad,y\n") + " --text_column_names label --label_column_name kind");
}

TEST_F(TextClassificationTest, RecordsWithoutText) {
  const std::string file = (folder_ / "train.csv").string();
  const std::string blank = "sentence,other,label\n ,,x\n ,,y\n";
  EXPECT_EQ(error(train_file(blank)), "no record of " + file + " has a text in column sentence");
  EXPECT_EQ(error(train_file(blank) + " --text_column_names sentence --text_pair_column_names other"),
            "no record of " + file + " has a text in columns sentence, other");
  EXPECT_TRUE(contains(error(files("sentence,label\nfine,x\nbad,y\n", "sentence,label\n ,x\n ,y\n")),
                       "dev.csv has a text in column sentence"));
  const std::string some = train_file("sentence,label\n ,x\nbad,y\n");
  EXPECT_EQ(error(some + " --max_train_samples 1"),
            "none of the first 1 records of " + file + " has a text in column sentence");
  LogCapture log;
  EXPECT_EQ(loaded(some)->train_data()->size(), 2);
  EXPECT_EQ(std::ranges::count(log.warnings, file + ": 1 of 2 records have no text; they are used as they are"), 1);
}

// What training needs is not asked of files to make predictions for.
TEST_F(TextClassificationTest, PredictionsNeedNeitherTextsNorLabels) {
  const std::string predict = "--do_predict --test_file ";
  LogCapture log;
  const std::string blank = write("blank.jsonl", "{\"sentence\": \" \"}\n").string();
  loaded(predict + blank);
  EXPECT_EQ(std::ranges::count(log.warnings, blank + ": 1 of 1 records have no text; they are used as they are"), 1);
  const std::string labelled = write("test.csv", "sentence,label\nfine,unheard-of\n").string();
  loaded(predict + labelled + " --remove_columns label");
  EXPECT_TRUE(contains(error("--do_eval --validation_file " + labelled + " --remove_columns label"),
                       "--remove_columns removes label, which is the label column"));
}

TEST_F(TextClassificationTest, AColumnOfNumbersIsNotTakenUnasked) {
  const std::string numbers = train_file("sentence,label\n17,x\n4,y\n"), file = (folder_ / "train.csv").string();
  EXPECT_EQ(error(numbers), file +
                                ": the column \"sentence\" holds whole numbers; --text_column_names sentence takes "
                                "them as texts");
  EXPECT_EQ(loaded(numbers + " --text_column_names sentence")->train_data()->size(), 2);
  EXPECT_TRUE(contains(error(train_file("sentence,label\n,x\n,y\n")),
                       "the column \"sentence\" holds numbers, or nothing; --text_column_names sentence takes"));
  EXPECT_TRUE(contains(error(train_file("{\"sentence\": [\"a\"], \"label\": 1}\n", "jsonl")),
                       "the column \"sentence\" holds lists of texts; name those of the text with"));
  EXPECT_TRUE(contains(error(train_file("sentence,n\na,1\nb,2\n") + " --label_column_name sentence"),
                       "the column \"sentence\" is the label; name those of the text with --text_column_names: n"));
}

TEST_F(TextClassificationTest, HelpListsSplitsBesideTheDataSet) {
  RunClassification task;
  const std::string help = *parse_run_arguments(task_command("run_classification"), task, words_in("--help")).help;
  const std::size_t section = help.find("Unbalanced data");
  ASSERT_NE(section, help.npos);
  EXPECT_LT(help.find("  --dataset_name"), help.find("  --train_split_name"));
  EXPECT_LT(help.find("  --test_split_name"), section);
  EXPECT_LT(section, help.find("  --class_weights"));
}

TEST_F(TextClassificationTest, ShuffledSamples) {
  std::string rows = "sentence,label\n";
  for (int i = 0; i < 40; ++i) rows += "a," + std::to_string(i) + "\n";
  const auto first_ten = [&](const std::string& flags) {
    Task task = loaded(train_file(rows) + " --max_train_samples 10" + flags);
    EXPECT_EQ(task->head().labels.size(), 40u);  // as run_classification.py: those of the whole file
    return task->train_data()->collate(all_items(*task->train_data()), 0)->labels.at("labels");
  };
  const auto plain = first_ten(""), shuffled = first_ten(" --shuffle_train_dataset"),
             again = first_ten(" --shuffle_train_dataset --shuffle_seed 42"),
             other = first_ten(" --shuffle_train_dataset --shuffle_seed 43");
  EXPECT_EQ(plain.size(), 10u);
  EXPECT_NE(shuffled, plain);
  EXPECT_EQ(shuffled, again);
  EXPECT_NE(shuffled, other);
}

TEST_F(TextClassificationTest, WithoutValidationTheTestFileIsEvaluated) {
  const std::string test = write("test.csv", "sentence,label\na,x\n").string();
  Task task = loaded(train_file("sentence,label\na,x\nb,y\n") + " --do_eval --test_file " + test);
  EXPECT_EQ(task->evaluation_size(0), 1);
}

TEST_F(TextClassificationTest, BadLabels) {
  EXPECT_TRUE(contains(error(train_file("sentence,label\na,x\nb,x\n")),
                       "train.csv has only one label, 'x'; training needs records of at least two labels"));
  EXPECT_TRUE(contains(
      error(train_file("[{\"sentence\": \"a\", \"label\": \"x\"}, {\"sentence\": \"b\", \"label\": 1}]", "json")),
      "label"));
  EXPECT_TRUE(
      contains(error(files("sentence,label\na,x\nb,y\n", "sentence,label\na,0.5\n")), "are texts, but those of"));
  EXPECT_TRUE(contains(error(files("sentence,label\na,1\nb,2\n", "sentence,label\na,1\nb,\n")),
                       "a missing label turns a column of whole numbers into numbers"));
  EXPECT_TRUE(contains(error(train_file("sentence,label\na,x\nb,y\nc,NA\n")), "train.csv: record 3 has no label"));
  EXPECT_TRUE(contains(error(train_file("sentence,label\na,0.5\nb,\n")), "train.csv: record 2 has no label"));
  EXPECT_TRUE(contains(error(train_file(R"([{"sentence": "a", "label": {"x": 1}}])", "json")), "label"));
}

TEST_F(TextClassificationTest, BadFiles) {
  EXPECT_TRUE(contains(error(train_file("")), "train.csv"));
  EXPECT_EQ(error(train_file("sentence,label\n")), (folder_ / "train.csv").string() + " holds no records");
  EXPECT_TRUE(contains(error(train_file("sentence,label\n\"a,x\nb,y\n")), "quote"));
  EXPECT_TRUE(contains(error("--do_train --train_file " + (folder_ / "none.csv").string()), "none.csv"));
  EXPECT_TRUE(contains(error("--do_train --train_file train.xlsx"),
                       "the file's name must end in .json, .jsonl, .csv, .tsv or .parquet"));
}

TEST_F(TextClassificationTest, TokenizerOfAnotherModel) {
  std::filesystem::copy(kFolder / "model_pairs", folder_ / "model");
  std::string vocabulary = io::read_file(folder_ / "model/vocab.txt");
  vocabulary += "wardrobe\n";
  std::ofstream(folder_ / "model/vocab.txt") << vocabulary;
  const std::string sentence = error_of([&] {
    Task("run_classification", folder_ / "model",
         train_file("sentence,label\nwardrobe,x\nb,y\n") + " --max_seq_length 32");
  });
  EXPECT_TRUE(contains(sentence, "is not this model's tokenizer"));
}

TEST_F(TextClassificationTest, LengthsThatDoNotFit) {
  const std::string train = train_file("sentence,label\na,x\nb,y\n");
  EXPECT_TRUE(contains(error(train + " --max_seq_length 2"), "--max_seq_length 2 is too small"));
  EXPECT_TRUE(contains(error(train + " --max_seq_length 65"), "max_seq_length 65 is beyond the model's 64 positions"));
}

TEST_F(TextClassificationTest, ClassWeights) {
  const std::string train = train_file("sentence,label\na,x\nb,x\nc,x\nd,y\n") + " --max_seq_length 20";
  EXPECT_EQ(loaded(train)->loss().class_weights, std::vector<float>());
  const std::vector<float> balanced = loaded(train + " --class_weights balanced")->loss().class_weights;
  ASSERT_EQ(balanced.size(), 2u);
  EXPECT_FLOAT_EQ(balanced[0], 4.0f / (2 * 3));
  EXPECT_FLOAT_EQ(balanced[1], 4.0f / (2 * 1));
  EXPECT_EQ(loaded(train + " --class_weights 1,2.5")->loss().class_weights, (std::vector<float>{1, 2.5}));
  EXPECT_EQ(loaded(train + " --focal_gamma 2")->loss().focal_gamma, 2);
  EXPECT_TRUE(contains(error(train + " --class_weights 1,2,3"),
                       "--class_weights has 3 numbers, but there are 2 labels: x, y; give one number per label"));
  EXPECT_TRUE(contains(error(train + " --class_weights equal"), "--class_weights has 'equal'; give balanced, none"));
  EXPECT_TRUE(contains(error(train + " --class_weights 1,-1"), "--class_weights has '-1'"));
  EXPECT_EQ(error(train + " --class_weights 0,0"),
            "--class_weights 0,0 has only zeros, so that no text would count; give a number above 0 for some labels");
  EXPECT_EQ(loaded(train + " --class_weights 0,1")->loss().class_weights, (std::vector<float>{0, 1}));
}

TEST(ClassWeights, OfSeveralLabels) {
  const TextProblem problem{ProblemType::multi_label_classification, LabelMap({"x", "y", "z"})};
  const TextLabels train{{}, {1, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0}};
  EXPECT_EQ(weights_by_label({ClassWeights::Kind::balanced}, problem, train),
            (std::vector<float>{1.0f / 3, 3, 1}));  // pos_weight
}

TEST_F(TextClassificationTest, WeightsThatAreRefused) {
  const std::string train = train_file("sentence,label\na,x\nb,y\n"),
                    numbers = "--do_train --train_file " + write("n.csv", "sentence,label\na,0.5\nb,1.5\n").string();
  EXPECT_EQ(error(train + " --class_weights balanced --label_smoothing_factor 0.1"),
            "--class_weights cannot be combined with --label_smoothing_factor; leave one of them out");
  EXPECT_EQ(error(train + " --focal_gamma 1 --label_smoothing_factor 0.1"),
            "--focal_gamma cannot be combined with --label_smoothing_factor; leave one of them out");
  EXPECT_EQ(error(train + " --focal_gamma 1 --do_regression"),
            "--focal_gamma is for labels, and this is regression; leave it out");
  EXPECT_EQ(error(numbers + " --class_weights balanced"),
            "--class_weights is for labels, and this is regression; leave it out");
}

TEST_F(TextClassificationTest, MetricNames) {
  const std::string two = train_file("sentence,label\na,x\nb,y\n");
  loaded(two + " --metric_name accuracy,f1,f1_macro,matthews_correlation");
  EXPECT_TRUE(contains(error(two + " --do_eval --validation_file " + (folder_ / "train.csv").string() +
                             " --metric_for_best_model f1 --eval_strategy epoch --save_strategy epoch"),
                       "--metric_for_best_model f1 is not a metric of this task, which has loss, accuracy"));
  EXPECT_TRUE(contains(error(two + " --metric_name acuracy"),
                       "--metric_name acuracy is not a metric for one label per text; these are: accuracy, "
                       "matthews_correlation, f1"));
  EXPECT_TRUE(contains(error(two + " --metric_name mse"), "--metric_name mse is not a metric for one label per text"));
  EXPECT_TRUE(contains(error(train_file("sentence,label\na,x\nb,y\nc,z\n") + " --metric_name f1"),
                       "--metric_name f1 is for two labels, and there are 3; give f1_macro, f1_micro or f1_weighted"));
  EXPECT_TRUE(
      contains(error(train_file("sentence,label\na,0.5\nb,1.5\n") + " --metric_name f1"),
               "--metric_name f1 is not a metric for regression; these are: mse, pearson, pearsonr, spearmanr"));
}

TEST(TextScores, OfOneLabel) {
  const TextProblem problem{ProblemType::single_label_classification, LabelMap({"x", "y"})};
  const TextLabels truth{{0, 0, 1, 1}, {}};
  const TextPredictions predicted{{0, 1, 1, 1}, {}, {}};
  const Metrics scores = text_scores({{"accuracy", "f1"}, true}, problem, truth, predicted);
  EXPECT_DOUBLE_EQ(scores.at("accuracy"), 0.75);
  EXPECT_DOUBLE_EQ(scores.at("f1"), 0.8);  // of the second label
  EXPECT_DOUBLE_EQ(scores.at("combined_score"), 0.775);
  EXPECT_DOUBLE_EQ(text_scores({{"f1"}, false, "x"}, problem, truth, predicted).at("f1"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(text_scores({{"precision_macro"}}, problem, truth, predicted).at("precision_macro"), 5.0 / 6);
}

TEST(TextScores, OfSeveralLabelsAndNumbers) {
  const TextProblem several{ProblemType::multi_label_classification, LabelMap({"x", "y"})};
  const TextLabels truth{{}, {1, 0, 1, 1}};
  const Metrics scores = text_scores({{"f1", "accuracy"}}, several, truth, {{}, {}, {1, 0, 0, 1}});
  EXPECT_DOUBLE_EQ(scores.at("f1"), 0.8);
  EXPECT_DOUBLE_EQ(scores.at("accuracy"), 0.5);
  const TextLabels numbers{{}, {1, 2, 4}};
  const Metrics errors = text_scores({{"mse", "spearmanr"}}, {ProblemType::regression}, numbers, {{}, {1, 3, 5}, {}});
  EXPECT_DOUBLE_EQ(errors.at("mse"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(errors.at("spearmanr"), 1);
}

TEST(ClassReport, OfEachProblem) {
  const TextProblem one{ProblemType::single_label_classification, LabelMap({"x", "y"})};
  const ClassReport report = class_report(one, {{0, 0, 1}, {}}, {{0, 1, 1}, {}, {}});
  EXPECT_TRUE(contains(report.text, "weighted avg"));
  EXPECT_TRUE(contains(report.text, "true \\ predicted"));
  EXPECT_EQ(report.json.at("confusion_matrix"), io::Json::parse("[[1, 1], [0, 1]]"));
  const TextProblem several{ProblemType::multi_label_classification, LabelMap({"x", "y"})};
  const ClassReport labels = class_report(several, {{}, {1, 0, 1, 1}}, {{}, {}, {1, 0, 0, 1}});
  EXPECT_TRUE(contains(labels.text, "micro avg"));
  EXPECT_FALSE(labels.json.contains("confusion_matrix"));
  EXPECT_EQ(class_report({ProblemType::regression}, {{}, {1}}, {{}, {1}, {}}).text, "");
}

TEST_F(TextClassificationTest, PredictionFiles) {
  const auto written = [&](const TextPredictions& predictions, const TextProblem& problem) {
    write_predictions(predictions, problem, folder_ / "p.txt");
    return io::read_file(folder_ / "p.txt");
  };
  EXPECT_EQ(written({{1, 0}, {}, {}}, {ProblemType::single_label_classification, LabelMap({"x", "y"})}),
            "index\tprediction\n0\ty\n1\tx\n");
  EXPECT_EQ(written({{}, {1.23456f, -2}, {}}, {ProblemType::regression}), "index\tprediction\n0\t1.235\n1\t-2.000\n");
  EXPECT_EQ(
      written({{}, {}, {1, 0, 1, 0, 0, 0}}, {ProblemType::multi_label_classification, LabelMap({"x", "it's", "z"})}),
      "index\tprediction\n0\t['x', 'z']\n1\t[]\n");
}

}  // namespace
}  // namespace hearth::tasks
