#include "hearth/models/config.h"

#include <gtest/gtest.h>

#include <array>

#include "hearth/base/error.h"
#include "hearth/models/family.h"
#include "tests/models/model_folder.h"

namespace hearth::models {
namespace {

using kernels::Activation;

constexpr HeadKind kQa = HeadKind::question_answering;

class ConfigFile : public ModelFolder {
 protected:
  void use(const std::string& golden_model) {
    config_ = io::read_json(golden(golden_model) / "config.json");
    write(config_, weights_in(golden(golden_model)));
  }
  void expect_refused(const std::vector<std::string>& parts, HeadKind head = kQa) {
    write_config(config_);
    std::vector<std::string> all = parts;
    all.push_back(config_file());
    expect_error(head, all);
  }

  io::Json config_;
};

TEST_F(ConfigFile, NeedsTheSizesOfItsFamily) {
  const std::vector<std::string> bert{"vocab_size",          "hidden_size",       "num_hidden_layers",
                                      "num_attention_heads", "intermediate_size", "max_position_embeddings"};
  const std::vector<std::string> distilbert{"vocab_size", "dim",        "n_layers",
                                            "n_heads",    "hidden_dim", "max_position_embeddings"};
  for (const auto& [model, fields] : {std::pair{"bert-qa", bert}, {"distilbert-qa", distilbert}, {"roberta-cls", bert}})
    for (const std::string& field : fields) {
      config_ = io::read_json(golden(model) / "config.json");
      config_.erase(field);
      expect_refused({"\"" + field + "\""});
      config_[field] = "many";
      expect_refused({"\"" + field + "\"", "many"});
      config_[field] = 0;
      expect_refused({"\"" + field + "\"", "at least 1"});
      config_[field] = std::int64_t{1} << 31;
      expect_refused({"\"" + field + "\" must be at most", "it is 2147483648"});
    }
}

TEST_F(ConfigFile, HasSizesThatAModelCanHave) {
  for (const auto& [model, field] : {std::pair{"bert-qa", "num_hidden_layers"},
                                     {"bert-qa", "num_attention_heads"},
                                     {"distilbert-qa", "n_layers"},
                                     {"distilbert-qa", "n_heads"},
                                     {"roberta-cls", "num_hidden_layers"}}) {
    use(model);
    config_[field] = 10'001;
    expect_refused({"\"" + std::string(field) + "\" must be at most 10000, it is 10001"});
  }
  use("bert-qa");
  config_["type_vocab_size"] = std::int64_t{1} << 40;
  expect_refused({"\"type_vocab_size\" must be at most 4194304"});
  for (const char* field : {"hidden_size", "intermediate_size"}) {
    use("bert-qa");
    config_[field] = 2147483646;
    expect_refused({fmt::format("\"{}\" must be at most 1048576, it is 2147483646", field)});
  }
  use("roberta-cls");
  config_.erase("id2label");
  config_["num_labels"] = std::int64_t{1} << 40;
  expect_refused({"\"num_labels\" must be at most 4194304"}, HeadKind::sequence_classification);
}

TEST_F(ConfigFile, HasAPaddingTokenOfItsVocabulary) {
  for (const char* model : {"bert-qa", "distilbert-qa", "roberta-cls"}) {
    use(model);
    const auto size = config_.at("vocab_size").get<std::int64_t>();
    for (const std::int64_t id : {size, std::int64_t{-1}, std::int64_t{1} << 32}) {
      config_["pad_token_id"] = id;
      expect_refused({fmt::format("\"pad_token_id\" is {}, which is not in the vocabulary of {} tokens", id, size)});
    }
  }
}

TEST_F(ConfigFile, LeavesTheRestToDefaults) {
  use("bert-qa");
  for (const char* field : {"type_vocab_size", "layer_norm_eps", "initializer_range", "hidden_act", "pad_token_id",
                            "hidden_dropout_prob", "attention_probs_dropout_prob"})
    config_.erase(field);
  write_config(config_);
  const nn::TransformerConfig encoder = load(kQa)->backbone_config();
  EXPECT_EQ(encoder.token_types, 2);
  EXPECT_EQ(encoder.eps, 1e-12f);
  EXPECT_EQ(encoder.activation, Activation::gelu);
  EXPECT_EQ(encoder.hidden_dropout, 0.1f);
  EXPECT_EQ(encoder.attention_dropout, 0.1f);
  EXPECT_EQ(encoder.padding_id, 0);
}

TEST_F(ConfigFile, NamesAFamilyThatIsKnown) {
  use("bert-qa");
  config_["model_type"] = "t5";
  expect_refused({"'t5'", "use one of bert, distilbert, roberta, xlm-roberta, electra, albert"});
  config_.erase("model_type");
  expect_refused({"\"model_type\""});
}

TEST_F(ConfigFile, NamesAnActivationThatIsKnown) {
  use("bert-qa");
  config_["hidden_act"] = "swish";
  expect_refused({"\"hidden_act\"", "'swish'", "gelu_new"});
  for (const auto& [name, kind] : {std::pair{"gelu", Activation::gelu},
                                   {"gelu_new", Activation::gelu_tanh},
                                   {"gelu_pytorch_tanh", Activation::gelu_tanh},
                                   {"relu", Activation::relu},
                                   {"tanh", Activation::tanh}}) {
    config_["hidden_act"] = name;
    write_config(config_);
    EXPECT_EQ(load(kQa)->backbone_config().activation, kind);
  }
}

TEST_F(ConfigFile, AsksForNothingUnsupported) {
  for (const auto& [field, value] : std::vector<std::pair<std::string, io::Json>>{
           {"position_embedding_type", "relative_key"}, {"is_decoder", true}, {"add_cross_attention", true}}) {
    use("bert-qa");
    config_[field] = value;
    expect_refused({"\"" + field + "\"", value.dump()});
  }
  use("bert-qa");
  config_["tie_word_embeddings"] = false;
  expect_refused({"\"tie_word_embeddings\" is false; only true is supported"}, HeadKind::masked_lm);
  use("distilbert-qa");
  config_["sinusoidal_pos_embds"] = true;
  expect_refused({"\"sinusoidal_pos_embds\" is true; only false is supported"});
}

TEST_F(ConfigFile, NamesAProblemOfClassification) {
  for (const char* model : {"bert-qa", "distilbert-qa", "roberta-cls"}) {
    use(model);
    for (const io::Json& problem : {io::Json("ranking"), io::Json(3)}) {
      config_["problem_type"] = problem;
      expect_refused({"\"problem_type\" is " + problem.dump(), "it must be regression, single_label_classification or"},
                     HeadKind::sequence_classification);
    }
    for (const io::Json& problem : {io::Json("regression"), io::Json("multi_label_classification"),
                                    io::Json("single_label_classification"), io::Json(nullptr)}) {
      config_["problem_type"] = problem;
      EXPECT_NO_THROW(build_model(Config(config_, config_file()), HeadKind::sequence_classification, 1)) << model;
    }
  }
}

TEST_F(ConfigFile, HasNumbersThatAreFiniteAndNotNegative) {
  using Limits = std::numeric_limits<double>;
  for (const auto& [model, field] : {std::pair{"bert-qa", "layer_norm_eps"},
                                     {"bert-qa", "initializer_range"},
                                     {"distilbert-qa", "initializer_range"},
                                     {"roberta-cls", "layer_norm_eps"}})
    for (const double value : {Limits::quiet_NaN(), Limits::infinity(), -1e-5, 1e300}) {
      use(model);
      config_[field] = value;
      expect_refused({"\"" + std::string(field) + "\" must be a finite number that is not negative"});
    }
  use("bert-qa");
  config_["hidden_dropout_prob"] = Limits::quiet_NaN();
  expect_refused({"\"hidden_dropout_prob\"", "[0, 1)"});
}

TEST_F(ConfigFile, HasRatesBelowOneAndHeadsThatDivide) {
  use("bert-qa");
  config_["hidden_dropout_prob"] = 1;
  expect_refused({"\"hidden_dropout_prob\"", "[0, 1)"});
  use("distilbert-qa");
  config_["attention_dropout"] = -0.5;
  expect_refused({"\"attention_dropout\"", "[0, 1)"});
  for (const auto& [model, field] : {std::pair{"bert-qa", "num_attention_heads"}, {"distilbert-qa", "n_heads"}}) {
    use(model);
    config_[field] = 5;
    expect_refused({"the hidden size 64 is not a multiple of the number of attention heads, 5"});
  }
}

// The defaults of transformers' classes.
TEST_F(ConfigFile, MayLeaveOutWhatItsFamilyHasByDefault) {
  const auto config_without = [&](const char* model, const std::vector<std::string>& fields) {
    use(model);
    for (const std::string& field : fields) config_.erase(field);
    return transformer_config(Config(config_, config_file()));
  };
  EXPECT_EQ(config_without("electra-cls", {"embedding_size"}).embedding, 128);
  EXPECT_EQ(config_without("xlm-roberta-cls", {"pad_token_id"}).padding_id, 1);
  const nn::TransformerConfig albert =
      config_without("albert-tokcls", {"embedding_size", "num_hidden_groups", "inner_group_num", "hidden_act",
                                       "hidden_dropout_prob", "attention_probs_dropout_prob"});
  EXPECT_EQ(albert.embedding, 128);
  EXPECT_EQ(albert.layer_groups, 1);
  EXPECT_EQ(albert.layers_per_group, 1);
  EXPECT_EQ(albert.activation, Activation::gelu_tanh);
  EXPECT_EQ(albert.hidden_dropout, 0);
  EXPECT_EQ(albert.attention_dropout, 0);
  EXPECT_EQ(config_without("bert-qa", {"hidden_dropout_prob"}).hidden_dropout, 0.1f);
}

TEST_F(ConfigFile, HasEmbeddingsOfAWidth) {
  for (const char* model : {"electra-cls", "albert-cls"}) {
    use(model);
    config_["embedding_size"] = 0;
    expect_refused({"\"embedding_size\" must be at least 1, it is 0"});
    config_["embedding_size"] = 1 << 21;
    expect_refused({"\"embedding_size\" must be at most 1048576"});
    config_["embedding_size"] = "wide";
    expect_refused({"\"embedding_size\"", "wide"});
    config_["embedding_size"] = 12;  // the weights have 8
    expect_refused({"embeddings.word_embeddings.weight has shape (53, 8), but (53, 12) is needed"});
    config_["hidden_size"] = 18;
    config_["num_attention_heads"] = 4;
    expect_refused({"the hidden size 18 is not a multiple of the number of attention heads, 4"});
  }
}

TEST_F(ConfigFile, HasGroupsThatRun) {
  const auto expect = [&](std::int64_t layers, std::int64_t groups, std::int64_t inner, const std::string& part) {
    use("albert-cls");
    config_["num_hidden_layers"] = layers;
    config_["num_hidden_groups"] = groups;
    config_["inner_group_num"] = inner;
    expect_refused({part});
  };
  expect(2, 0, 1, "\"num_hidden_groups\" must be at least 1, it is 0");
  expect(2, -1, 1, "\"num_hidden_groups\" must be at least 1, it is -1");
  expect(2, 3, 1, "\"num_hidden_groups\" is 3, more than the 2 of \"num_hidden_layers\": a group would never run");
  expect(2, 1, 0, "\"inner_group_num\" must be at least 1, it is 0");
  expect(5, 2, 3, "\"inner_group_num\" is 3, but must be at most \"num_hidden_layers\" / \"num_hidden_groups\", 2");
  expect(5000, 1, 5000, "\"num_hidden_layers\" x \"inner_group_num\" must be at most 10000, it is 25000000");
  expect(4, 2, 1, "missing albert.encoder.albert_layer_groups.1.albert_layers.0.attention.query.weight");
}

TEST_F(ConfigFile, IsThereAndIsAnObject) {
  expect_error(kQa, {folder_.string(), "config.json"});
  io::replace_file(config_file(), "[1, 2]");
  expect_error(kQa, {config_file(), "object"});
  io::replace_file(config_file(), "{\"hidden_size\": ");
  expect_error(kQa, {config_file()});
  const std::string message = error_of([&] { load_pretrained(folder_ / "absent", kQa); });
  EXPECT_TRUE(contains(message, (folder_ / "absent").string() + " is not a folder")) << message;
}

TEST_F(ConfigFile, SaysTheHead) {
  use("bert-qa");
  const auto head_with = [&](const io::Json& architectures) {
    config_["architectures"] = architectures;
    return head_of(Config(config_, "config.json"));
  };
  EXPECT_EQ(head_with({"BertForQuestionAnswering"}), kQa);
  EXPECT_EQ(head_with({"RobertaForSequenceClassification"}), HeadKind::sequence_classification);
  EXPECT_EQ(head_with({"BertForMaskedLM"}), HeadKind::masked_lm);
  EXPECT_THROW(head_with({"BertForNextSentencePrediction"}), Error);
  EXPECT_THROW(head_with(io::Json::array()), Error);
  EXPECT_THROW(head_with(nullptr), Error);
}

TEST(NumLabels, ComesFromTheLabelsNames) {
  const auto labels = [](const char* json) { return Config(io::Json::parse(json), "config.json").num_labels(); };
  EXPECT_EQ(labels("{}"), 2);
  EXPECT_EQ(labels(R"({"num_labels": 5})"), 5);
  EXPECT_EQ(labels(R"({"id2label": {"0": "a", "1": "b", "2": "c"}})"), 3);
  EXPECT_EQ(labels(R"({"id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 5})"), 3);
  EXPECT_EQ(labels(R"({"id2label": null})"), 2);
  const Config numbered(io::Json::parse(R"({"id2label": {"0": 3, "1": 4.5}})"), "config.json");
  EXPECT_EQ(numbered.label_names(), (std::vector<std::string>{"3", "4.5"}));
}

class Overrides : public ConfigFile {
 protected:
  static LoadOptions overridden(const std::string& text) {
    LoadOptions options;
    options.config_overrides = text;
    return options;
  }
};

TEST_F(Overrides, ChangeFields) {
  use("bert-qa");
  const auto model = load(kQa, overridden("hidden_dropout_prob=0.25,layer_norm_eps=1e-5,hidden_act=relu"));
  EXPECT_EQ(model->backbone_config().hidden_dropout, 0.25f);
  EXPECT_EQ(model->backbone_config().eps, 1e-5f);
  EXPECT_EQ(model->backbone_config().activation, Activation::relu);
  EXPECT_EQ(model->config().values().at("hidden_dropout_prob"), 0.25);
}

TEST_F(Overrides, MayNameADefaultThatTheFileLeavesOut) {
  use("bert-qa");
  config_.erase("hidden_dropout_prob");
  write_config(config_);
  EXPECT_EQ(load(kQa, overridden("hidden_dropout_prob=0"))->backbone_config().hidden_dropout, 0);
}

TEST_F(Overrides, OfTheNumberOfLabelsReplaceTheirNames) {
  use("roberta-cls");
  config_["id2label"] = {{"0", "no"}, {"1", "yes"}};
  config_["label2id"] = {{"no", 0}, {"yes", 1}};
  Config config(config_, config_file());
  config.override_fields("num_labels=5", std::array<std::string_view, 1>{"num_labels"});
  EXPECT_EQ(config.num_labels(), 5);
  const auto model = build_model(config, HeadKind::sequence_classification, 1);
  EXPECT_EQ(weights_of(*model).at("classifier.out_proj.weight").shape(), (Shape{5, 64}));
}

TEST_F(Overrides, AreReadStrictly) {
  use("bert-qa");
  expect_error(kQa, {"config_overrides", "\"hiden_size\"", config_file()}, overridden("hiden_size=3"));
  expect_error(kQa, {"config_overrides", "'hidden_size'", "field=value"}, overridden("hidden_size"));
  expect_error(kQa, {"config_overrides", "'=3'", "field=value"}, overridden("=3"));
  expect_error(kQa, {"hidden_dropout_prob", config_file(), "lots"}, overridden("hidden_dropout_prob=lots"));
}

TEST_F(Overrides, MayComeWithAConfigOfAnotherFolder) {
  use("bert-qa");
  std::filesystem::create_directory(folder_ / "other");
  config_["layer_norm_eps"] = 1e-3;
  io::replace_file(folder_ / "other" / "config.json", io::dump_json(config_, 2));
  LoadOptions options;
  options.config_folder = folder_ / "other";
  EXPECT_EQ(load(kQa, options)->backbone_config().eps, 1e-3f);
}

}  // namespace
}  // namespace hearth::models
