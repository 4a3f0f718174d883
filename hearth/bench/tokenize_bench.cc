#include "hearth/bench/tokenize_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"
#include "hearth/base/timer.h"
#include "hearth/bench/table.h"
#include "hearth/cpu/parallel.h"
#include "hearth/data/record_format.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tasks/question_answering/preprocess.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::bench {
namespace {

using Texts = std::vector<std::string_view>;

std::shared_ptr<const tokenizer::Tokenizer> tokenizer_of(const TokenizeBenchOptions& options) {
  check(options.model.empty() != options.vocab.empty(),
        "give --model, a folder with a tokenizer, or --vocab, a vocab.txt");
  return options.vocab.empty() ? tokenizer::load_tokenizer(options.model)
                               : tokenizer::load_vocabulary(options.vocab, true);
}

Texts lines_of(std::string_view text) {
  Texts lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Every context once, and every question.
Texts texts_of(const std::vector<tasks::QaExample>& examples) {
  Texts texts;
  const std::string* last = nullptr;
  for (const tasks::QaExample& example : examples) {
    if (example.context.get() != last) texts.push_back(*example.context);
    last = example.context.get();
    texts.push_back(example.question);
  }
  return texts;
}

double tokenize(const Texts& texts, const tokenizer::Tokenizer& tokenizer) {
  constexpr std::int64_t kTexts = 64;
  const auto count = static_cast<std::int64_t>(texts.size());
  std::vector<double> tokens(static_cast<std::size_t>(divide_up(count, kTexts)));
  cpu::parallel_chunks(count, kTexts, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i)
      sum += static_cast<double>(tokenizer.pieces(texts[static_cast<std::size_t>(i)]).ids.size());
    tokens[static_cast<std::size_t>(begin / kTexts)] = sum;
  });
  return std::accumulate(tokens.begin(), tokens.end(), 0.0);
}

// Times `work`, which runs once per round and fills in what it did.
template <class Work>
void measure(std::vector<TokenizeBenchRow>& rows, std::string name, std::int64_t rounds, const Work& work) {
  const int all = cpu::num_threads();
  for (const int threads : all > 1 ? std::vector{1, all} : std::vector{1}) {
    cpu::set_num_threads(threads);
    TokenizeBenchRow row;
    row.work = name;
    row.threads = threads;
    for (std::int64_t round = 0; round < rounds; ++round) {
      const Timer timer;
      work(row);
      row.seconds = round == 0 ? timer.seconds() : std::min(row.seconds, timer.seconds());
    }
    rows.push_back(std::move(row));
  }
  cpu::set_num_threads(all);
}

}  // namespace

std::vector<TokenizeBenchRow> bench_tokenize(const TokenizeBenchOptions& options) {
  const auto tokenizer = tokenizer_of(options);
  const bool has_questions = data::has_fields(options.file);
  std::vector<tasks::QaExample> examples;
  std::string text;
  if (has_questions) {
    examples = tasks::read_qa_dataset(options.file);
  } else {
    text = io::read_file(options.file);
  }
  const Texts texts = has_questions ? texts_of(examples) : lines_of(text);
  check(!texts.empty(), "{} has no text", options.file);
  const double bytes = std::accumulate(texts.begin(), texts.end(), 0.0, [](double sum, std::string_view one) {
    return sum + static_cast<double>(one.size());
  });

  std::vector<TokenizeBenchRow> rows;
  measure(rows, "tokens", options.rounds, [&](TokenizeBenchRow& row) {
    row.bytes = bytes;
    row.tokens = tokenize(texts, *tokenizer);
  });
  if (has_questions)
    measure(rows, "features", options.rounds, [&](TokenizeBenchRow& row) {
      const tasks::QaFeatures features = tasks::prepare_train_features(examples, *tokenizer, {});
      row.bytes = bytes;
      row.tokens = static_cast<double>(features.tokens());
      row.features = static_cast<double>(features.size());
    });
  return rows;
}

std::vector<io::Json> to_json(const std::vector<TokenizeBenchRow>& rows) {
  std::vector<io::Json> lines;
  for (const TokenizeBenchRow& row : rows)
    lines.push_back({{"bench", "tokenize"},
                     {"work", row.work},
                     {"threads", row.threads},
                     {"seconds", row.seconds},
                     {"bytes", row.bytes},
                     {"tokens", row.tokens},
                     {"features", row.features},
                     {"tokens_per_second", row.tokens / row.seconds},
                     {"features_per_second", row.features / row.seconds}});
  return lines;
}

std::string to_text(const std::vector<TokenizeBenchRow>& rows) {
  Table table({"work", "threads", "seconds", "MB/s", "tokens/s", "features/s"});
  for (const TokenizeBenchRow& row : rows)
    table.add({row.work, std::to_string(row.threads), fmt::format("{:.3f}", row.seconds),
               fmt::format("{:.1f}", row.bytes / row.seconds / 1e6), fmt::format("{:.0f}", row.tokens / row.seconds),
               row.features > 0 ? fmt::format("{:.0f}", row.features / row.seconds) : ""});
  return table.to_string();
}

}  // namespace hearth::bench
