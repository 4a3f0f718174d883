#include "hearth/models/freezing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hearth/cpu/parallel.h"
#include "hearth/optim/optimizer.h"
#include "tests/models/model_folder.h"
#include "tests/models/small_models.h"

namespace hearth::models {
namespace {

constexpr HeadKind kQa = HeadKind::question_answering;

class FrozenModels : public ModelFolder {
 protected:
  FrozenModels() { cpu::set_num_threads(1); }
  ~FrozenModels() override { cpu::set_num_threads(0); }

  static std::set<std::string> frozen_names(const Pretrained& model) {
    std::set<std::string> names;
    for (const NamedParameter& each : model.parameters().named())
      if (!each.parameter->trainable) names.insert(each.name);
    return names;
  }
  // The names that begin with one of these.
  static std::set<std::string> names_from(const Pretrained& model, const std::vector<std::string>& beginnings) {
    std::set<std::string> names;
    for (const NamedParameter& each : model.parameters().named())
      if (std::ranges::any_of(beginnings, [&](const auto& text) { return each.name.starts_with(text); }))
        names.insert(each.name);
    return names;
  }
  static std::string error_with(const Freezing& freezing) {
    return error_of([&] { build({"bert-qa", kQa}, "", freezing); });
  }
  // A golden model in a narrow format; `is_narrow` chooses the weights that are.
  void write_narrow(const std::string& name, DType type,
                    const std::function<bool(const std::string&)>& is_narrow = {}) {
    Weights weights = weights_in(golden(name));
    for (auto& [weight, tensor] : weights)
      if (!is_narrow || is_narrow(weight)) tensor = in_format(tensor, type);
    write(io::read_json(golden(name) / "config.json"), weights);
  }
  std::unique_ptr<Pretrained> load_frozen(const Freezing& freezing, HeadKind head = kQa) {
    LoadOptions options;
    options.freezing = freezing;
    return load(head, options);
  }
};

TEST_F(FrozenModels, PatternsAreShellGlobsOverNames) {
  for (const auto& [patterns, beginnings] : std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"bert.embeddings.*"}, {"bert.embeddings."}},
           {{"*.layer.[12].*"}, {"bert.encoder.layer.1.", "bert.encoder.layer.2."}},
           {{"qa_outputs.bias"}, {"qa_outputs.bias"}},
           {{"bert.embeddings.word_*", "qa_output?.weight"}, {"bert.embeddings.word_", "qa_outputs.weight"}},
           {{"bert.encoder.layer.0.attention.self.*.weight"},
            {"bert.encoder.layer.0.attention.self.query.weight", "bert.encoder.layer.0.attention.self.key.weight",
             "bert.encoder.layer.0.attention.self.value.weight"}}}) {
    const auto model = build({"bert-qa", kQa}, "", {.patterns = patterns, .layers = {}});
    EXPECT_EQ(frozen_names(*model), names_from(*model, beginnings)) << patterns.front();
    EXPECT_FALSE(frozen_names(*model).empty());
  }
}

TEST_F(FrozenModels, LayersAreCountedFromTheEmbeddings) {
  struct Family {
    Built built;
    std::string prefix, layers;
  };
  for (const auto& [built, prefix, layers] :
       {Family{{"bert-qa", kQa}, "bert.", "encoder.layer."},
        Family{{"distilbert-qa", kQa}, "distilbert.", "transformer.layer."},
        Family{{"roberta-cls", HeadKind::sequence_classification}, "roberta.", "encoder.layer."}}) {
    const std::int64_t count = build(built)->backbone_config().layers;
    ASSERT_GE(count, 2);
    std::vector<std::string> beginnings{prefix + "embeddings."};
    for (std::int64_t frozen = 0; frozen <= count; ++frozen) {
      const auto model = build(built, "", {.patterns = {}, .layers = frozen});
      EXPECT_EQ(frozen_names(*model), names_from(*model, beginnings)) << built.golden << " " << frozen;
      beginnings.push_back(prefix + layers + std::to_string(frozen) + ".");
    }
    const auto both = build(built, "", {.patterns = {"*.layer.1.*"}, .layers = 0});
    EXPECT_EQ(frozen_names(*both), names_from(*both, {prefix + "embeddings.", prefix + layers + "1."}));
  }
  EXPECT_TRUE(contains(error_with({.patterns = {}, .layers = 50}), "--freeze_layers 50: the model has "));
  EXPECT_TRUE(contains(error_with({.patterns = {}, .layers = -1}), "--freeze_layers -1: the model has "));
}

TEST_F(FrozenModels, LayersThatShareTheirParametersAreFrozenTogether) {
  const auto error_of_freezing = [](const Built& built, std::int64_t layers) {
    return error_of([&] { build(built, "", {.patterns = {}, .layers = layers}); });
  };
  const Built one_group{"albert-cls", HeadKind::sequence_classification};
  const std::vector<std::string> embeddings{"albert.embeddings.", "albert.encoder.embedding_hidden_mapping_in."};
  EXPECT_EQ(error_of_freezing(one_group, 1),
            "--freeze_layers 1: layers of this model share their parameters, so only these numbers of layers can be "
            "frozen: 0, 2");
  const auto none = build(one_group, "", {.patterns = {}, .layers = 0});
  EXPECT_EQ(frozen_names(*none), names_from(*none, embeddings));
  EXPECT_EQ(none->layers_in_backward(), 2);
  const auto whole = build(one_group, "", {.patterns = {}, .layers = 2});
  EXPECT_EQ(frozen_names(*whole), names_from(*whole, {"albert.embeddings.", "albert.encoder."}));
  EXPECT_EQ(whole->layers_in_backward(), 0);

  const Built two_groups{"albert-tokcls", HeadKind::token_classification};  // each of two layers, which run twice
  for (const std::int64_t layers : {1, 2, 3, 5, 6, 7})
    EXPECT_TRUE(contains(error_of_freezing(two_groups, layers), "can be frozen: 0, 4, 8")) << layers;
  const auto half = build(two_groups, "", {.patterns = {}, .layers = 4});
  std::vector<std::string> names = embeddings;
  names.push_back("albert.encoder.albert_layer_groups.0.");
  EXPECT_EQ(frozen_names(*half), names_from(*half, names));
  EXPECT_EQ(half->layers_in_backward(), 4);
}

TEST_F(FrozenModels, TheProjectionOfEmbeddingsBelongsToThem) {
  const auto model = build({"electra-cls", HeadKind::sequence_classification}, "", {.patterns = {}, .layers = 1});
  EXPECT_EQ(frozen_names(*model),
            names_from(*model, {"electra.embeddings.", "electra.embeddings_project.", "electra.encoder.layer.0."}));
  EXPECT_EQ(model->layers_in_backward(), 1);
}

TEST_F(FrozenModels, SayHowManyWeightsAreTrained) {
  const auto model = build({"bert-qa", kQa}, "", {.patterns = {}, .layers = 1});
  const ParameterStore& parameters = model->parameters();
  std::int64_t trained = 0;
  for (const NamedParameter& each : parameters.named()) trained += each.parameter->trainable ? each.value.size() : 0;
  EXPECT_EQ(parameters.trainable_count(), trained);
  const auto line = std::ranges::find_if(messages_, [](const auto& text) { return text.starts_with("frozen: "); });
  ASSERT_NE(line, messages_.end());
  EXPECT_EQ(*line, fmt::format("frozen: {} of {} weights; {} are trained", parameters.element_count() - trained,
                               parameters.element_count(), trained));
}

TEST_F(FrozenModels, APatternThatMatchesNothingIsAnError) {
  const std::string error = error_with({.patterns = {"bert.embeddings.*", "bert.encoder.layers.0.*"}, .layers = {}});
  EXPECT_TRUE(contains(error, "--freeze 'bert.encoder.layers.0.*' matches no parameter")) << error;
  EXPECT_TRUE(contains(error, "bert.embeddings.word_embeddings.weight")) << error;
}

TEST_F(FrozenModels, SomethingMustBeLeftToTrain) {
  const std::string error = error_with({.patterns = {"*"}, .layers = {}});
  EXPECT_TRUE(contains(error, "leave nothing to train")) << error;
  EXPECT_TRUE(
      contains(error_with({.patterns = {"qa_outputs.*"}, .layers = build({"bert-qa", kQa})->backbone_config().layers}),
               "leave nothing to train"));
}

TEST_F(FrozenModels, QueryKeyAndValueAreFrozenTogether) {
  const std::string error = error_with({.patterns = {"*.query.weight"}, .layers = {}});
  EXPECT_TRUE(contains(error, "freeze all three or none")) << error;
}

// The offsets of the arenas differ, the numbers do not.
TEST_F(FrozenModels, TheOthersHaveTheGradientsOfAModelWithoutFreezing) {
  for (const Built& built : kModels) {
    const auto all = build(built);
    const Batch batch = small_batch(built.head);
    std::vector<Freezing> choices = {{.patterns = {}, .layers = 0},
                                     {.patterns = {"*.bias"}, .layers = {}},
                                     {.patterns = {"*orm.weight"}, .layers = {}},
                                     {.patterns = {}, .layers = all->backbone_config().layers}};
    if (all->backbone_config().layer_groups == 0) {
      choices.push_back({.patterns = {}, .layers = 1});
      choices.push_back({.patterns = {"*.layer.1.*"}, .layers = {}});
    } else if (all->backbone_config().layer_groups > 1) {
      choices.push_back({.patterns = {"*_groups.1.*"}, .layers = {}});
      choices.push_back({.patterns = {"*_layers.0.*"}, .layers = {}});
    }
    for (const Freezing& freezing : choices)
      for (const bool checkpointing : {false, true}) {
        ops::Context ctx;
        ctx.gradient_checkpointing = checkpointing;
        const Step expected = train(*all, batch, ctx);
        const auto some = build(built, "", freezing);
        const Step step = train(*some, batch, ctx);
        EXPECT_EQ(step.loss, expected.loss) << describe(built);
        EXPECT_EQ(step.logits, expected.logits) << describe(built);
        EXPECT_EQ(step.ready.size(), some->parameters().trainable().size()) << describe(built);
        EXPECT_TRUE(std::ranges::is_sorted(step.ready)) << describe(built);
        const auto grads = some->parameters().named(), expected_grads = all->parameters().named();
        ASSERT_EQ(grads.size(), expected_grads.size());
        for (std::size_t i = 0; i < grads.size(); ++i) {
          EXPECT_EQ(grads[i].grad.defined(), grads[i].parameter->trainable);
          if (!grads[i].grad.defined()) continue;
          EXPECT_TRUE(same_bits(grads[i].grad, expected_grads[i].grad)) << describe(built) << " " << grads[i].name;
        }
      }
  }
}

TEST_F(FrozenModels, KeepTheSixteenBitsOfTheirFile) {
  for (const DType type : {DType::f16, DType::bf16}) {
    write_narrow("bert-qa", type);
    const auto model = load_frozen({.patterns = {"qa_outputs.bias"}, .layers = 1});
    const Weights stored = weights_in(folder_);
    for (const NamedParameter& each : model->parameters().named()) {
      const Tensor& expected = stored.at(each.name);
      EXPECT_TRUE(same_bits(each.value, each.parameter->trainable ? in_format(expected, DType::f32) : expected))
          << each.name;
    }
    // Computes what the same weights in f32 compute.
    const auto wide = load(kQa);
    for (const DType compute : {DType::f32, DType::bf16, DType::f16}) {
      const Step step = train(*model, small_batch(kQa), {.compute = compute});
      const Step expected = train(*wide, small_batch(kQa), {.compute = compute});
      EXPECT_EQ(step.logits, expected.logits) << name_of(type) << " in " << name_of(compute);
      EXPECT_EQ(step.loss, expected.loss);
    }
    const TemporaryPlace place;
    model->save_pretrained(place.path());
    Weights exact;
    for (const auto& [name, tensor] : stored) exact[name] = in_format(tensor, DType::f32);
    expect_same_weights(weights_in(place.path()), exact);
  }
}

TEST_F(FrozenModels, AreWideWhereTheFileHasSeveralFormats) {
  write_narrow("bert-qa", DType::f16, [](const std::string& name) { return name.find("key") != name.npos; });
  const auto model = load_frozen({.patterns = {}, .layers = 2});
  for (const NamedParameter& each : model->parameters().named()) EXPECT_EQ(each.value.type(), DType::f32) << each.name;
  write_narrow("bert-qa", DType::f16, [](const std::string& name) { return name.find("dense") != name.npos; });
  const auto mixed = load_frozen({.patterns = {}, .layers = 2});
  for (const NamedParameter& each : mixed->parameters().named())
    EXPECT_EQ(each.value.type() == DType::f16, !each.parameter->trainable && each.name.find("dense") != each.name.npos)
        << each.name;
}

// A head of another shape is started anew, in f32, frozen or not.
TEST_F(FrozenModels, AFreshHeadIsWide) {
  write_narrow("roberta-cls", DType::f16);
  LoadOptions options;
  options.freezing.patterns = {"classifier.out_proj.*"};
  options.ignore_mismatched_sizes = true;
  HeadSpec head = HeadKind::sequence_classification;
  head.labels = {"a", "b", "c", "d", "e"};
  const auto model = load_pretrained(folder_, head, options);
  const Weights weights = weights_of(*model);
  EXPECT_EQ(weights.at("classifier.out_proj.weight").type(), DType::f32);
  EXPECT_EQ(weights.at("classifier.out_proj.weight").rows(), 5);
}

TEST_F(FrozenModels, ALossTrajectoryMovesTheTrainedWeightsAlone) {
  write_narrow("bert-qa", DType::f16);
  for (const DType compute : {DType::f32, DType::bf16}) {
    const auto model = load_frozen({.patterns = {}, .layers = 1});
    const Weights before = weights_in(folder_);
    optim::OptimizerOptions options;
    options.weight_decay = 0.1;
    const auto optimizer = optim::make_optimizer(options, model->parameters());
    std::vector<float> losses;
    for (int step = 0; step < 8; ++step) {
      losses.push_back(train(*model, small_batch(kQa), {.compute = compute}).loss);
      optimizer->step(1e-3);
    }
    EXPECT_LT(losses.back(), 0.9f * losses.front()) << name_of(compute);
    for (const NamedParameter& each : model->parameters().named()) {
      const Tensor& stored = before.at(each.name);
      if (each.parameter->trainable) {
        EXPECT_FALSE(same_bits(each.value, in_format(stored, DType::f32))) << each.name;
      } else {
        EXPECT_TRUE(same_bits(each.value, stored)) << each.name;
      }
    }
  }
}

}  // namespace
}  // namespace hearth::models
