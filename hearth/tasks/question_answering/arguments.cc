#include "hearth/tasks/question_answering/arguments.h"

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/tasks/question_answering/answer_options.h"
#include "hearth/tasks/question_answering/squad_metric.h"

namespace hearth::tasks {
void declare(Arguments& options, QaArguments& arguments) {
  options.section("Question answering");
  declare_files(options, arguments, "questions", data::record_endings());
  declare(options, AnswerOptionTargets{&arguments.max_seq_length, &arguments.doc_stride, &arguments.max_answer_length,
                                       &arguments.n_best_size, &arguments.version_2_with_negative,
                                       &arguments.null_score_diff_threshold});
  declare_samples(options, arguments, "questions", " (and at most N features)");
  options.add("overwrite_cache", &arguments.overwrite_cache, "tokenize again even if the features are in the cache")
      .per_process();
}

void QaArguments::validate(const TrainingArguments& training) const {
  Arguments options;
  QaArguments copy = *this;
  declare(options, copy);
  options.check_values();

  check_endings(*this);
  check_files(*this, training);
  check(doc_stride < max_seq_length, "--doc_stride ({}) must be below --max_seq_length ({})", doc_stride,
        max_seq_length);
  const std::string metric = training.metric_for_best_model.value_or("");
  check(!metric.ends_with("loss"),
        "--metric_for_best_model {}: question answering has no evaluation loss; use --metric_for_best_model f1",
        metric);
  check_best_metric(training, squad_metric_names(version_2_with_negative));
}

}  // namespace hearth::tasks
