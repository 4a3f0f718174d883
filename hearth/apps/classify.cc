#include <fmt/format.h>

#include <cstdio>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/model_flags.h"
#include "hearth/base/check.h"
#include "hearth/base/usage_error.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/common/name_list.h"
#include "hearth/tasks/text_classification/classifier.h"
#include "hearth/tasks/text_classification/columns.h"

namespace hearth::apps {
namespace {

struct ClassifyArguments {
  ClassifierFlags model;
  std::optional<std::string> text, text_pair, file, text_column_names, text_pair_column_names;
  std::string text_column_delimiter = " ";
  std::optional<std::int64_t> top_k;
};

void declare(Arguments& arguments, ClassifyArguments& args) {
  args.model.declare(arguments,
                     "model folder written by run_glue or run_classification, or name in the Hugging Face cache");
  arguments.add("text", &args.text, "text to classify; without it and --file, each line of standard input is one");
  arguments.add("text_pair", &args.text_pair, "second text of a pair");
  arguments.add("file", &args.file,
                fmt::format("file of texts: {}, or any other ending for one text per line", data::record_endings()));
  arguments.add(
      "text_column_names", &args.text_column_names,
      "columns of the text in --file, with commas between them; if not given, sentence1 and sentence2 as a pair, "
      "or sentence");
  arguments.add("text_pair_column_names", &args.text_pair_column_names, "columns of the second text of a pair");
  arguments.add("text_column_delimiter", &args.text_column_delimiter, "what stands between joined columns");
  arguments.add("top_k", &args.top_k, "also print the scores of the N best labels; 0: of all").at_least(0);
  arguments.examples(
      {"hearth classify --model out --text \"Warm, patient and funny.\"",
       "hearth classify --model out --text \"How old is she?\" --text_pair \"What is her age?\" --top_k 0",
       "hearth classify --model out --file reviews.csv --text_column_names title,body",
       "hearth classify --model out < lines.txt"});
}

void check_usage(const ClassifyArguments& args) {
  args.model.check_usage();
  as_usage([&] {
    check(!args.text || !args.file, "give either --text or --file");
    check(!args.text_pair || args.text, "--text_pair needs --text, the first text of the pair");
    if (args.text) check_utf8(*args.text, "--text");
    if (args.text_pair) check_utf8(*args.text_pair, "--text_pair");
    check(!args.text_pair_column_names || args.text_column_names,
          "--text_pair_column_names needs --text_column_names, the columns of the first text");
  });
}

// A tab separates the texts of a pair.
void add_line(tasks::TextRows& rows, const std::string& line) {
  const std::size_t tab = line.find('\t');
  rows.first.push_back(line.substr(0, tab));
  rows.second.push_back(tab == line.npos ? "" : line.substr(tab + 1));
}

// Lines without a pair are single texts, and those of a file are all of one kind.
tasks::TextRows finished(tasks::TextRows rows, const std::string& file) {
  std::size_t pairs = 0;
  for (const std::string& second : rows.second) pairs += !second.empty();
  if (pairs == 0) rows.second.clear();
  check(pairs == 0 || pairs == rows.first.size(),
        "{}: {} of {} lines have a tab, which separates the texts of a pair; give all lines one, or none", file, pairs,
        rows.first.size());
  return rows;
}

tasks::TextRows lines_of(const std::string& file) {
  tasks::TextRows rows;
  data::TextLines lines{io::TextBuffer(file)};
  for (std::string_view line; lines.next(line);) add_line(rows, std::string(line));
  check(rows.size() > 0, "{} is empty; write one text per line", file);
  return finished(std::move(rows), file);
}

tasks::TextRows rows_of(const ClassifyArguments& args) {
  if (!data::has_fields(*args.file)) return lines_of(*args.file);
  const data::Table table = data::read_table(*args.file);
  tasks::TextColumns columns{tasks::names_in(args.text_column_names.value_or("")),
                             tasks::names_in(args.text_pair_column_names.value_or("")), args.text_column_delimiter};
  if (!args.text_column_names)
    columns = table.find("sentence1") && table.find("sentence2") ? tasks::glue_columns(table)
                                                                 : tasks::sentence_column(table, columns.label, {});
  return text_rows(table, columns, tasks::LabelsIn::nowhere);
}

void print_classes(tasks::TextClassifier& classifier, const tasks::TextSpans& texts, const ClassifyArguments& args) {
  for (const auto& scores : classifier.classify(texts))
    fmt::print("{}\n", io::dump_json(tasks::classification_json(scores, args.top_k, classifier.has_several_labels()),
                                     io::kOneLine));
  std::fflush(stdout);
}

void classify_file(tasks::TextClassifier& classifier, const ClassifyArguments& args) {
  const tasks::TextRows rows = rows_of(args);
  const auto step = static_cast<std::size_t>(args.model.batch_size);
  for (std::size_t begin = 0; begin < rows.first.size(); begin += step) {
    const std::size_t count = std::min(step, rows.first.size() - begin);
    const auto part = [&](const std::vector<std::string>& texts) {
      return texts.empty() ? std::span<const std::string>() : std::span(texts).subspan(begin, count);
    };
    print_classes(classifier, {part(rows.first), part(rows.second)}, args);
  }
}

void classify_line(tasks::TextClassifier& classifier, const std::string& line, const ClassifyArguments& args) {
  tasks::TextRows rows;
  add_line(rows, line);
  print_classes(classifier, finished(std::move(rows), "standard input").texts(), args);
}

}  // namespace

int classify(std::span<const std::string> words) {
  ClassifyArguments args;
  Arguments arguments(
      "hearth classify",
      "Classifies texts with a fine-tuned model. Prints one line of JSON per text: the best label and its "
      "score.\nIn lines of standard input and of text files, a tab separates the two texts of a pair.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, true)) return 0;
  check_usage(args);
  if (args.file) io::check_readable(*args.file);
  tasks::TextClassifier classifier = args.model.classifier();
  if (args.file) {
    classify_file(classifier, args);
  } else if (args.text) {
    const std::vector<std::string> first{*args.text}, second{args.text_pair.value_or("")};
    print_classes(classifier,
                  {first, args.text_pair ? std::span<const std::string>(second) : std::span<const std::string>()},
                  args);
  } else {
    for_each_input_line({"Type a text and press Enter; Ctrl-D ends.", "text> ", "classify_history"},
                        [&](const std::string& line) { classify_line(classifier, line, args); });
  }
  return 0;
}

}  // namespace hearth::apps
