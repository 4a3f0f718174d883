// run_qa against run_qa.py of transformers with its Trainer: 20 steps, started with the same flags, from the same
// weights, on the same questions. tests/fixtures/trainer/README.md says how the references were made.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "hearth/io/safetensors.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kReferences = fixture("trainer") / "finetune";
constexpr std::size_t kSteps = 20;
// Without a gradient in exact arithmetic: both key.bias, the last LayerNorm.bias and qa_outputs.bias. Adam turns the
// rounding noise in such a gradient into steps of full size, so these four cannot agree and the references omit them.
constexpr std::size_t kWithoutGradient = 4;

using Values = std::vector<double>;  // one per step

Values values_of(const io::Json& history, const char* key) {
  check(history.size() >= kSteps, "a history of {} steps instead of {}", history.size(), kSteps);
  Values values;
  for (std::size_t step = 0; step < kSteps; ++step) values.push_back(history[step].at(key).get<double>());
  return values;
}

Values reference(const std::string& run, const char* key) {
  return values_of(io::read_json(kReferences / (run + ".json")).at("history"), key);
}

double largest_error(const Values& values, const Values& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < kSteps; ++i)
    largest = std::max(largest, std::abs(values[i] - expected[i]) / std::abs(expected[i]));
  return largest;
}

double mean_error(const Values& values, const Values& expected) {  // root mean square
  double sum = 0;
  for (std::size_t i = 0; i < kSteps; ++i) sum += std::pow((values[i] - expected[i]) / expected[i], 2);
  return std::sqrt(sum / kSteps);
}

class TrainerReference : public ProgramTest, public testing::WithParamInterface<const char*> {
 protected:
  std::string run_of(const char* dtype) const { return std::string(GetParam()) + "_" + dtype; }

  // Trains with the flags of a reference; the model is in out/.
  io::Json train(const std::string& run) const {
    const std::string flags = io::read_json(kReferences / (run + ".json")).at("flags").get<std::string>();
    const Outcome outcome =
        hearth("run_qa --do_train --output_dir out --disable_tqdm True --num_threads 1 --model_name_or_path " +
               (kReferences / "model").string() + " --train_file " + (fixture("trainer") / "questions.json").string() +
               " " + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json("out/trainer_state.json").at("log_history");
  }
};

TEST_P(TrainerReference, TwentyStepsInFp32) {
  const std::string run = run_of("fp32");
  const io::Json history = train(run);
  const double loss = largest_error(values_of(history, "loss"), reference(run, "loss"));
  const double norm = largest_error(values_of(history, "grad_norm"), reference(run, "grad_norm"));
  std::printf("%s: largest relative error of the loss %.1e, of the gradient norm %.1e\n", run.c_str(), loss, norm);
  EXPECT_LE(loss, 1e-4);  // the log rounds the loss to four decimals
  EXPECT_LE(norm, 1e-5);
  EXPECT_EQ(values_of(history, "learning_rate"), reference(run, "learning_rate"));
}

TEST_P(TrainerReference, ParametersAfterTwentySteps) {
  const std::string run = run_of("fp32");
  train(run);
  const io::Safetensors after = io::Safetensors::open(kReferences / (run + "_after.safetensors"));
  const io::Safetensors ours = io::Safetensors::open(folder() / "out/model.safetensors");
  ASSERT_EQ(after.names().size() + kWithoutGradient, ours.names().size());
  for (const std::string& name : after.names()) {
    const Tensor expected = after.tensor(name), values = ours.tensor(name);
    ASSERT_EQ(values.shape(), expected.shape()) << name;
    double largest = 0, error = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      const double wanted = expected.data<float>()[i];
      largest = std::max(largest, std::abs(wanted));
      error = std::max(error, std::abs(values.data<float>()[i] - wanted));
    }
    EXPECT_LE(error, 1e-5 * largest) << name;
  }
}

// The measure is PyTorch's own error in bf16, against PyTorch in fp32. Ours must be of that size: fp32 or fp16 under
// the name of bf16 would be too exact. Measured from avx2 to avx512_bf16: 1.0 to 1.9 times PyTorch's.
TEST_P(TrainerReference, TwentyStepsInBf16) {
  const io::Json history = train(run_of("bf16"));
  for (const char* key : {"loss", "grad_norm"}) {
    const Values ours = values_of(history, key), theirs = reference(run_of("bf16"), key),
                 exact = reference(run_of("fp32"), key);
    const double error_of_pytorch = mean_error(theirs, exact);
    const double error = mean_error(ours, exact) / error_of_pytorch;
    const double distance = mean_error(ours, theirs) / error_of_pytorch;
    std::printf("%s %s: error of PyTorch %.1e, ours %.2f times that, both %.2f times that apart\n", GetParam(), key,
                error_of_pytorch, error, distance);
    EXPECT_GT(error, 1.0 / 3) << key;
    EXPECT_LT(error, 3) << key;
    EXPECT_LT(distance, 3) << key;
  }
  EXPECT_EQ(values_of(history, "learning_rate"), reference(run_of("bf16"), "learning_rate"));
}

INSTANTIATE_TEST_SUITE_P(Padding, TrainerReference, testing::Values("padded", "dynamic", "packed"),
                         [](const auto& padding) { return std::string(padding.param); });

}  // namespace
}  // namespace hearth
