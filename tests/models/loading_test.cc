#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/model_folder.h"

namespace hearth::models {
namespace {

constexpr HeadKind kQa = HeadKind::question_answering, kClassification = HeadKind::sequence_classification;

struct Golden {
  std::string name;
  HeadKind head;
  std::string prefix;
};
const std::vector<Golden> kGoldens = {{"bert-qa", kQa, "bert."},
                                      {"distilbert-qa", kQa, "distilbert."},
                                      {"roberta-cls", kClassification, "roberta."},
                                      {"xlm-roberta-cls", kClassification, "roberta."},
                                      {"electra-cls", kClassification, "electra."},
                                      {"albert-qa", kQa, "albert."}};

class Loading : public ModelFolder {
 protected:
  // The golden model with every weight's name changed; an empty name leaves it out.
  void write_renamed(const Golden& golden_model, const std::function<std::string(std::string)>& rename) {
    Weights renamed;
    for (const auto& [name, tensor] : weights_in(golden(golden_model.name)))
      if (const std::string now = rename(name); !now.empty()) renamed[now] = tensor;
    write(io::read_json(golden(golden_model.name) / "config.json"), renamed);
  }
  void write_as_it_is(const Golden& golden_model) {
    write_renamed(golden_model, [](std::string name) { return name; });
  }
};

TEST_F(Loading, TakesEveryWeightAsItIs) {
  for (const Golden& model : kGoldens) {
    expect_same_weights(weights_of(*load_pretrained(golden(model.name), model.head)), weights_in(golden(model.name)));
    EXPECT_EQ(head_of(Config::read(golden(model.name))), model.head);
  }
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

TEST_F(Loading, DoesWithoutThePrefix) {
  for (const Golden& model : kGoldens) {
    write_renamed(model, [&](std::string name) {
      return name.starts_with(model.prefix) ? name.substr(model.prefix.size()) : name;
    });
    expect_same_weights(weights_of(*load(model.head)), weights_in(golden(model.name)));
  }
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

TEST_F(Loading, KnowsTheOldNamesOfNorms) {
  for (const bool with_prefix : {true, false}) {
    const Golden& model = kGoldens.front();
    int renamed = 0;
    write_renamed(model, [&](std::string name) {
      for (const auto& [now, then] :
           {std::pair{"LayerNorm.weight", "LayerNorm.gamma"}, {"LayerNorm.bias", "LayerNorm.beta"}})
        if (const std::size_t at = name.find(now); at != name.npos) name.replace(at, name.npos, then), ++renamed;
      return with_prefix || !name.starts_with(model.prefix) ? name : name.substr(model.prefix.size());
    });
    EXPECT_EQ(renamed, 14);
    expect_same_weights(weights_of(*load(model.head)), weights_in(golden(model.name)));
  }
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

// transformers ties the decoder of a masked language model to the word embeddings and, in some families, two biases.
// A file may have them under either name, or under both.
TEST_F(Loading, ReadsTiedWeightsUnderEitherName) {
  struct Tied {
    std::string family, bias, decoder;
  };
  for (const auto& [family, bias, decoder] :
       {Tied{"bert", "cls.predictions.bias", "cls.predictions.decoder"},
        Tied{"distilbert", "vocab_projector.bias", "vocab_projector"},
        Tied{"roberta", "lm_head.bias", "lm_head.decoder"}, Tied{"xlm-roberta", "lm_head.bias", "lm_head.decoder"},
        Tied{"electra", "generator_lm_head.bias", "generator_lm_head"},
        Tied{"albert", "predictions.bias", "predictions.decoder"}}) {
    const std::string name = family + "-mlm";
    const Weights expected = weights_in(golden(name));
    const std::string words = (family == "xlm-roberta" ? "roberta" : family) + ".embeddings.word_embeddings.weight";
    ASSERT_TRUE(expected.contains(bias) && expected.contains(words)) << family;
    Weights both = expected, other = expected;
    both[decoder + ".bias"] = expected.at(bias);
    both[decoder + ".weight"] = expected.at(words);
    for (const auto& [from, to] : {std::pair{bias, decoder + ".bias"}, {words, decoder + ".weight"}}) {
      other.erase(from);
      other[to] = expected.at(from);
    }
    for (const Weights& weights : {expected, both, other}) {
      write(io::read_json(golden(name) / "config.json"), weights);
      expect_same_weights(weights_of(*load(HeadKind::masked_lm)), expected);
    }
  }
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

TEST_F(Loading, WidensNarrowWeights) {
  for (const DType type : {DType::f16, DType::bf16}) {
    Weights narrow, expected;
    for (const auto& [name, tensor] : weights_in(golden("bert-qa"))) {
      narrow[name] = in_format(tensor, type);
      expected[name] = in_format(narrow[name], DType::f32);
    }
    write(io::read_json(golden("bert-qa") / "config.json"), narrow);
    expect_same_weights(weights_of(*load(kQa)), expected);
  }
}

TEST_F(Loading, ReadsShards) {
  const Weights weights = weights_in(golden("distilbert-qa"));
  std::array<std::vector<std::pair<std::string, Tensor>>, 3> shards;
  io::Json map = io::Json::object();
  std::size_t next = 0;
  for (const auto& [name, tensor] : weights) {
    const std::size_t shard = next++ % shards.size();
    shards[shard].emplace_back(name, tensor);
    map[name] = fmt::format("model-{:05}-of-00003.safetensors", shard + 1);
  }
  for (std::size_t shard = 0; shard < shards.size(); ++shard)
    io::write_safetensors(folder_ / fmt::format("model-{:05}-of-00003.safetensors", shard + 1), shards[shard]);
  write_config(io::read_json(golden("distilbert-qa") / "config.json"));
  io::replace_file(folder_ / "model.safetensors.index.json",
                   io::dump_json({{"metadata", {{"total_size", 1}}}, {"weight_map", map}}, 2));
  expect_same_weights(weights_of(*load(kQa)), weights);

  std::filesystem::remove(folder_ / "model-00002-of-00003.safetensors");
  expect_error(kQa, {folder_.string(), "model-00002-of-00003.safetensors"});
}

TEST_F(Loading, RefusesNumbersThatAreNotFinite) {
  using Limits = std::numeric_limits<float>;
  const std::string name = "bert.encoder.layer.1.output.dense.weight";
  for (const float value : {Limits::quiet_NaN(), Limits::infinity()})
    for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
      Weights weights = weights_in(golden("bert-qa"));
      const Tensor wide = weights[name].clone();
      wide.data<float>()[wide.size() - 1] = value;
      weights[name] = in_format(wide, type);
      write(io::read_json(golden("bert-qa") / "config.json"), weights);
      expect_error(kQa, {(folder_ / "model.safetensors").string(), name, "NaN or infinite"});
      LoadOptions frozen;
      frozen.freezing.layers = 2;
      expect_error(kQa, {name, "NaN or infinite"}, frozen);
    }
}

TEST_F(Loading, AnnouncesAFreshHead) {
  write_renamed(kGoldens.front(),
                [](std::string name) { return name.starts_with("qa_outputs") ? std::string() : name; });
  const auto fresh_weight = [&](std::uint64_t seed) {
    LoadOptions options;
    options.seed = seed;
    return weights_of(*load(kQa, options)).at("qa_outputs.weight").clone();
  };
  const Tensor weight = fresh_weight(42);
  ASSERT_EQ(messages_.size(), 1u);
  EXPECT_EQ(messages_[0], folder_.string() +
                              " does not have these weights, so they were newly initialised: qa_outputs.weight, "
                              "qa_outputs.bias; train the model before you use it");
  EXPECT_TRUE(same_bits(fresh_weight(42), weight));
  EXPECT_FALSE(same_bits(fresh_weight(43), weight));
  double squares = 0;
  for (std::int64_t i = 0; i < weight.size(); ++i) squares += std::pow(double{weight.data<float>()[i]}, 2);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(weight.size())), 0.02, 0.005);
  const Tensor bias = weights_of(*load(kQa)).at("qa_outputs.bias");
  EXPECT_EQ(bias.data<float>()[0], 0);
}

TEST_F(Loading, PutsAnotherHeadOnAnEncoder) {
  for (const Golden& model : kGoldens) {
    write_as_it_is(model);
    messages_.clear();
    const HeadKind other = model.head == kQa ? kClassification : kQa;
    const Weights weights = weights_of(*load(other)), stored = weights_in(golden(model.name));
    for (const auto& [name, tensor] : stored)
      if (name.starts_with(model.prefix)) {
        EXPECT_TRUE(same_bits(weights.at(name), tensor)) << name;
      }
    ASSERT_EQ(messages_.size(), 2u);
    EXPECT_TRUE(contains(messages_[0], "does not use")) << messages_[0];
    EXPECT_TRUE(contains(messages_[0], model.head == kQa ? "qa_outputs.weight" : "classifier.dense.weight"))
        << messages_[0];
    EXPECT_TRUE(contains(messages_[1], "newly initialised")) << messages_[1];
    EXPECT_TRUE(contains(messages_[1], other == kQa ? "qa_outputs.weight" : "classifier")) << messages_[1];
  }
}

TEST_F(Loading, AFreshPoolerBelongsToTheHead) {
  write_as_it_is(kGoldens.front());
  const Weights weights = weights_of(*load(kClassification));
  EXPECT_TRUE(weights.contains("bert.pooler.dense.weight"));
  EXPECT_TRUE(contains(messages_.back(), "bert.pooler.dense.weight")) << messages_.back();
}

TEST_F(Loading, PassesOverPositionIds) {
  Weights weights = weights_in(golden("bert-qa"));
  weights["bert.embeddings.position_ids"] = Tensor::zeros({1, 96}, DType::i64);
  write(io::read_json(golden("bert-qa") / "config.json"), weights);
  load(kQa);
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

class BadWeights : public ModelFolder {
 protected:
  BadWeights() : weights_(weights_in(golden("bert-qa"))) {}
  void expect_refused(const std::vector<std::string>& parts) {
    write(io::read_json(golden("bert-qa") / "config.json"), weights_);
    std::vector<std::string> all = parts;
    all.push_back(folder_.string());
    expect_error(kQa, all);
  }

  Weights weights_;
};

TEST_F(BadWeights, LackAKeyOfTheEncoder) {
  weights_.erase("bert.encoder.layer.1.attention.self.key.weight");
  expect_refused({"missing bert.encoder.layer.1.attention.self.key.weight", "BertForQuestionAnswering"});
}

TEST_F(BadWeights, LackManyKeys) {
  std::erase_if(weights_, [](const auto& entry) { return entry.first.find(".layer.2.") != entry.first.npos; });
  expect_refused({"bert.encoder.layer.2.attention.self.query.weight", "and 10 more"});
}

TEST_F(BadWeights, HaveAnotherShape) {
  weights_["bert.encoder.layer.0.output.dense.weight"] = Tensor::zeros({64, 161}, DType::f32);
  expect_refused({"bert.encoder.layer.0.output.dense.weight has shape (64, 161), but (64, 160) is needed"});
}

// The memory of such a model is never taken.
TEST_F(BadWeights, AreComparedBeforeMemoryIsTaken) {
  io::Json config = io::read_json(golden("bert-qa") / "config.json");
  const auto expect_unfit = [&](const char* field, std::int64_t value, const std::string& part) {
    io::Json changed = config;
    changed[field] = value;
    write(changed, weights_);
    expect_error(kQa, {"do not fit a BertForQuestionAnswering as " + config_file() + " describes it", part});
  };
  expect_unfit("num_hidden_layers", 10'000, "missing bert.encoder.layer.3.attention.self.query.weight");
  expect_unfit("hidden_size", 1 << 20, "bert.embeddings.word_embeddings.weight has shape");
  expect_unfit("vocab_size", 1 << 22, "(4194304, 64) is needed");
}

TEST_F(BadWeights, AreReportedTogether) {
  weights_.erase("bert.embeddings.word_embeddings.weight");
  weights_["qa_outputs.bias"] = Tensor::zeros({3}, DType::f32);
  expect_refused(
      {"missing bert.embeddings.word_embeddings.weight", "qa_outputs.bias has shape (3), but (2) is needed"});
}

TEST_F(BadWeights, AreNoFloats) {
  weights_["qa_outputs.bias"] = Tensor::zeros({2}, DType::i64);
  expect_refused({"qa_outputs.bias", "float32, float16 or bfloat16"});
}

TEST_F(BadWeights, AreNotThere) {
  write_config(io::read_json(golden("bert-qa") / "config.json"));
  expect_error(kQa, {folder_.string(), "model.safetensors"});
}

}  // namespace
}  // namespace hearth::models
