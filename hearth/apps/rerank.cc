#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "hearth/apps/command.h"
#include "hearth/apps/embedder_flags.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/text_file.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/usage_error.h"
#include "hearth/data/record_format.h"
#include "hearth/hub/model.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/common/trained_length.h"
#include "hearth/tasks/text_classification/classifier.h"

namespace hearth::apps {
namespace {

struct RerankArguments {
  std::string model, text_column_name;
  std::optional<std::string> query, file;
  std::optional<std::int64_t> top_k, max_seq_length;
  std::int64_t batch_size = 32;
  ComputeDtype dtype = ComputeDtype::fp32;
};

void declare(Arguments& arguments, RerankArguments& args) {
  arguments
      .add("model", &args.model,
           "reranker written by run_classification --cross_encoder or by CrossEncoder of sentence-transformers")
      .alias("model_name_or_path")
      .required();
  arguments.add("query", &args.query, "question that the texts of --file are ordered for");
  arguments.add("file", &args.file, fmt::format("texts to order: {}, or one per line", data::record_endings()));
  arguments.add("text_column_name", &args.text_column_name, "column of the texts in --file; if not given, text");
  arguments.add("top_k", &args.top_k, "show the N best texts; if not given, all").at_least(1);
  arguments
      .add("max_seq_length", &args.max_seq_length, "maximum tokens per pair; if not given, as the model was trained")
      .at_least(1);
  arguments.add("batch_size", &args.batch_size, "number of pairs that are computed together").at_least(1);
  arguments.add("dtype", choice(&args.dtype), "dtype of matmuls");
  arguments.examples(
      {"hearth rerank --model reranker --query \"How far is the moon?\" --file passages.txt --top_k 3",
       "hearth search --model out --file corpus.txt --embeddings corpus.npy --query \"...\" --top_k 20 | "
       "hearth rerank --model reranker"});
}

// A query and texts that may answer it.
struct Candidates {
  std::string query;
  std::vector<std::string> texts;
  std::vector<std::int64_t> ids;
};

Candidates parsed(const std::string& line) {
  const std::string name = "standard input";
  const io::Json found = io::parse_json(line, name);
  Candidates candidates{io::get_string(found, "query", name), {}, {}};
  const auto results = found.find("results");
  check(results != found.end() && results->is_array(),
        "{}: a line must be JSON of hearth search, {{\"query\": ..., \"results\": [...]}}", name);
  for (const io::Json& each : *results) {
    candidates.texts.push_back(io::get_string(each, "text", name));
    candidates.ids.push_back(io::get_int(each, "corpus_id", name));
  }
  return candidates;
}

void print_ordered(tasks::TextClassifier& reranker, const Candidates& candidates, std::optional<std::int64_t> top_k) {
  const std::vector<std::string> queries(candidates.texts.size(), candidates.query);
  std::vector<std::pair<double, std::size_t>> order;
  if (!queries.empty())
    for (const auto& scores : reranker.classify({queries, candidates.texts}))
      order.emplace_back(scores.front().score, order.size());
  std::ranges::stable_sort(order, std::greater(), [](const auto& each) { return each.first; });
  if (top_k && *top_k < std::ssize(order)) order.resize(static_cast<std::size_t>(*top_k));
  io::Json results = io::Json::array();
  for (const auto& [score, place] : order)
    results.push_back({{"corpus_id", candidates.ids[place]}, {"score", score}, {"text", candidates.texts[place]}});
  fmt::print("{}\n", io::dump_json({{"query", candidates.query}, {"results", results}}, io::kOneLine));
  std::fflush(stdout);
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
  if (!parse_or_print_help(arguments, words)) return 0;
  set_log_sink({});  // messages go to stderr: standard output has the results alone
  as_usage([&] { check(args.query.has_value() == args.file.has_value(), "--query and --file belong together"); });
  if (args.file) io::check_readable(*args.file);
  const std::filesystem::path folder = hub::find_model(args.model, hub::ModelParts::all);
  const std::int64_t length = args.max_seq_length.value_or(tasks::trained_length(folder, tokenizer::kUnlimited));
  tasks::TextClassifier reranker(folder, {length, args.batch_size, dtype_of(args.dtype)});
  check(reranker.label_count() == 1,
        "{} has {} labels, but a reranker has one; train it with hearth run_classification --cross_encoder", args.model,
        reranker.label_count());
  if (args.query) {
    Candidates candidates{*args.query, read_text_file(*args.file, args.text_column_name), {}};
    for (std::int64_t id = 0; id < std::ssize(candidates.texts); ++id) candidates.ids.push_back(id);
    print_ordered(reranker, candidates, args.top_k);
  } else {
    for_each_input_line({"Paste a line of hearth search and press Enter; Ctrl-D ends.", "results> ", "rerank_history"},
                        [&](const std::string& line) { print_ordered(reranker, parsed(line), args.top_k); });
  }
  return 0;
}

}  // namespace hearth::apps
