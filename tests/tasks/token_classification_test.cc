#include "hearth/tasks/token_classification/token_classification.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hearth/io/json.h"
#include "hearth/tasks/token_classification/aggregation.h"
#include "hearth/tasks/token_classification/dataset.h"
#include "hearth/tasks/token_classification/entity_metrics.h"
#include "hearth/tasks/token_classification/labels.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using Texts = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;
using Labels = std::vector<std::int32_t>;
using data::Tags;

models::Config config_with(const Texts& labels) {
  models::Config config(io::Json::object(), "config.json");
  if (!labels.empty()) config.set_labels(labels);
  return config;
}

const tokenizer::Tokenizer& golden_tokenizer() {
  static const auto tokenizer = tokenizer::load_tokenizer(fixture("ner") / "golden/model");
  return *tokenizer;
}

// ---- Files ----

// All sentences of a small file.
TokenTable read_tokens(const std::filesystem::path& path, const TokenColumns& columns, Tags tags) {
  TokenSource source({path}, columns, tags);
  TokenTable table = *source.next();
  EXPECT_FALSE(source.next().has_value());
  return table;
}

using TokenTables = TemporaryFolder;

TEST_F(TokenTables, ColumnsAreFoundAsInRunNer) {
  const auto path =
      write("f.jsonl", R"({"a": ["w"], "b": ["X"], "ner_tags": ["Y"], "tokens": ["t"], "pos_tags": ["Z"]})");
  const auto read = [&](const TokenColumns& columns) {
    const TokenTable table = read_tokens(path, columns, Tags::required);
    return table.words(0).front() + table.tags(0).front();
  };
  EXPECT_EQ(read({}), "tY");
  EXPECT_EQ(read({.default_tags = "pos_tags"}), "tZ");
  EXPECT_EQ(read({.default_tags = "none_tags"}), "tX") << "the second column";
  EXPECT_EQ(read({.words = "a", .tags = "pos_tags"}), "wZ");
  const auto plain = write("plain.jsonl", R"({"words": ["w"], "labels": ["X"]})");
  EXPECT_EQ(read_tokens(plain, {}, Tags::required).words(0), Texts{"w"}) << "the first column";
  EXPECT_EQ(read_tokens(plain, {}, Tags::required).tags(0), Texts{"X"});
}

TEST_F(TokenTables, MayHaveNoTags) {
  const auto has_tags = [&](const std::filesystem::path& path) {
    return read_tokens(path, {}, Tags::optional).has_tags();
  };
  EXPECT_FALSE(has_tags(write("a.jsonl", R"({"tokens": ["t"]})")));
  EXPECT_FALSE(has_tags(write("b.jsonl", R"({"id": 7, "tokens": ["t"]})")));
  EXPECT_FALSE(has_tags(write("c.jsonl", R"({"tokens": ["t"], "source": "x"})")));
  EXPECT_FALSE(has_tags(write("d.conll", "Ada\nslept\n\nBo\n")));
  EXPECT_TRUE(has_tags(write("e.conll", "Ada B-PER\n")));
  EXPECT_TRUE(has_tags(write("f.jsonl", R"({"tokens": ["t"], "ner_tags": [3]})")));
}

TEST_F(TokenTables, WrongFilesAreOneSentence) {
  const auto error = [&](std::string_view name, std::string_view contents, const TokenColumns& columns = {}) {
    const auto path = write(name, contents);
    return error_of([&] { read_tokens(path, columns, Tags::required); });
  };
  EXPECT_TRUE(contains(error("a.jsonl", R"({"tokens": ["t"], "id": 1})"), "its columns are tokens, id"));
  EXPECT_TRUE(contains(error("a.jsonl", R"({"tokens": ["t"], "tags": ["O"]})", {.tags = "tag"}), "did you mean"));
  EXPECT_TRUE(
      contains(error("a.jsonl", R"({"tokens": ["t"], "tags": ["O"]})", {.words = "text"}), "no column \"text\""));
  EXPECT_TRUE(contains(error("a.csv", "tokens,ner_tags\na b,O O\n"), "holds texts, but lists of words are needed"));
  EXPECT_TRUE(contains(error("a.jsonl",
                             "{\"tokens\": [\"t\"], \"ner_tags\": [\"O\"]}\n"
                             "{\"tokens\": [\"t\", \"u\"], \"ner_tags\": [\"O\"]}\n"),
                       "record 2 has 2 words, but 1 tags"));
  EXPECT_TRUE(contains(error("a.jsonl", R"({"tokens": ["t"], "ner_tags": [""]})"), "record 1 has an empty tag"));
  EXPECT_TRUE(contains(error("a.jsonl", R"({"tokens": ["t"], "ner_tags": [-1]})"), "record 1 has the tag -1"));
  EXPECT_TRUE(contains(error("a.jsonl", R"({"tokens": ["t", "u"], "ner_tags": ["O", 1]})"), "mixes texts and whole"));
  EXPECT_TRUE(contains(error("a.jsonl",
                             "{\"tokens\": [\"t\"], \"ner_tags\": [\"O\"]}\n"
                             "{\"tokens\": [\"t\"], \"ner_tags\": [1]}\n"),
                       "mixed kinds"));
  EXPECT_TRUE(contains(error("a.json", R"([{"tokens": [], "ner_tags": []}])"), "all 1 records are empty"));
  EXPECT_FALSE(error("a.jsonl", "").empty());
  EXPECT_FALSE(error("a.conll", "\n\n").empty());
  EXPECT_TRUE(contains(error("a.xml", "x"), "its name must end in .conll"));
}

// ---- Labels ----

class TokenLabels : public TemporaryFolder {
 protected:
  TokenTable table(std::string_view tags) const {
    std::string words;
    for (std::size_t i = 0, n = std::ranges::count(tags, ',') + 1; i < n; ++i) words += i == 0 ? "\"w\"" : ", \"w\"";
    const auto path = write("f.jsonl", "{\"tokens\": [" + words + "], \"ner_tags\": [" + std::string(tags) + "]}\n");
    return read_tokens(path, {}, Tags::required);
  }
  static LabelMap labels_to_learn(const TokenTable& train, const models::Config& config) {
    TagNames names;
    names.add(train);
    return names.labels(config);
  }
};

// Parquet files of Hugging Face's datasets name the numbers.
TEST_F(TokenLabels, NumbersMayHaveNamesInTheFile) {
  const TokenTable train = read_tokens(fixture("parquet/tagged.parquet"), {}, Tags::required);
  EXPECT_EQ(train.words(1), (Texts{"Köln", "is", "big"}));
  const Texts names{"O", "B-PER", "I-PER", "B-LOC"};
  const LabelMap labels = labels_to_learn(train, config_with({}));
  EXPECT_EQ(labels.names(), names);
  EXPECT_EQ(LabelReader(train, labels, true).ids(0), (Ids{1, 2, 0, 0}));
  const LabelMap of_model = labels_to_learn(train, config_with({"B-LOC", "B-PER", "I-PER", "O"}));
  EXPECT_EQ(LabelReader(train, of_model, true).ids(0), (Ids{1, 2, 3, 3})) << "in the model's order";
}

TEST_F(TokenLabels, AreTheSortedTagsOrInTheModelsOrder) {
  const TokenTable train = table(R"("O", "I-X", "B-X", "O")");
  EXPECT_EQ(labels_to_learn(train, config_with({})).names(), (Texts{"B-X", "I-X", "O"}));
  EXPECT_EQ(labels_to_learn(train, config_with({"O", "B-X", "I-X"})).names(), (Texts{"O", "B-X", "I-X"}));
  EXPECT_EQ(labels_to_learn(train, config_with({"O", "B-Y", "I-Y"})).names(), (Texts{"B-X", "I-X", "O"}));
}

TEST_F(TokenLabels, NumbersTakeTheModelsNames) {
  const TokenTable train = table("2, 0, 1");
  EXPECT_EQ(labels_to_learn(train, config_with({"O", "B-X", "I-X", "B-Y"})).names(), (Texts{"O", "B-X", "I-X", "B-Y"}));
  EXPECT_EQ(labels_to_learn(train, config_with({})).names(), (Texts{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(labels_to_learn(train, config_with({"good", "bad"})).names(), (Texts{"LABEL_0", "LABEL_1", "LABEL_2"}));
  const LabelMap labels(Texts{"O", "B-X"});
  EXPECT_EQ(LabelReader(table("1, 0"), labels, false).ids(0), (Ids{1, 0}));
  EXPECT_TRUE(contains(error_of([&] { LabelReader(train, labels, false).ids(0); }), "record 1 has the tag 2"));
  EXPECT_TRUE(contains(error_of([&] { LabelReader(train, labels, true); }), "training data has texts"));
}

TEST_F(TokenLabels, OutsideOfTheMapNameTheRecord) {
  const TokenTable dev = table(R"("O", "B-Y")");
  const LabelMap labels(Texts{"B-X", "O"});
  EXPECT_TRUE(contains(error_of([&] { LabelReader(dev, labels, true).ids(0); }), "record 1 has the label 'B-Y'"));
}

TEST(TokenLabelsInside, AreThoseOfTheSameType) {
  EXPECT_EQ(labels_inside(LabelMap({"B-X", "B-Y", "I-X", "O", "B"})), (Ids{2, 1, 2, 3, 4}));
}

// ---- Tokens ----

TEST(TokenAlignment, FirstTokensHaveTheLabelOfTheirWord) {
  const Texts words{"Zürich", "", "in"};
  const Ids labels{0, 1, 2};
  const auto& tokenizer = golden_tokenizer();
  const std::size_t pieces = tokenizer.pieces("Zürich").ids.size();
  ASSERT_GT(pieces, 2u);
  const AlignedTokens first = align(words, labels, tokenizer, {});
  Labels expected(pieces + 3, kNoLabel);
  expected[1] = 0;
  expected[pieces + 1] = 2;
  EXPECT_EQ(first.labels, expected);
  EXPECT_EQ(first.encoding.ids.size(), expected.size());
  EXPECT_EQ(first.empty_words, 1);
  EXPECT_EQ(first.cut_words, 0);

  const AlignedTokens all = align(words, labels, tokenizer, {.inside = {1, 1, 2}});
  for (std::size_t i = 2; i <= pieces; ++i) expected[i] = 1;
  EXPECT_EQ(all.labels, expected);
}

TEST(TokenAlignment, WordsBeyondTheLengthAreCounted) {
  const Texts words{"a", "b", "c", "d"};
  const AlignedTokens cut = align(words, Ids{0, 1, 2, 3}, golden_tokenizer(), {.max_seq_length = 4});
  EXPECT_EQ(cut.labels, (Labels{kNoLabel, 0, 1, kNoLabel}));
  EXPECT_EQ(cut.cut_words, 2);
  const AlignedTokens within = align(Texts{"Zürich"}, Ids{5}, golden_tokenizer(), {.max_seq_length = 4});
  EXPECT_EQ(within.labels, (Labels{kNoLabel, 5, kNoLabel, kNoLabel}));
  EXPECT_EQ(within.cut_words, 0) << "its first token is there";
}

// The tokens and labels that run_ner.py made of dev.conll.
TEST(TokenAlignment, IsThatOfRunNer) {
  const TokenTable table = read_tokens(fixture("ner") / "dev.conll", {}, Tags::required);
  const LabelMap labels(Texts{"B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "O"});
  const LabelReader reader(table, labels, true);
  std::int64_t cut = 0;
  for (const char* run : {"first_tokens", "all_tokens"}) {
    const io::Json golden = io::read_json(fixture("ner") / "golden" / (std::string(run) + ".json"));
    AlignOptions options{.max_seq_length = 28};
    if (std::string_view(run) == "all_tokens") options.inside = labels_inside(labels);
    ASSERT_EQ(std::ssize(golden.at("rows")), table.rows());
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      const AlignedTokens ours = align(table.words(row), reader.ids(row), golden_tokenizer(), options);
      const io::Json& theirs = golden.at("rows").at(static_cast<std::size_t>(row));
      EXPECT_EQ(ours.encoding.ids, theirs.at("ids").get<std::vector<std::int32_t>>()) << run << row;
      EXPECT_EQ(ours.labels, theirs.at("labels").get<Labels>()) << run << row;
      cut += ours.cut_words;
    }
  }
  EXPECT_GT(cut, 0);
}

TEST(TokenDatasets, PaddingHasNoLabel) {
  const auto features = std::make_shared<TokenFeatures>();
  for (const Texts& words : {Texts{"a"}, Texts{"b", "c", "d"}})
    append(*features, align(words, Ids(words.size(), 4), golden_tokenizer(), {}));
  const std::vector<std::int64_t> both{0, 1};
  const auto labels = [&](const CollateOptions& options) {
    return TokenDataset(features, options).collate(both, 0)->labels.at("labels");
  };
  const Ids packed{-100, 4, -100, -100, 4, 4, 4, -100};
  EXPECT_EQ(labels({}), packed);
  EXPECT_EQ(labels({.padding = Padding::longest}), (Ids{-100, 4, -100, -100, -100, -100, 4, 4, 4, -100}));
  EXPECT_EQ(labels({.padding = Padding::max_length, .max_seq_length = 6}),
            (Ids{-100, 4, -100, -100, -100, -100, -100, 4, 4, 4, -100, -100}));
  features->is_labelled = false;
  EXPECT_TRUE(TokenDataset(features, {}).collate(both, 0)->labels.empty());
}

// ---- Metrics ----

TEST(EntityMetrics, HaveTheNamesOfRunNer) {
  const Texts labels{"B-PER", "I-PER", "B-LOC", "O"};
  EXPECT_EQ(entity_metric_names(labels, false), (Texts{"loss", "precision", "recall", "f1", "accuracy"}));
  EXPECT_EQ(entity_metric_names(labels, true),
            (Texts{"loss", "LOC_precision", "LOC_recall", "LOC_f1", "LOC_number", "PER_precision", "PER_recall",
                   "PER_f1", "PER_number", "overall_precision", "overall_recall", "overall_f1", "overall_accuracy"}));
}

TEST(EntityMetrics, TheTableHasARowPerType) {
  const std::vector<Texts> truth{{"B-Ort", "O", "B-Übername"}};
  const std::string table = entity_table(metrics::entity_scores(truth, truth));
  EXPECT_TRUE(contains(table, "\n  Ort          1.0000    1.0000    1.0000         1\n")) << table;
  EXPECT_TRUE(contains(table, "\n  Übername     1.0000")) << table;
  EXPECT_TRUE(contains(table, "\n  all types    1.0000    1.0000    1.0000         2\n")) << table;
  EXPECT_EQ(entity_table(metrics::entity_scores(std::vector<Texts>{{"O"}}, std::vector<Texts>{{"O"}})), "");
}

TEST(TokenArgumentChecks, TheBestMetricIsKnownBeforeTraining) {
  TokenArguments args;
  args.train_file = args.validation_file = {"x.conll"};
  TrainingArguments training;
  training.do_train = training.do_eval = true;
  for (const char* name : {"f1", "eval_f1", "loss", "accuracy"}) {
    training.metric_for_best_model = name;
    EXPECT_EQ(error_of([&] { args.validate(training); }), "") << name;
  }
  training.metric_for_best_model = "overall_f1";
  EXPECT_TRUE(contains(error_of([&] { args.validate(training); }), "is not a metric of this task"));
  args.return_entity_level_metrics = true;
  EXPECT_EQ(error_of([&] { args.validate(training); }), "") << "types are known once the data is";
}

// ---- Entities of a text ----

const Texts kNames{"O", "B-X", "I-X", "B-Y"};

ScoredToken token(const char* word, std::int32_t begin, std::int32_t end, std::vector<float> probabilities) {
  ScoredToken result;
  result.word = word;
  result.probabilities = std::move(probabilities);
  result.place = {begin, end};
  result.continues_word = result.word.starts_with("##");
  return result;
}

// "New York is big": the second piece of "York" has another label than the first.
std::vector<ScoredToken> new_york() {
  return {token("new", 0, 3, {0.1f, 0.9f, 0, 0}), token("yo", 4, 6, {0.2f, 0, 0.6f, 0.2f}),
          token("##rk", 6, 8, {0.1f, 0, 0.2f, 0.7f}), token("is", 9, 11, {1, 0, 0, 0}),
          token("big", 12, 15, {0.9f, 0.1f, 0, 0})};
}

std::string found(Aggregation aggregation) {
  std::string text;
  for (const Entity& e : aggregate(new_york(), aggregation, kNames, golden_tokenizer()))
    text += fmt::format("{}:{}:{}-{}:{:.2f} ", e.label, e.word, e.place.begin, e.place.end, e.score);
  return text;
}

TEST(EntityAggregation, FollowsThePipeline) {
  EXPECT_EQ(found(Aggregation::none), "B-X:new:0-3:0.90 I-X:yo:4-6:0.60 B-Y:##rk:6-8:0.70 ");
  EXPECT_EQ(found(Aggregation::simple), "X:new yo:0-6:0.75 Y:##rk:6-8:0.70 ");
  EXPECT_EQ(found(Aggregation::first), "X:new york:0-8:0.75 ");
  EXPECT_EQ(found(Aggregation::average), "X:new:0-3:0.90 Y:york:4-8:0.45 ");
  EXPECT_EQ(found(Aggregation::max), "X:new:0-3:0.90 Y:york:4-8:0.70 ");
  EXPECT_TRUE(aggregate({}, Aggregation::simple, kNames, golden_tokenizer()).empty());
}

TEST(EntityAggregation, JsonHasThePipelinesKeys) {
  const Entity entity{"X", 0.5f, "new york", {0, 8}, 1};
  EXPECT_EQ(io::dump_json(entities_json({&entity, 1}, Aggregation::first), io::kOneLine),
            R"([{"entity_group": "X", "score": 0.5, "word": "new york", "start": 0, "end": 8}])");
  EXPECT_EQ(io::dump_json(entities_json({&entity, 1}, Aggregation::none), io::kOneLine),
            R"([{"entity": "X", "score": 0.5, "index": 1, "word": "new york", "start": 0, "end": 8}])");
}

}  // namespace
}  // namespace hearth::tasks
