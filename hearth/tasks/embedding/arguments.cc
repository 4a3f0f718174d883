#include "hearth/tasks/embedding/arguments.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/common/name_list.h"

namespace hearth::tasks {
namespace {

using models::DistanceMetric, models::EmbeddingLossKind;

template <class T>
std::vector<T> numbers_in(const std::string& list, const char* flag) {
  std::vector<T> numbers;
  for (const std::string& word : names_in(list)) {
    T number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    check(error == std::errc() && end == word.data() + word.size() && number > 0,
          "{} {}: '{}' is not a number above 0; write them with commas between them: 384,128,64", flag, list, word);
    numbers.push_back(number);
  }
  check(!numbers.empty(), "{} names no number; write them with commas between them: 384,128,64", flag);
  return numbers;
}

template <class Enum>
Enum value_of_flag(const char* flag, const std::string& name) {
  const auto value = value_named<Enum>(name);
  check(value.has_value(), "{} '{}' is not known; use one of {}", flag, name, fmt::join(names_of(Enum{}), ", "));
  return *value;
}

// JSON such as {"query": "query: "}; any other text stands under the name "".
std::map<std::string, std::string> texts_in(const std::optional<std::string>& flag, const char* name) {
  if (!flag) return {};
  const std::size_t begin = flag->find_first_not_of(" \t\n");
  if (begin == flag->npos || (*flag)[begin] != '{') return {{"", *flag}};
  const io::Json json = io::parse_json(*flag, name);
  std::map<std::string, std::string> texts;
  for (const auto& [key, text] : json.items()) {
    check(text.is_string(), "{}: \"{}\" must be a text, found {}", name, key, io::excerpt(text));
    texts[key] = text.get<std::string>();
  }
  return texts;
}

}  // namespace

void declare(Arguments& options, EmbeddingArguments& arguments) {
  options.section("Embeddings: data");
  declare_files(options, arguments, "pairs, triplets or scored pairs", data::record_endings());
  options.add(
      "text_column_names", &arguments.text_column_names,
      "columns of the texts in their order, with commas between them: anchor, positive, negatives; if not given, "
      "all but the label, which is label, labels, score or scores");
  options.add("max_seq_length", &arguments.max_seq_length, "maximum tokens per text; if not given, that of the model")
      .at_least(1);
  options.add("prompts", &arguments.prompts,
              "text before each text of a column while training, as JSON: {\"question\": \"query: \"}; or one text "
              "for all columns");
  options.add("batch_sampler", choice(&arguments.batch_sampler),
              "no_duplicates: no batch has a text twice, which would be its own negative");
  options
      .add("corpus_file", &arguments.corpus_file,
           "documents for evaluation by retrieval: JSON lines with _id, text and perhaps title, as BEIR has them")
      .per_process();
  options.add("queries_file", &arguments.queries_file, "queries for that: JSON lines with _id and text").per_process();
  options
      .add("qrels_file", &arguments.qrels_file,
           "relevant documents for that: lines of query-id, corpus-id and score, with tabs between them and a header")
      .per_process();
  declare_samples(options, arguments, "records");
  options.ignored_switches({"overwrite_cache"}, "the features of this task are not cached");
  options.section("Embeddings: model");
  options.add("pooling", &arguments.pooling,
              fmt::format("how tokens become an embedding: {}; several with commas between them are put side by side; "
                          "if not given, as the model has it, or mean",
                          fmt::join(names_of(ops::Pooling{}), ", ")));
  options.add("normalize", &arguments.normalize, "give embeddings length 1; if not given, as the model has it");
  options.add("model_prompts", &arguments.model_prompts,
              "prompts that the model is saved with, as JSON: {\"query\": \"query: \", \"document\": \"passage: \"}");
  options.add("default_prompt_name", &arguments.default_prompt_name,
              "name of the prompt of texts for which none is chosen");
  options.section("Embeddings: loss");
  options.add("loss", &arguments.loss,
              fmt::format("{}; if not given, CoSENTLoss for scored pairs, else MultipleNegativesRankingLoss",
                          fmt::join(names_of(EmbeddingLossKind{}), ", ")));
  options.add("scale", &arguments.scale, "factor of the cosines: MultipleNegativesRankingLoss, CoSENTLoss").at_least(0);
  options.add("margin", &arguments.margin, "of TripletLoss, 5 if not given, and of contrastive losses, 0.5")
      .at_least(0);
  options.add("distance_metric", &arguments.distance_metric,
              "euclidean, cosine or manhattan; if not given, euclidean for TripletLoss, cosine for contrastive losses");
  options.add("temperature", &arguments.temperature, "of DistillKLDivLoss").at_least(1e-6);
  options
      .add("mini_batch_size", &arguments.mini_batch_size,
           "texts that are computed at a time: batches may then be larger than memory allows, with the same gradient; "
           "32 if not given for CachedMultipleNegativesRankingLoss, else the whole batch")
      .at_least(1);
  options.add("gather_across_devices", &arguments.gather_across_devices,
              "multiple negatives ranking takes negatives from the batches of all processes");
  options.add("matryoshka_dims", &arguments.matryoshka_dims,
              "also train embeddings that are cut to so many numbers: 384,128,64");
  options.add("matryoshka_weights", &arguments.matryoshka_weights, "weight of each of these; 1 if not given");
}

void EmbeddingArguments::validate(const TrainingArguments& training) const {
  check(corpus_file.has_value() == queries_file.has_value() && corpus_file.has_value() == qrels_file.has_value(),
        "evaluation by retrieval needs all of --queries_file, --corpus_file and --qrels_file");
  DataArguments files = *this;
  if (has_corpus() && files.validation_file.empty()) files.validation_file = {*corpus_file};
  check_files(files, training);
  pooling_modes();
  prompts_by_column();
  prompts_of_model();
  embedding_loss(EmbeddingLossKind::multiple_negatives_ranking);
  check(batch_sampler == BatchSampler::batch_sampler || training.train_sampling_strategy == Sampling::random,
        "--batch_sampler no_duplicates chooses the order of the data; leave --train_sampling_strategy {} out",
        name_of(training.train_sampling_strategy));
  check(!gather_across_devices || !training.auto_find_batch_size,
        "--gather_across_devices needs batches of one size; leave --auto_find_batch_size out");
}

std::vector<ops::Pooling> EmbeddingArguments::pooling_modes() const {
  std::vector<ops::Pooling> modes;
  for (const std::string& name : names_in(pooling.value_or("")))
    modes.push_back(value_of_flag<ops::Pooling>("--pooling", name));
  return modes;
}

std::map<std::string, std::string> EmbeddingArguments::prompts_by_column() const {
  return texts_in(prompts, "--prompts");
}

std::map<std::string, std::string> EmbeddingArguments::prompts_of_model() const {
  std::map<std::string, std::string> texts = texts_in(model_prompts, "--model_prompts");
  check(!texts.contains(""), "--model_prompts {} must be JSON: {{\"query\": \"query: \"}}", model_prompts.value_or(""));
  return texts;
}

models::EmbeddingLoss EmbeddingArguments::embedding_loss(EmbeddingLossKind usual) const {
  models::EmbeddingLoss result;
  result.kind = loss ? value_of_flag<EmbeddingLossKind>("--loss", *loss) : usual;
  const bool is_contrastive =
      result.kind == EmbeddingLossKind::contrastive || result.kind == EmbeddingLossKind::online_contrastive;
  result.scale = static_cast<float>(scale);
  result.margin = static_cast<float>(margin.value_or(is_contrastive ? 0.5 : 5));
  result.distance = distance_metric  ? value_of_flag<DistanceMetric>("--distance_metric", *distance_metric)
                    : is_contrastive ? DistanceMetric::cosine
                                     : DistanceMetric::euclidean;
  result.temperature = static_cast<float>(temperature);
  if (matryoshka_dims) result.matryoshka_dims = numbers_in<std::int64_t>(*matryoshka_dims, "--matryoshka_dims");
  if (matryoshka_weights) result.matryoshka_weights = numbers_in<float>(*matryoshka_weights, "--matryoshka_weights");
  check(result.matryoshka_weights.empty() || result.matryoshka_weights.size() == result.matryoshka_dims.size(),
        "--matryoshka_weights has {} numbers for {} of --matryoshka_dims; give one for each",
        result.matryoshka_weights.size(), result.matryoshka_dims.size());
  check(!gather_across_devices || result.is_ranking(),
        "--gather_across_devices is for MultipleNegativesRankingLoss, and the loss is {}; leave it out",
        name_of(result.kind));
  return result;
}

}  // namespace hearth::tasks
