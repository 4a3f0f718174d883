#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "hearth/base/error.h"
#include "hearth/io/safetensors.h"
#include "tests/verify/outcome.h"

namespace hearth::verify {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<std::pair<std::string, Tensor>>;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A copy of one golden model, to be spoilt.
class Spoilt : public TemporaryFolder {
 protected:
  explicit Spoilt(const std::string& name = "bert-qa") : model_(folder_ / "models" / name) {
    fs::create_directories(folder_ / "models");
    fs::copy(fixture("goldens") / "models" / name, model_, fs::copy_options::recursive);
  }

  void rewrite(const std::string& file, const std::function<void(Tensors&)>& edit) {
    Tensors tensors;
    {
      const io::Safetensors source = io::Safetensors::open(model_ / file);
      for (const std::string& key : source.names()) tensors.emplace_back(key, source.tensor(key).clone());
    }
    edit(tensors);
    io::write_safetensors(model_ / file, tensors);
  }

  void replace(const std::string& file, const std::string& name, const std::function<Tensor(const Tensor&)>& edit) {
    rewrite(file, [&](Tensors& tensors) {
      for (auto& [key, tensor] : tensors)
        if (key == name) tensor = edit(tensor);
    });
  }

  void change(const std::string& file, const std::string& name, const std::function<void(float*)>& edit) {
    replace(file, name, [&](const Tensor& tensor) {
      edit(tensor.data<float>());
      return tensor;
    });
  }

  void add(const std::string& file, const std::string& name) {
    rewrite(file, [&](Tensors& tensors) { tensors.emplace_back(name, Tensor::zeros({3}, DType::f32)); });
  }

  // Adds `share` of the tensor's largest value to its largest element.
  void spoil_tensor(const std::string& file, const std::string& name, double share) {
    const std::int64_t size = io::Safetensors::open(model_ / file).tensor(name).size();
    change(file, name, [&](float* values) {
      float* largest =
          std::max_element(values, values + size, [](float a, float b) { return std::abs(a) < std::abs(b); });
      *largest += static_cast<float>(share * std::abs(*largest));
    });
  }

  void spoil_step(const std::string& key, double share) {
    edit_json(model_ / "trajectory.json", [&](io::Json& trajectory) {
      io::Json& value = trajectory["steps"][4][key];
      value = value.get<double>() * (1 + share);
    });
  }

  void expect_failure(std::string_view part, std::string_view other = "") {
    const Outcome outcome = run(folder_);
    EXPECT_EQ(outcome.failures, 1) << outcome.failed_lines;
    EXPECT_TRUE(contains(outcome.failed_lines, part));
    EXPECT_TRUE(contains(outcome.failed_lines, other));
  }

  fs::path model_;
};

TEST_F(Spoilt, NotAtAll) { EXPECT_EQ(run(folder_).failures, 0); }

TEST_F(Spoilt, Logits) {
  spoil_tensor("expected.safetensors", "start_logits", 2e-4);
  expect_failure("start_logits");
}

TEST_F(Spoilt, Loss) {
  spoil_tensor("expected.safetensors", "loss", 2e-4);
  expect_failure("bert-qa loss");
}

TEST_F(Spoilt, Gradient) {
  spoil_tensor("expected.safetensors", "grad.bert.encoder.layer.1.output.dense.weight", 2e-4);
  expect_failure("grad.bert.encoder.layer.1.output.dense.weight");
}

TEST_F(Spoilt, StepLoss) {
  spoil_step("loss", 1e-3);
  expect_failure("step 5 loss");
}

TEST_F(Spoilt, StepGradientNorm) {
  spoil_step("grad_norm", 1e-3);
  expect_failure("step 5 gradient norm");
}

TEST_F(Spoilt, StepLearningRate) {
  spoil_step("lr", 1e-5);
  expect_failure("step 5 learning rate");
}

TEST_F(Spoilt, ParametersAfterTenSteps) {
  spoil_tensor("after10.safetensors", "bert.encoder.layer.0.intermediate.dense.weight", 1e-3);
  expect_failure("after 10 steps bert.encoder.layer.0.intermediate.dense.weight");
}

TEST_F(Spoilt, ElementsWithoutAGradient) {
  change("after10.safetensors", "bert.encoder.layer.0.attention.self.key.bias",
         [](float* values) { values[3] += 0.05f; });  // ten times the sum of the learning rates
  expect_failure("attention.self.key.bias (");
}

// The parameter then counts as one with a gradient, and ten steps along rounding errors may fail it, too.
TEST_F(Spoilt, AGradientThatIsZeroInExactArithmetic) {
  const std::string parameter = "bert.encoder.layer.0.attention.self.key.bias";
  change("expected.safetensors", "grad." + parameter, [](float* values) { values[3] = 1e-3f; });
  const std::string failed = run(folder_).failed_lines;
  EXPECT_TRUE(contains(failed, "grad." + parameter)) << failed;
  std::istringstream lines(failed);
  for (std::string line; std::getline(lines, line);) EXPECT_TRUE(contains(line, parameter)) << line;
}

TEST_F(Spoilt, ANaNAmongTheLogits) {
  change("expected.safetensors", "start_logits", [](float* values) { values[0] = kNaN; });
  expect_failure("start_logits");
}

TEST_F(Spoilt, ANaNInAGradient) {
  change("expected.safetensors", "grad.qa_outputs.weight", [](float* values) { values[0] = kNaN; });
  expect_failure("grad.qa_outputs.weight");
}

TEST_F(Spoilt, ANaNAfterTenSteps) {
  change("after10.safetensors", "qa_outputs.weight", [](float* values) { values[0] = kNaN; });
  expect_failure("after 10 steps qa_outputs.weight");
}

TEST_F(Spoilt, AGradientOfNoParameter) {
  add("expected.safetensors", "grad.other.weight");
  expect_failure("gradients");
}

TEST_F(Spoilt, AParameterAfterTenStepsThatTheModelLacks) {
  add("after10.safetensors", "other.weight");
  expect_failure("parameters after 10 steps");
}

TEST_F(Spoilt, AGradientOfAnotherShape) {
  replace("expected.safetensors", "grad.qa_outputs.weight",
          [](const Tensor& tensor) { return tensor.reshape({tensor.size()}); });
  expect_failure("expected.safetensors", "grad.qa_outputs.weight");
}

TEST_F(Spoilt, AGradientOfAnotherFormat) {
  replace("expected.safetensors", "grad.qa_outputs.weight",
          [](const Tensor& tensor) { return Tensor::zeros(tensor.shape(), DType::f64); });
  expect_failure("expected.safetensors", "grad.qa_outputs.weight");
}

TEST_F(Spoilt, AParameterAfterTenStepsOfAnotherShape) {
  replace("after10.safetensors", "qa_outputs.weight", [](const Tensor& tensor) { return tensor.slice(0, 1); });
  expect_failure("after10.safetensors", "qa_outputs.weight");
}

TEST_F(Spoilt, LogitsOfAnotherShape) {
  replace("expected.safetensors", "end_logits", [](const Tensor& tensor) { return tensor.slice(0, 4); });
  expect_failure("expected.safetensors", "end_logits");
}

TEST_F(Spoilt, ALossOfManyValues) {
  replace("expected.safetensors", "loss", [](const Tensor&) { return Tensor::zeros({2}, DType::f32); });
  expect_failure("expected.safetensors", "loss");
}

TEST_F(Spoilt, ABatchThatIsNotRowsOfTokens) {
  replace("batch.safetensors", "input_ids", [](const Tensor& tensor) { return tensor.reshape({tensor.size()}); });
  expect_failure("batch.safetensors", "input_ids");
}

TEST_F(Spoilt, ABatchOfUnequalShapes) {
  replace("batch.safetensors", "attention_mask", [](const Tensor& tensor) { return tensor.slice(0, 4); });
  expect_failure("batch.safetensors", "attention_mask");
}

TEST_F(Spoilt, ABatchWithTooFewLabels) {
  replace("batch.safetensors", "end_positions", [](const Tensor& tensor) { return tensor.slice(0, 4); });
  expect_failure("batch.safetensors", "end_positions");
}

TEST_F(Spoilt, ATrajectoryWithoutSteps) {
  edit_json(model_ / "trajectory.json", [](io::Json& trajectory) { trajectory.erase("steps"); });
  expect_failure("trajectory.json", "\"steps\"");
}

TEST_F(Spoilt, ATrajectoryOfNoSteps) {
  edit_json(model_ / "trajectory.json", [](io::Json& trajectory) { trajectory["steps"] = io::Json::array(); });
  expect_failure("trajectory.json", "\"steps\"");
}

TEST_F(Spoilt, AnOptimizerWithOneBeta) {
  edit_json(model_ / "trajectory.json", [](io::Json& trajectory) { trajectory["optimizer"]["betas"].erase(1); });
  expect_failure("trajectory.json", "\"betas\"");
}

TEST_F(Spoilt, AModelFolderThatCannotBeRead) {
  fs::resize_file(model_ / "model.safetensors", 1000);
  expect_failure("model.safetensors");
}

TEST_F(Spoilt, AMissingPart) {
  fs::remove(model_ / "trajectory.json");
  expect_failure("trajectory.json");
}

class SpoiltRegression : public Spoilt {
 protected:
  SpoiltRegression() : Spoilt("bert-regression") {}
};

TEST_F(SpoiltRegression, NotAtAll) { EXPECT_EQ(run(folder_).failures, 0); }

TEST_F(SpoiltRegression, ATarget) {
  change("batch.safetensors", "labels", [](float* values) { values[0] += 1; });
  const std::string failed = run(folder_).failed_lines;
  EXPECT_TRUE(contains(failed, "bert-regression loss")) << failed;
  EXPECT_TRUE(contains(failed, "step 1 loss")) << failed;
  EXPECT_FALSE(contains(failed, "logits")) << failed;
}

TEST_F(SpoiltRegression, TooFewTargets) {
  replace("batch.safetensors", "labels", [](const Tensor& tensor) { return tensor.slice(0, 1); });
  expect_failure("batch.safetensors", "labels");
}

TEST_F(SpoiltRegression, ClassesInsteadOfTargets) {
  replace("batch.safetensors", "labels",
          [](const Tensor& tensor) { return Tensor::zeros({tensor.rows()}, DType::i64); });
  expect_failure("batch.safetensors", "computes no loss from these labels");
}

class SpoiltMultiLabel : public Spoilt {
 protected:
  SpoiltMultiLabel() : Spoilt("bert-multilabel") {}
};

TEST_F(SpoiltMultiLabel, NotAtAll) { EXPECT_EQ(run(folder_).failures, 0); }

TEST_F(SpoiltMultiLabel, ATarget) {
  change("batch.safetensors", "labels", [](float* values) { values[0] = 1 - values[0]; });
  EXPECT_TRUE(contains(run(folder_).failed_lines, "bert-multilabel loss"));
}

TEST_F(Spoilt, AFamilyOfLaterIsNotKnown) {
  io::Json config = io::read_json(model_ / "config.json");
  config["model_type"] = "gpt2";
  io::replace_file(model_ / "config.json", io::dump_json(config, 2));
  Report report([](bool, std::string_view) {});
  EXPECT_THROW(verify_set(folder_, report), Error) << "nothing was checked, which is no success";
  EXPECT_EQ(report.unknowns(), 1);
}

}  // namespace
}  // namespace hearth::verify
