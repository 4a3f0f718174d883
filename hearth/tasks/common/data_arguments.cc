#include "hearth/tasks/common/data_arguments.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/nearest_name.h"
#include "hearth/data/files.h"
#include "hearth/data/record_format.h"
#include "hearth/io/file.h"
#include "hearth/train/best_metric.h"

namespace hearth::tasks {
namespace {

constexpr std::int64_t kFp16Multiple = 8;  // pad_to_multiple_of of the run_*.py scripts with fp16

}  // namespace

void declare_files(Arguments& options, DataArguments& arguments, std::string_view items, std::string_view endings) {
  options
      .add("train_file", &arguments.train_file,
           fmt::format("training {}: {}; several files, or a pattern such as 'train-*.csv', are read as one", items,
                       endings))
      .per_process();
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
  options
      .add("dataset_name", &arguments.dataset_name,
           fmt::format("{} of a data set on the Hub, or of a folder, in place of files", items))
      .per_process();
  options.add("dataset_config_name", &arguments.dataset_config_name, "configuration of that data set");
}

void check_files(const DataArguments& arguments, const TrainingArguments& training) {
  const auto given = [](const std::vector<std::string>& files) { return !files.empty(); };
  check(arguments.dataset_name || given(arguments.train_file) || given(arguments.validation_file) ||
            given(arguments.test_file),
        "no data was given: add --dataset_name, or --train_file, --validation_file and/or --test_file");
  check(training.do_train || training.do_eval || training.do_predict,
        "there is nothing to do: add --do_train, --do_eval and/or --do_predict");
  if (arguments.dataset_name) return;
  check(!training.do_train || given(arguments.train_file), "--do_train needs --train_file");
  check(!training.do_eval || given(arguments.validation_file), "{} needs --validation_file",
        training.eval_strategy == Strategy::no ? "--do_eval"
                                               : fmt::format("--eval_strategy {}", name_of(training.eval_strategy)));
  check(!training.do_predict || !arguments.test_file.empty(), "--do_predict needs --test_file");
}

void check_readable(const DataArguments& arguments, const TrainingArguments& training) {
  const auto check_all = [](const std::vector<std::string>& names) {
    for (const std::filesystem::path& file : data::files_of(names)) io::check_readable(file);
  };
  if (training.do_train) check_all(arguments.train_file);
  if (training.do_eval) check_all(arguments.validation_file);
  if (training.do_predict) check_all(arguments.test_file);
}

void check_endings(const DataArguments& arguments) {
  const auto check_all = [](const std::vector<std::string>& names, std::string_view flag) {
    for (const std::string& name : names)
      check(data::has_fields(name), "{} {}: the file's name must end in {}", flag, name, data::record_endings());
  };
  check_all(arguments.train_file, "--train_file");
  check_all(arguments.validation_file, "--validation_file");
  check_all(arguments.test_file, "--test_file");
}

std::string card_name(const std::vector<std::string>& names) { return names.empty() ? "" : names.front(); }

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
