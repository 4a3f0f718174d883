#include "hearth/tasks/text_classification/arguments.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/data/glue.h"
#include "hearth/data/record_format.h"
#include "hearth/tasks/common/name_list.h"
#include "hearth/tasks/text_classification/class_weights.h"

namespace hearth::tasks {
namespace {

constexpr double kLargestLength = 1 << 30;

// The first mismatched set of MNLI stands beside the matched one: dev_matched.tsv, dev_mismatched.tsv.
std::vector<std::string> mismatched_beside(const std::vector<std::string>& matched) {
  if (matched.size() != 1) return {};
  const std::filesystem::path path = matched.front();
  std::string name = path.filename().string();
  const std::size_t at = name.find("_matched");
  if (at == name.npos) return {};
  const std::filesystem::path beside = path.parent_path() / name.replace(at, 8, "_mismatched");
  return std::filesystem::exists(beside) ? std::vector{beside.string()} : std::vector<std::string>{};
}

void check_text_columns(std::string_view flag, const std::optional<std::string>& list, const std::string& label) {
  if (!list) return;
  const std::vector<std::string> names = names_in(*list);
  check(!names.empty(), "{} is empty; name columns of the text, with commas between them, or leave it out", flag);
  check(std::ranges::find(names, label) == names.end(),
        "{} has {}, which is the label column; leave it out, or name another with --label_column_name", flag, label);
}

// Predictions need no labels.
void check_columns(const ClassificationArguments& arguments, bool needs_labels) {
  const std::string label = arguments.label_column();
  check_text_columns("--text_column_names", arguments.text_column_names, label);
  check_text_columns("--text_pair_column_names", arguments.text_pair_column_names, label);
  const std::vector<std::string> removed = names_in(arguments.remove_columns.value_or(""));
  check(!needs_labels || std::ranges::find(removed, label) == removed.end(),
        "--remove_columns removes {}, which is the label column; leave it out, or name another with "
        "--label_column_name",
        label);
}

}  // namespace

void declare_text(Arguments& options, TextArguments& arguments) {
  declare_files(options, arguments, "texts", data::record_endings());
  options.add("max_seq_length", &arguments.max_seq_length, "maximum tokens per input; longer ones are truncated")
      .at_least(1)
      .at_most(kLargestLength);
  declare_samples(options, arguments, "texts");
  options.ignored_switches({"overwrite_cache"}, "the features of this task are not cached");
}

void declare_weights(Arguments& options, TextArguments& arguments) {
  options.section("Unbalanced data");
  options.add(
      "class_weights", &arguments.class_weights,
      "weight of each label in the loss: none, balanced (rare labels weigh more), or numbers in the order of the "
      "labels, 1,2.5");
  options
      .add("focal_gamma", &arguments.focal_gamma,
           "focal loss: texts that the model is sure about count less; 0: off, 2 is usual")
      .at_least(0);
}

void validate_text(const TextArguments& arguments, const TrainingArguments& training) {
  check_endings(arguments);
  check_files(arguments, training);
  parse_class_weights(arguments.class_weights);
  check(!arguments.weighs_classes() || training.label_smoothing_factor == 0,
        "{} cannot be combined with --label_smoothing_factor; leave one of them out",
        arguments.focal_gamma > 0 ? "--focal_gamma" : "--class_weights");
}

void check_not_weighted(const TextArguments& arguments) {
  check(!arguments.weighs_classes(), "{} is for labels, and this is regression; leave it out",
        arguments.focal_gamma > 0 ? "--focal_gamma" : "--class_weights");
}

void declare(Arguments& options, GlueArguments& arguments) {
  options.section("GLUE");
  options.add(
      "task_name", &arguments.task_name,
      "task of GLUE: cola, sst2, mrpc, stsb, qqp, mnli, qnli, rte or wnli, from its files or, without files, from the "
      "Hub; without it the files are your own, with columns sentence1, sentence2 and label");
  options
      .add("validation_mismatched_file", &arguments.validation_mismatched_file,
           "second evaluation file of mnli; if not given, dev_mismatched.tsv beside dev_matched.tsv")
      .per_process();
  options
      .add("test_mismatched_file", &arguments.test_mismatched_file, "second test file of mnli, found in the same way")
      .per_process();
  options.section("Text classification");
  declare_text(options, arguments);
  declare_weights(options, arguments);
}

bool GlueArguments::is_mnli() const { return task_name && data::glue_task(*task_name).name == "mnli"; }

// As run_glue.py, --task_name alone is the data set glue of the Hub.
void GlueArguments::validate(const TrainingArguments& training) {
  const data::GlueTask* task = task_name ? &data::glue_task(*task_name) : nullptr;
  if (task != nullptr && train_file.empty() && validation_file.empty() && test_file.empty()) {
    dataset_name = "glue";
    dataset_config_name = task->name;
  }
  validate_text(*this, training);
  if (task != nullptr && task->is_regression()) check_not_weighted(*this);
  if (is_mnli() && dataset_name) {
    validation_split = "validation_matched";
    test_split = "test_matched";
  } else if (is_mnli()) {
    if (validation_mismatched_file.empty()) validation_mismatched_file = mismatched_beside(validation_file);
    if (test_mismatched_file.empty()) test_mismatched_file = mismatched_beside(test_file);
  } else {
    check(validation_mismatched_file.empty() && test_mismatched_file.empty(),
          "--validation_mismatched_file and --test_mismatched_file are for --task_name mnli; leave them out");
  }
}

void declare(Arguments& options, ClassificationArguments& arguments) {
  options.section("Text classification");
  options.add("text_column_names", &arguments.text_column_names,
              "columns of the text, with commas between them; they are joined into one text; sentence if not given");
  options.add("text_column_delimiter", &arguments.text_column_delimiter, "what stands between joined columns");
  options.add("text_pair_column_names", &arguments.text_pair_column_names,
              "columns of a second text: the model reads both as a pair");
  options.add("label_column_name", &arguments.label_column_name,
              "column of the label: texts or whole numbers are classes, fractions are regression, lists are several "
              "labels per text; label if not given");
  options.add("do_regression", &arguments.do_regression, "learn a number; if not given, the labels decide");
  options.add(
      "cross_encoder", &arguments.cross_encoder,
      "train a reranker as CrossEncoder of sentence-transformers does: one score per pair, from labels between 0 "
      "and 1, with binary cross entropy");
  options.add("metric_name", &arguments.metric_name,
              "metric of evaluations, or several with commas between them: accuracy, f1, f1_macro, "
              "matthews_correlation, mse, ...; if not given, accuracy, mse, or micro F1 for several labels");
  options.add("remove_columns", &arguments.remove_columns, "columns to leave out, with commas between them");
  options.add("shuffle_train_dataset", &arguments.shuffle_train_dataset,
              "shuffle the training data before max_train_samples are taken");
  options.add("shuffle_seed", &arguments.shuffle_seed, "random seed of that shuffle");
  declare_text(options, arguments);
  options.add("train_split_name", &arguments.train_split,
              "split of --dataset_name to train on, or several with commas");
  options.add("validation_split_name", &arguments.validation_split, "split of --dataset_name to evaluate on");
  options.add("test_split_name", &arguments.test_split, "split of --dataset_name to make predictions for");
  options.ignored({"remove_splits"}, "only the splits that a run needs are read");
  declare_weights(options, arguments);
}

void ClassificationArguments::validate(const TrainingArguments& training) {
  if (training.do_eval && !dataset_name && validation_file.empty()) validation_file = test_file;  // as the script
  validate_text(*this, training);
  if (do_regression.value_or(false)) check_not_weighted(*this);
  check(!cross_encoder || !do_regression, "--cross_encoder and --do_regression exclude each other");
  check(!text_pair_column_names || text_column_names,
        "--text_pair_column_names needs --text_column_names, the columns of the first text");
  check_columns(*this, training.do_train || training.do_eval);
}

}  // namespace hearth::tasks
