#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/model_flags.h"
#include "hearth/apps/search_results.h"
#include "hearth/apps/text_file.h"
#include "hearth/base/check.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/file.h"
#include "hearth/io/npy.h"

namespace hearth::apps {
namespace {

struct SearchArguments {
  EmbedderFlags embedder;
  TextFileFlags texts;
  std::string embeddings;
  std::optional<std::string> query, queries_file;
  std::int64_t top_k = 10;
};

void declare(Arguments& arguments, SearchArguments& args) {
  args.embedder.declare(arguments);
  args.texts.declare(arguments, "texts to search", TextFileFlags::File::required);
  arguments.add("embeddings", &args.embeddings, "embeddings of these texts, which hearth embed --output wrote: .npy")
      .required();
  arguments.add("query", &args.query, "what to search for; without it, each line of standard input is a query");
  arguments.add("queries_file", &args.queries_file, "file of queries, in the same forms as --file");
  arguments.add("top_k", &args.top_k, "number of texts to show per query").at_least(1);
  arguments.examples(
      {"hearth embed --model out --file corpus.txt --output corpus.npy",
       "hearth search --model out --file corpus.txt --embeddings corpus.npy --query \"How far is the moon?\"",
       "hearth search --model out --file corpus.txt --embeddings corpus.npy --top_k 20 < questions.txt | "
       "hearth rerank --model reranker"});
}

// The texts with their embeddings.
class Corpus {
 public:
  explicit Corpus(const SearchArguments& args, const tasks::Embedder& embedder)
      : texts_(args.texts.read()), embeddings_(io::read_npy(args.embeddings)) {
    check(embeddings_.rows() == std::ssize(texts_), "{} has {} embeddings, but {} has {} texts; embed the texts again",
          args.embeddings, embeddings_.rows(), *args.texts.file, texts_.size());
    check(embeddings_.row_size() == embedder.dimension(),
          "{} has embeddings of {} numbers, but those of {} have {}; embed the texts with this model", args.embeddings,
          embeddings_.row_size(), args.embedder.model, embedder.dimension());
  }

  void print_nearest(tasks::Embedder& embedder, const std::vector<std::string>& queries, std::int64_t count) const {
    const Tensor found = embedder.embed(queries, embedder.settings().query_prompt());
    const auto hits = nearest(found, embeddings_, count, embedder.similarity());
    for (std::size_t query = 0; query < queries.size(); ++query) {
      SearchResults results{queries[query], {}};
      for (const tasks::Hit& hit : hits[query])
        results.results.push_back({hit.document, hit.score, texts_[static_cast<std::size_t>(hit.document)]});
      results.print();
    }
  }

 private:
  std::vector<std::string> texts_;
  Tensor embeddings_;
};

}  // namespace

int search(std::span<const std::string> words) {
  SearchArguments args;
  Arguments arguments("hearth search",
                      "Finds the texts whose embeddings are nearest to those of queries, by comparing with all of "
                      "them.\nPrints one line of JSON per query: {\"query\", \"results\": [{\"corpus_id\", \"score\", "
                      "\"text\"}, ...]}.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, true)) return 0;
  args.embedder.check_usage();
  as_usage([&] {
    check(!args.query || !args.queries_file, "give either --query or --queries_file");
    if (args.query) check_utf8(*args.query, "--query");
  });
  for (const std::string& file : {*args.texts.file, args.embeddings}) io::check_readable(file);
  tasks::Embedder embedder = args.embedder.embedder();
  const Corpus corpus(args, embedder);
  if (args.query) {
    corpus.print_nearest(embedder, {*args.query}, args.top_k);
  } else if (args.queries_file) {
    corpus.print_nearest(embedder, read_text_file(*args.queries_file, args.texts.text_column_name), args.top_k);
  } else {
    for_each_input_line({"Type what to search for and press Enter; Ctrl-D ends.", "search> ", "search_history"},
                        [&](const std::string& line) { corpus.print_nearest(embedder, {line}, args.top_k); });
  }
  return 0;
}

}  // namespace hearth::apps
