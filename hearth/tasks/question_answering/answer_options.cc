#include "hearth/tasks/question_answering/answer_options.h"

namespace hearth::tasks {

void declare(Arguments& options, const AnswerOptionTargets& targets) {
  const auto add_count = [&](const char* name, ArgumentTarget target, const char* help, double least) {
    options.add(name, target, help).at_least(least).at_most(kLargestCount);
  };
  add_count("max_seq_length", targets.max_seq_length, "maximum tokens per input: question and a window of the context",
            1);
  add_count("doc_stride", targets.doc_stride, "overlap between the windows of a long context, in tokens", 0);
  add_count("max_answer_length", targets.max_answer_length, "maximum tokens per answer", 1);
  add_count("n_best_size", targets.n_best_size, "number of n-best predictions per question", 1);
  options.add("version_2_with_negative", targets.version_2_with_negative, "SQuAD v2: some questions have no answer");
  options.add("null_score_diff_threshold", targets.null_score_diff_threshold,
              "predict no answer if its score minus the best answer's score is above this");
}

}  // namespace hearth::tasks
