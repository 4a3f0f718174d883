#include "hearth/tasks/qa_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "hearth/base/error.h"
#include "hearth/base/nearest_name.h"
#include "hearth/base/usage_error.h"
#include "hearth/data/record_format.h"
#include "hearth/tasks/answer_options.h"
#include "hearth/tasks/squad_metric.h"
#include "hearth/train/best_metric.h"

namespace hearth::tasks {
namespace {

void check_file(const std::optional<std::string>& file, std::string_view flag) {
  check(!file || data::record_format_of(*file), "{} {}: the file's name must end in {}", flag, file.value_or(""),
        data::record_endings());
}

// A wrong name is found before training, not at the first evaluation.
void check_metric(const std::string& name, bool version_2) {
  check(!name.ends_with("loss"),
        "--metric_for_best_model {}: question answering has no evaluation loss; use --metric_for_best_model f1", name);
  std::vector<std::string> known = squad_metric_names(version_2);
  for (const char* speed : {"runtime", "samples_per_second", "steps_per_second"}) known.emplace_back(speed);
  check(std::ranges::find(known, evaluation_name(name), evaluation_name) != known.end(),
        "--metric_for_best_model {} is not a metric of this task, which has {}{}", name, fmt::join(known, ", "),
        did_you_mean(nearest_name(name, known)));
}

}  // namespace

void declare(Arguments& options, ModelArguments& arguments) {
  options.section("Model");
  options
      .add("model_name_or_path", &arguments.model_name_or_path, "model folder, or model name in the Hugging Face cache")
      .required();
  options.add("config_name", &arguments.config_name, "folder or name of the config, if not that of the model");
  options.add("tokenizer_name", &arguments.tokenizer_name, "folder or name of the tokenizer, if not that of the model");
  options.add("cache_dir", &arguments.cache_dir, "Hugging Face cache folder, if not the one that transformers uses");
  options.add("model_revision", &arguments.model_revision, "branch, tag or commit of the model in that cache");
  options.add("config_overrides", &arguments.config_overrides,
              "fields of config.json to change: hidden_dropout_prob=0,layer_norm_eps=1e-5");
  options.ignored({"token"}, "downloads from the Hub are not implemented yet");
  options.ignored_switches({"use_auth_token"}, "downloads from the Hub are not implemented yet");
  options.ignored_switches({"trust_remote_code"}, "Hearth never runs code from a model folder");
  options.ignored_switches({"use_fast_tokenizer"}, "the only tokenizer is a fast one");
}

void declare(Arguments& options, QaArguments& arguments) {
  options.section("Question answering");
  options.add("train_file", &arguments.train_file, "training questions: " + data::record_endings());
  options.add("validation_file", &arguments.validation_file, "evaluation questions, same formats");
  options.add("test_file", &arguments.test_file, "questions to predict answers for, same formats");
  declare(options, AnswerOptionTargets{&arguments.max_seq_length, &arguments.doc_stride, &arguments.max_answer_length,
                                       &arguments.n_best_size, &arguments.version_2_with_negative,
                                       &arguments.null_score_diff_threshold});
  options.add("pad_to_max_length", &arguments.pad_to_max_length,
              "pad every input to max_seq_length; False: pad to the longest of the batch; by default inputs are packed "
              "without padding, which is fastest");
  options
      .add("max_train_samples", &arguments.max_train_samples, "train on the first N questions (and at most N features)")
      .at_least(1);
  options
      .add("max_eval_samples", &arguments.max_eval_samples,
           "evaluate on the first N questions (and at most N features)")
      .at_least(1);
  options
      .add("max_predict_samples", &arguments.max_predict_samples,
           "predict for the first N questions (and at most N features)")
      .at_least(1);
  options.add("overwrite_cache", &arguments.overwrite_cache, "tokenize again even if the features are in the cache");
  options.ignored({"preprocessing_num_workers"}, "all threads tokenize");
  options.ignored({"dataset_config_name"}, "it selects a part of --dataset_name, which is refused");
  options.refused(
      {"dataset_name"},
      "needs downloads from the Hub, which are not implemented yet; give --train_file and --validation_file");
}

void QaArguments::validate(const TrainingArguments& training) const {
  Arguments options;
  QaArguments copy = *this;
  declare(options, copy);
  options.check_values();

  check(train_file || validation_file || test_file,
        "no data was given: add --train_file, --validation_file and/or --test_file");
  check_file(train_file, "--train_file");
  check_file(validation_file, "--validation_file");
  check_file(test_file, "--test_file");
  check(training.do_train || training.do_eval || training.do_predict,
        "there is nothing to do: add --do_train, --do_eval and/or --do_predict");
  check(!training.do_train || train_file, "--do_train needs --train_file");
  check(!training.do_eval || validation_file, "{} needs --validation_file",
        training.eval_strategy == "no" ? "--do_eval" : "--eval_strategy " + training.eval_strategy);
  check(!training.do_predict || test_file, "--do_predict needs --test_file");
  check(doc_stride < max_seq_length, "--doc_stride ({}) must be below --max_seq_length ({})", doc_stride,
        max_seq_length);
  if (training.metric_for_best_model) check_metric(*training.metric_for_best_model, version_2_with_negative);
}

void declare(Arguments& options, RunQaArguments& arguments) {
  declare(options, arguments.model);
  declare(options, arguments.data);
  declare(options, arguments.training);
}

RunQaArguments parse_qa_arguments(std::span<const std::string> words) {
  RunQaArguments result;
  Arguments options(
      "hearth run_qa [options.yaml]",
      "Fine-tunes a model for extractive question answering, evaluates it and predicts answers.\n"
      "A first argument that ends in .json, .yaml or .yml is a file with these options as keys; flags override it.\n"
      "A unique prefix of a flag is enough: --max_train 100 is --max_train_samples 100.");
  options.examples({
      "hearth run_qa --model_name_or_path bert-base-uncased --train_file train.json --do_train --bf16 --output_dir out",
      "hearth run_qa --model_name_or_path out --validation_file dev.json --do_eval --output_dir out",
      "hearth run_qa options.yaml --learning_rate 2e-5",
      "hearth launch --num_processes 2 run_qa options.yaml",
  });
  declare(options, result);
  parse_flags_or_file(options, words);
  if (options.wants_help()) {
    result.help = options.help();
    return result;
  }
  as_usage([&] {
    take_precision_of_launcher(result.training);
    result.training.validate();
    result.data.validate(result.training);
  });
  result.resolved = options.values();
  result.notices = options.notices();
  return result;
}

}  // namespace hearth::tasks
