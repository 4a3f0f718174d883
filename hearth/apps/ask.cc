#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/io/file.h"
#include "hearth/io/hub_cache.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/qa_answer.h"

namespace hearth::apps {

int ask(std::span<const std::string> words) {
  std::string model_name, context_file;
  std::optional<std::string> question;
  std::int64_t n_best = 1;
  std::optional<std::int64_t> doc_stride;
  tasks::AnswerOptions options;
  Arguments arguments("hearth ask", "Answers questions about a text with a fine-tuned model.");
  arguments.add("model", &model_name, "the model folder that run_qa wrote").required();
  arguments.add("context", &context_file, "a text file; '-' is standard input").required();
  arguments.add("question", &question, "the question; without one you are asked for questions until an empty line");
  arguments.add("n_best", &n_best, "how many answers to show").at_least(1).at_most(1000);
  arguments.add("max_seq_length", &options.max_seq_length, "tokens a window").at_least(8);
  arguments.add("doc_stride", &doc_stride, "tokens that neighbouring windows share").at_least(0);
  std::int64_t max_answer_length = options.postprocess.max_answer_length;
  arguments.add("max_answer_length", &max_answer_length, "tokens of the longest answer").at_least(1);
  arguments.add("version_2_with_negative", &options.postprocess.version_2_with_negative,
                "the model may say that there is no answer");
  arguments.parse(words);
  if (arguments.wants_help()) {
    fmt::print("{}", arguments.help());
    return 0;
  }
  options.postprocess.max_answer_length = static_cast<int>(max_answer_length);
  options.postprocess.n_best_size = std::max(options.postprocess.n_best_size, static_cast<int>(n_best));
  check(context_file != "-" || question.has_value(), "with the context on standard input, give the --question");
  const auto folder = io::find_model(model_name, "", "main");
  const auto tokenizer = tokenizer::load_tokenizer(folder);
  const auto model = models::load_pretrained(folder, models::HeadKind::question_answering);
  options.max_seq_length = std::min({options.max_seq_length, model->max_positions(), tokenizer->model_max_length()});
  options.doc_stride = doc_stride.value_or(std::min(options.doc_stride, options.max_seq_length / 3));
  const std::string context =
      context_file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : io::read_file(context_file);
  check(context.find_first_not_of(" \t\r\n") != std::string::npos, "--context {} holds no text", context_file);

  const auto show = [&](const std::string& text) {
    const tasks::QaPrediction prediction = tasks::answer_question(*model, *tokenizer, context, text, options);
    for (std::size_t i = 0; i < std::min(prediction.nbest.size(), static_cast<std::size_t>(n_best)); ++i) {
      const tasks::QaCandidate& candidate = prediction.nbest[i];
      fmt::print("{}  ({:.1f}%)\n", candidate.text.empty() ? "(no answer)" : candidate.text,
                 100 * candidate.probability);
    }
    std::fflush(stdout);
  };
  if (question) {
    show(*question);
    return 0;
  }
  const bool on_terminal = isatty(STDIN_FILENO) != 0;
  for (std::string line;;) {
    if (on_terminal) fmt::print("question> "), std::fflush(stdout);
    if (!std::getline(std::cin, line) || line.find_first_not_of(" \t\r") == std::string::npos) return 0;
    try {
      show(line);
    } catch (const Error& error) {
      log_warning("{}", error.what());
    }
  }
}

}  // namespace hearth::apps
