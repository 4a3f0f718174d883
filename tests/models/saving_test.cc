#include <gtest/gtest.h>

#include "tests/models/model_folder.h"

namespace hearth::models {
namespace {

using Saving = ModelFolder;

const std::vector<std::string> kGoldens = {"bert-qa",     "distilbert-qa", "roberta-cls", "xlm-roberta-mlm",
                                           "electra-mlm", "albert-mlm",    "albert-cls"};

TEST_F(Saving, ComesBackToTheBit) {
  for (const std::string& name : kGoldens) {
    const HeadKind head = head_of(Config::read(golden(name)));
    const auto model = load_pretrained(golden(name), head);
    for (const auto& parameter : model->parameters().parameters())
      for (std::int64_t i = 0; i < parameter->master.size(); ++i) parameter->master.data<float>()[i] *= 1.1f;
    const auto folder = folder_ / name / "deeper";
    model->save_pretrained(folder);
    expect_same_weights(weights_of(*load_pretrained(folder, head)), weights_of(*model));
  }
  EXPECT_TRUE(messages_.empty()) << messages_.front();
}

TEST_F(Saving, WritesTheNamesAndTheConfigThatTransformersWrites) {
  for (const std::string& name : kGoldens) {
    load_pretrained(golden(name), head_of(Config::read(golden(name))))->save_pretrained(folder_);
    expect_same_weights(weights_in(folder_), weights_in(golden(name)));
    EXPECT_EQ(io::read_json(folder_ / "config.json"), io::read_json(golden(name) / "config.json"));
    EXPECT_EQ(io::Safetensors::open(folder_ / "model.safetensors").metadata(),
              (io::Safetensors::Metadata{{"format", "pt"}}));
  }
}

TEST_F(Saving, SaysWhatTheModelHasBecome) {
  io::Json config = io::read_json(golden("bert-qa") / "config.json");
  config.erase("dtype");
  config["torch_dtype"] = "float16";
  Weights narrow;
  for (const auto& [name, tensor] : weights_in(golden("bert-qa"))) narrow[name] = in_format(tensor, DType::f16);
  write(config, narrow);
  LoadOptions options;
  options.config_overrides = "hidden_dropout_prob=0.3";
  load(HeadKind::sequence_classification, options)->save_pretrained(folder_ / "saved");
  const io::Json saved = io::read_json(folder_ / "saved" / "config.json");
  EXPECT_EQ(saved.at("architectures"), io::Json::array({"BertForSequenceClassification"}));
  EXPECT_EQ(saved.at("torch_dtype"), "float32");
  EXPECT_EQ(saved.at("hidden_dropout_prob"), 0.3);
  for (const auto& [name, tensor] : weights_in(folder_ / "saved")) EXPECT_EQ(tensor.type(), DType::f32) << name;
}

// transformers makes as many outputs of a question-answering head as there are labels.
TEST_F(Saving, LeavesTwoLabelsToQuestionAnswering) {
  io::Json config = io::read_json(golden("roberta-cls") / "config.json");
  config["id2label"] = {{"0", "contradiction"}, {"1", "entailment"}, {"2", "neutral"}};
  config["label2id"] = {{"contradiction", 0}, {"entailment", 1}, {"neutral", 2}};
  write(config, weights_in(golden("roberta-cls")));
  load(HeadKind::question_answering)->save_pretrained(folder_ / "saved");
  EXPECT_EQ(Config::read(folder_ / "saved").num_labels(), 2);

  build_model(Config(config, config_file()), HeadKind::sequence_classification, 1)->save_pretrained(folder_ / "saved");
  EXPECT_EQ(io::read_json(folder_ / "saved" / "config.json").at("id2label"), config.at("id2label"));
}

}  // namespace
}  // namespace hearth::models
