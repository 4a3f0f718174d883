#include "hearth/tasks/masked_lm/arguments.h"

#include "hearth/base/check.h"
#include "hearth/tasks/masked_lm/texts.h"

namespace hearth::tasks {

void declare(Arguments& options, MaskedLmArguments& arguments) {
  options.section("Masked language modelling");
  declare_files(options, arguments, "texts", text_endings());
  options
      .add("validation_split_percentage", &arguments.validation_split_percentage,
           "percentage of the training rows, from the first on, to evaluate on if there is no validation_file")
      .at_least(1)
      .at_most(99);
  options
      .add("max_seq_length", &arguments.max_seq_length,
           "tokens per sequence; otherwise as many as tokenizer and model allow, at most 1024")
      .at_least(1);
  options.add("mlm_probability", &arguments.mlm_probability, "share of the tokens to mask, above 0 and below 1");
  options.add("line_by_line", &arguments.line_by_line,
              "each row is a sequence, blank rows are left out; otherwise rows are joined and cut into sequences of "
              "max_seq_length tokens");
  options.add("whole_word_mask", &arguments.whole_word_mask,
              "mask all tokens of a word or none, as DataCollatorForWholeWordMask");
  declare_samples(options, arguments, "sequences");
  options.ignored_switches({"overwrite_cache"}, "the tokens of this task are not cached");
  options.ignored_switches({"streaming"}, "files are read into memory");
  options.ignored_switches({"low_cpu_mem_usage"}, "weights are loaded once");
  options.ignored({"torch_dtype", "dtype"}, "weights are kept in fp32; --bf16 and --fp16 choose the dtype of matmuls");
}

DataArguments MaskedLmArguments::files() const {
  DataArguments files = *this;
  if (files.validation_file.empty()) files.validation_file = train_file;
  return files;
}

void MaskedLmArguments::validate(const TrainingArguments& training) const {
  Arguments options;
  MaskedLmArguments copy = *this;
  declare(options, copy);
  options.check_values();
  check(mlm_probability > 0 && mlm_probability < 1,
        "--mlm_probability is {}; it must lie above 0 and below 1, such as 0.15", mlm_probability);
  check_files(files(), training);
  check_best_metric(training, {"loss", "accuracy"});
}

}  // namespace hearth::tasks
