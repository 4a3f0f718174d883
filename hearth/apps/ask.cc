#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/base/check.h"
#include "hearth/base/text_layout.h"
#include "hearth/base/usage_error.h"
#include "hearth/hub/model.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/common/needed_head.h"
#include "hearth/tasks/question_answering/answer.h"
#include "hearth/tasks/question_answering/answer_options.h"

namespace hearth::apps {
namespace {

constexpr tasks::NeededHead kNeededHead{models::HeadKind::question_answering, "question answering", "hearth run_qa"};

struct AskArguments {
  std::string model;
  std::optional<std::string> context, context_text, question;
  std::int64_t n_best = 1;
  bool json = false;
  // If not given: as the model was trained.
  std::optional<std::int64_t> max_seq_length, doc_stride, max_answer_length, n_best_size;
  std::optional<bool> version_2_with_negative;
  std::optional<double> null_score_diff_threshold;
};

void declare(Arguments& arguments, AskArguments& args) {
  arguments.add("model", &args.model, "model folder written by run_qa, or model name in the Hugging Face cache")
      .alias("model_name_or_path")
      .required();
  arguments.add("context", &args.context, "text file that holds the answers; - is standard input");
  arguments.add("context_text", &args.context_text, "the text itself, instead of --context");
  arguments.add("question", &args.question,
                "question; without it, questions are read from standard input, one per line");
  arguments.add("n_best", &args.n_best, "number of answers to show").at_least(1).at_most(1000);
  arguments.add("json", &args.json, "print one JSON object per question");
  arguments.section("As the model was trained, by its training_args.json, unless given");
  tasks::declare(arguments, {&args.max_seq_length, &args.doc_stride, &args.max_answer_length, &args.n_best_size,
                             &args.version_2_with_negative, &args.null_score_diff_threshold});
  arguments.examples(
      {"hearth ask --model out --context article.txt --question \"Who wrote it?\"",
       "hearth ask --model out --context article.txt",
       "hearth ask --model out --context_text \"$(cat article.txt)\" --n_best 3 --json < questions.txt"});
}

void check_usage(const AskArguments& args) {
  as_usage([&] {
    check(args.context.has_value() != args.context_text.has_value(),
          "give either --context FILE or --context_text TEXT");
    check(!args.question || !is_blank(*args.question), "--question is empty: write a question");
    if (args.question) check_utf8(*args.question, "--question");
    check(args.context != "-" || args.question, "--context - reads standard input to its end: also give --question");
  });
}

std::string read_context(const AskArguments& args) {
  const std::string text = args.context_text     ? *args.context_text
                           : args.context == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                                 : io::read_stream(*args.context);
  const std::string name = args.context_text ? "--context_text" : "--context " + *args.context;
  check(!is_blank(text), "{} contains no text", name);
  check_utf8(text, name);
  return text;
}

tasks::AnswerOptions options_of(const AskArguments& args, const std::filesystem::path& folder,
                                std::int64_t longest_input) {
  const tasks::AnswerOptions trained = tasks::trained_options(folder);
  tasks::AnswerOptions options = trained;
  options.max_seq_length = std::min(args.max_seq_length.value_or(trained.max_seq_length), longest_input);
  if (options.max_seq_length != trained.max_seq_length)
    options.doc_stride = std::min(options.doc_stride, options.max_seq_length / 3);
  options.doc_stride = args.doc_stride.value_or(options.doc_stride);
  tasks::QaPostprocessOptions& postprocess = options.postprocess;
  postprocess.max_answer_length = static_cast<int>(args.max_answer_length.value_or(postprocess.max_answer_length));
  postprocess.n_best_size = static_cast<int>(std::max(args.n_best_size.value_or(postprocess.n_best_size), args.n_best));
  postprocess.version_2_with_negative = args.version_2_with_negative.value_or(postprocess.version_2_with_negative);
  postprocess.null_score_diff_threshold =
      static_cast<float>(args.null_score_diff_threshold.value_or(postprocess.null_score_diff_threshold));
  return options;
}

// A terminal must not obey what stands in a text; a file gets the text as it is.
std::string shown(const std::string& text) { return isatty(STDOUT_FILENO) != 0 ? printable_lines(text) : text; }

void print(const std::string& question, const std::vector<tasks::QaCandidate>& answers, bool json) {
  if (json) {
    fmt::print("{}\n", io::dump_json(tasks::answers_json(question, answers), io::kOneLine));
  } else {
    for (const tasks::QaCandidate& answer : answers)
      fmt::print("{}  ({:.1f}%)\n", answer.text.empty() ? "(no answer)" : shown(answer.text), 100 * answer.probability);
  }
  std::fflush(stdout);
}

}  // namespace

int ask(std::span<const std::string> words) {
  AskArguments args;
  Arguments arguments("hearth ask",
                      "Answers questions about a text with a fine-tuned model.\n"
                      "On a terminal, questions can be edited and recalled with the arrow keys; their history is in "
                      "~/.local/state/hearth/ask_history.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, args.json)) return 0;
  check_usage(args);
  const auto folder = hub::find_model(args.model, hub::ModelParts::all);
  const auto tokenizer = tokenizer::load_tokenizer(folder);
  const auto model = tasks::load_with_head(folder, kNeededHead);
  const std::string context = read_context(args);
  const tasks::AnswerOptions options =
      options_of(args, folder, std::min(model->max_positions(), tokenizer->model_max_length()));
  const auto answer = [&](const std::string& question) {
    const tasks::QaPrediction prediction = tasks::answer_question(*model, *tokenizer, context, question, options);
    print(question, tasks::best_answers(prediction, static_cast<std::size_t>(args.n_best)), args.json);
  };
  if (args.question) {
    answer(*args.question);
  } else {
    for_each_input_line({"Type a question and press Enter; Ctrl-D ends.", "question> ", "ask_history"},
                        [&](const std::string& question) {
                          if (!is_blank(question)) answer(question);
                        });
  }
  return 0;
}

}  // namespace hearth::apps
