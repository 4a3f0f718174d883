#include <algorithm>
#include <functional>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/model_flags.h"
#include "hearth/apps/search_results.h"
#include "hearth/apps/text_file.h"
#include "hearth/base/check.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/file.h"

namespace hearth::apps {
namespace {

constexpr const char* kSource = "the line";  // its number is named by for_each_input_line

struct RerankArguments {
  ClassifierFlags model;
  TextFileFlags texts;
  std::optional<std::string> query;
  std::optional<std::int64_t> top_k;
};

void declare(Arguments& arguments, RerankArguments& args) {
  args.model.declare(
      arguments, "reranker written by run_classification --cross_encoder or by CrossEncoder of sentence-transformers");
  arguments.add("query", &args.query, "question that the texts of --file are ordered for");
  args.texts.declare(arguments, "texts to order", TextFileFlags::File::optional);
  arguments.add("top_k", &args.top_k, "show the N best texts; if not given, all").at_least(1);
  arguments.examples(
      {"hearth rerank --model reranker --query \"How far is the moon?\" --file passages.txt --top_k 3",
       "hearth search --model out --file corpus.txt --embeddings corpus.npy --query \"...\" --top_k 20 | "
       "hearth rerank --model reranker"});
}

// The texts of --file, none of them scored yet.
SearchResults candidates_of(const RerankArguments& args) {
  SearchResults candidates{*args.query, {}};
  for (const std::string& text : args.texts.read())
    candidates.results.push_back({std::ssize(candidates.results), 0, text});
  return candidates;
}

void print_ordered(tasks::TextClassifier& reranker, SearchResults found, std::optional<std::int64_t> top_k) {
  std::vector<std::string> texts;
  for (const SearchResults::Result& each : found.results) texts.push_back(each.text);
  const std::vector<std::string> queries(texts.size(), found.query);
  if (!texts.empty()) {
    const auto scores = reranker.classify({queries, texts});
    for (std::size_t i = 0; i < texts.size(); ++i) found.results[i].score = scores[i].front().score;
  }
  std::ranges::stable_sort(found.results, std::greater(), &SearchResults::Result::score);
  if (top_k && *top_k < std::ssize(found.results)) found.results.resize(static_cast<std::size_t>(*top_k));
  found.print();
}

}  // namespace

int rerank(std::span<const std::string> words) {
  RerankArguments args;
  Arguments arguments(
      "hearth rerank",
      "Orders texts by how well they answer a query, with a model that reads both together.\nReads the "
      "lines that hearth search prints, or the texts of --file for one --query. Prints one line of JSON "
      "per query.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, true)) return 0;
  args.model.check_usage();
  as_usage([&] {
    check(args.query.has_value() == args.texts.file.has_value(), "--query and --file belong together");
    if (args.query) check_utf8(*args.query, "--query");
  });
  if (args.texts.file) io::check_readable(*args.texts.file);
  tasks::TextClassifier reranker = args.model.classifier(tokenizer::kUnlimited);
  check(reranker.label_count() == 1,
        "{} has {} labels, but a reranker has one; train it with hearth run_classification --cross_encoder",
        args.model.model, reranker.label_count());
  if (args.query) {
    print_ordered(reranker, candidates_of(args), args.top_k);
  } else {
    for_each_input_line({"Paste a line of hearth search and press Enter; Ctrl-D ends.", "results> ", "rerank_history"},
                        [&](const std::string& line) {
                          if (!is_blank(line)) print_ordered(reranker, SearchResults::parse(line, kSource), args.top_k);
                        });
  }
  return 0;
}

}  // namespace hearth::apps
