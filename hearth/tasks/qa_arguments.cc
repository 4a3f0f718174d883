#include "hearth/tasks/qa_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/data/record_format.h"
#include "hearth/tasks/squad_metric.h"
#include "hearth/train/best_metric.h"

namespace hearth::tasks {
namespace {

constexpr double kLargest = 1 << 30;

void check_file(const std::optional<std::string>& file, std::string_view flag) {
  check(!file || data::record_format_of(*file), "{}: {} must end in {}", flag, file.value_or(""),
        data::record_endings());
}

// Before the first evaluation would find it out.
void check_metric(const std::string& name, bool version_2) {
  check(!name.ends_with("loss"), "question answering is not evaluated by its loss: give --metric_for_best_model f1");
  std::vector<std::string> known = squad_metric_names(version_2);
  for (const char* speed : {"runtime", "samples_per_second", "steps_per_second"}) known.emplace_back(speed);
  check(std::ranges::find(known, evaluation_name(name), evaluation_name) != known.end(),
        "--metric_for_best_model {}: the evaluation will give {}", name, fmt::join(known, ", "));
}

}  // namespace

void declare(Arguments& options, ModelArguments& arguments) {
  options.section("Model");
  options.add("model_name_or_path", &arguments.model_name_or_path, "folder of the model, or its name in the Hub cache")
      .required();
  options.add("config_name", &arguments.config_name, "folder or name of the config, where it is another");
  options.add("tokenizer_name", &arguments.tokenizer_name, "folder or name of the tokenizer, where it is another");
  options.add("cache_dir", &arguments.cache_dir, "the Hub cache, where it is not HF_HUB_CACHE or HF_HOME/hub");
  options.add("model_revision", &arguments.model_revision, "branch, tag or commit in the Hub cache");
  options.add("config_overrides", &arguments.config_overrides,
              "fields of the model's config: hidden_dropout_prob=0,layer_norm_eps=1e-5");
  options.ignored({"token"}, "this version does not reach the Hub");
  options.ignored_switches({"use_auth_token"}, "this version does not reach the Hub");
  options.ignored_switches({"trust_remote_code"}, "no code of a model's folder is ever run");
  options.ignored_switches({"use_fast_tokenizer"}, "there is one tokenizer, and it is fast");
}

void declare(Arguments& options, QaArguments& arguments) {
  options.section("Question answering");
  options.add("train_file", &arguments.train_file, "questions to train on: " + data::record_endings());
  options.add("validation_file", &arguments.validation_file, "questions to evaluate on");
  options.add("test_file", &arguments.test_file, "questions to predict answers for");
  options.add("max_seq_length", &arguments.max_seq_length, "longest window of tokens").at_least(1).at_most(kLargest);
  options.add("doc_stride", &arguments.doc_stride, "tokens that neighbouring windows share").at_least(0);
  options.add("pad_to_max_length", &arguments.pad_to_max_length,
              "compute padding too, up to max_seq_length; False: to the longest of the batch; not given: none");
  options.add("max_train_samples", &arguments.max_train_samples, "first questions and windows to train on").at_least(1);
  options.add("max_eval_samples", &arguments.max_eval_samples, "first ones to evaluate on").at_least(1);
  options.add("max_predict_samples", &arguments.max_predict_samples, "first ones to predict").at_least(1);
  options.add("version_2_with_negative", &arguments.version_2_with_negative, "some questions have no answer");
  options.add("null_score_diff_threshold", &arguments.null_score_diff_threshold,
              "how far no answer must score above the best one to be chosen");
  options.add("n_best_size", &arguments.n_best_size, "answers to consider and to write").at_least(1).at_most(kLargest);
  options.add("max_answer_length", &arguments.max_answer_length, "tokens of the longest answer")
      .at_least(1)
      .at_most(kLargest);
  options.add("overwrite_cache", &arguments.overwrite_cache, "prepare the features anew");
  options.ignored({"preprocessing_num_workers"}, "all threads prepare features");
  options.ignored({"dataset_config_name"}, "it belongs to dataset_name");
  options.refused({"dataset_name"},
                  "needs the Hub, which this version does not reach; give --train_file/--validation_file");
}

void QaArguments::validate(const TrainingArguments& training) const {
  Arguments options;
  QaArguments copy = *this;
  declare(options, copy);
  options.check_values();

  check(train_file || validation_file || test_file,
        "there is no data: give --train_file, --validation_file and/or --test_file");
  check_file(train_file, "--train_file");
  check_file(validation_file, "--validation_file");
  check_file(test_file, "--test_file");
  check(training.do_train || training.do_eval || training.do_predict,
        "there is nothing to do: give --do_train, --do_eval and/or --do_predict");
  check(!training.do_train || train_file, "--do_train needs --train_file");
  check(!training.do_eval || validation_file, "{} needs --validation_file",
        training.eval_strategy == "no" ? "--do_eval" : "--eval_strategy " + training.eval_strategy);
  check(!training.do_predict || test_file, "--do_predict needs --test_file");
  check(doc_stride < max_seq_length, "--doc_stride ({}) must be below --max_seq_length ({})", doc_stride,
        max_seq_length);
  if (training.metric_for_best_model) check_metric(*training.metric_for_best_model, version_2_with_negative);
}

RunQaArguments parse_qa_arguments(std::span<const std::string> words) {
  RunQaArguments result;
  Arguments options(
      "hearth run_qa",
      "Fine-tunes a model for extractive question answering, evaluates it and predicts answers.\n"
      "A first argument that ends in .json is a file with these options as keys; flags after it count more.");
  declare(options, result.model);
  declare(options, result.data);
  declare(options, result.training);
  parse_flags_or_file(options, words);
  if (options.wants_help()) {
    result.help = options.help();
    return result;
  }
  result.training.validate();
  result.data.validate(result.training);
  result.resolved = options.values();
  return result;
}

}  // namespace hearth::tasks
