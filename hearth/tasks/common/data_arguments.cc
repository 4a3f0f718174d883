#include "hearth/tasks/common/data_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/nearest_name.h"
#include "hearth/io/file.h"
#include "hearth/train/best_metric.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kFp16Multiple = 8;  // pad_to_multiple_of of the run_*.py scripts with fp16

}  // namespace

void declare_files(Arguments& options, DataArguments& arguments, std::string_view items, std::string_view endings) {
  options.add("train_file", &arguments.train_file, fmt::format("training {}: {}", items, endings)).per_process();
  options.add("validation_file", &arguments.validation_file, fmt::format("evaluation {}, same formats", items))
      .per_process();
  options.add("test_file", &arguments.test_file, fmt::format("{} to make predictions for, same formats", items))
      .per_process();
}

void declare_samples(Arguments& options, DataArguments& arguments, std::string_view items, std::string_view rest) {
  options.add("pad_to_max_length", &arguments.pad_to_max_length,
              "pad every input to max_seq_length; False: pad to the longest of the batch; by default inputs are packed "
              "without padding, which is fastest");
  const auto add = [&](const char* name, std::optional<std::int64_t>* target, const char* verb) {
    options.add(name, target, fmt::format("{} the first N {}{}", verb, items, rest)).at_least(1);
  };
  add("max_train_samples", &arguments.max_train_samples, "train on");
  add("max_eval_samples", &arguments.max_eval_samples, "evaluate on");
  add("max_predict_samples", &arguments.max_predict_samples, "predict for");
  options.ignored({"preprocessing_num_workers"}, "all threads tokenize");
  options.ignored({"dataset_config_name"}, "it selects a part of --dataset_name, which is refused");
  options.refused(
      {"dataset_name"},
      "needs downloads from the Hub, which are not implemented yet; give --train_file and --validation_file");
}

void check_files(const DataArguments& arguments, const TrainingArguments& training) {
  check(arguments.train_file || arguments.validation_file || arguments.test_file,
        "no data was given: add --train_file, --validation_file and/or --test_file");
  check(training.do_train || training.do_eval || training.do_predict,
        "there is nothing to do: add --do_train, --do_eval and/or --do_predict");
  check(!training.do_train || arguments.train_file, "--do_train needs --train_file");
  check(!training.do_eval || arguments.validation_file, "{} needs --validation_file",
        training.eval_strategy == Strategy::no ? "--do_eval"
                                               : fmt::format("--eval_strategy {}", name_of(training.eval_strategy)));
  check(!training.do_predict || arguments.test_file, "--do_predict needs --test_file");
}

void check_readable(const DataArguments& arguments, const TrainingArguments& training) {
  if (training.do_train) io::check_readable(*arguments.train_file);
  if (training.do_eval) io::check_readable(*arguments.validation_file);
  if (training.do_predict) io::check_readable(*arguments.test_file);
}

void check_best_metric(const TrainingArguments& training, std::vector<std::string> known) {
  if (!training.metric_for_best_model) return;
  const std::string& name = *training.metric_for_best_model;
  for (const char* speed : {"runtime", "samples_per_second", "steps_per_second"}) known.emplace_back(speed);
  check(std::ranges::find(known, evaluation_name(name), evaluation_name) != known.end(),
        "--metric_for_best_model {} is not a metric of this task, which has {}{}", name, fmt::join(known, ", "),
        did_you_mean(nearest_name(name, known)));
}

std::int64_t usable_length(std::int64_t wanted, const tokenizer::Tokenizer& tokenizer, std::int64_t model_positions,
                           bool warns) {
  std::int64_t length = wanted;
  if (length > tokenizer.model_max_length()) {
    length = tokenizer.model_max_length();
    if (warns) log_warning("max_seq_length {} is beyond the tokenizer's model_max_length; using {}", wanted, length);
  }
  check(length <= model_positions, "max_seq_length {} is beyond the model's {} positions; give --max_seq_length {}",
        length, model_positions, model_positions);
  return length;
}

CollateOptions collate_options(const DataArguments& arguments, const TrainingArguments& training,
                               const tokenizer::Tokenizer& tokenizer, std::int64_t max_seq_length) {
  return {.padding = padding_of(arguments.pad_to_max_length),
          .max_seq_length = max_seq_length,
          .pad_to_multiple_of = training.fp16 ? kFp16Multiple : 1,
          .pad_id = tokenizer.special("pad").value_or(0)};
}

void log_padding(const TokenRows& rows, const CollateOptions& options) {
  const std::int64_t padded = std::max<std::int64_t>(1, rows.rows() * options.max_seq_length);
  switch (options.padding) {
    case Padding::packed:
      return log_info(
          "packed batches: {} tokens in {} features, no padding ({:.0f}% of padded positions); "
          "--pad_to_max_length True computes the padding as the Trainer does",
          rows.tokens(), rows.rows(), 100.0 * static_cast<double>(rows.tokens()) / static_cast<double>(padded));
    case Padding::longest:
      return log_info("batches padded to their longest sequence, as asked for");
    case Padding::max_length:
      return log_info("batches padded to {} positions, as asked for", options.max_seq_length);
  }
}

}  // namespace hearth::tasks
