// Numbers that are NaN or infinite end a run with status 3 and a sentence, and leave good files alone.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hearth/io/safetensors.h"
#include "hearth/kernels/rows/elementwise.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

class NotFinite : public ProgramTest {
 protected:
  // The start model as a folder of its own, in which `change` has changed the weight.
  std::string model_with(const std::string& name, const std::function<void(float&)>& change) const {
    fs::copy(start_model(), folder() / "model", fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    std::vector<std::pair<std::string, Tensor>> weights;
    {
      const io::Safetensors file = io::Safetensors::open(start_model() / "model.safetensors");
      for (const std::string& each : file.names()) weights.emplace_back(each, file.tensor(each).clone());
    }
    bool found = false;
    for (const auto& [each, values] : weights)
      if (each == name) {
        found = true;
        for (std::int64_t i = 0; i < values.size(); ++i) change(values.data<float>()[i]);
      }
    EXPECT_TRUE(found) << name;
    io::write_safetensors(folder() / "model" / "model.safetensors", weights);
    return " --model_name_or_path model ";
  }
  bool has_finite_weights(const fs::path& path) const {
    const io::Safetensors file = io::Safetensors::open(folder() / path / "model.safetensors");
    for (const std::string& name : file.names())
      if (const Tensor values = file.tensor(name); !kernels::all_finite(values.type(), values.size(), values.raw()))
        return false;
    return true;
  }
  static void expect_all(const std::string& sentence, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_TRUE(contains(sentence, part));
  }
};

// The third step makes the weights huge, so the fourth has a NaN.
TEST_F(NotFinite, ALearningRateThatIsTooLarge) {
  const std::string flags = "--do_train --save_steps 1 --save_total_limit 2 --output_dir out ";
  ASSERT_EQ(run_qa(flags + "--max_steps 2").status, 0);
  const std::string model = text("out/model.safetensors");
  const Outcome outcome =
      run_qa(flags + "--max_steps 40 --learning_rate 1e30 --resume_from_checkpoint out/checkpoint-2");
  EXPECT_EQ(outcome.status, 3);
  expect_all(outcome.error(), {"training stopped at step 4, before its update", "first came ", "bert.",
                               "the last checkpoint is out/checkpoint-3", "--learning_rate below 1e+30"});
  EXPECT_FALSE(contains(outcome.out, "train_loss"));
  for (const char* checkpoint : {"out/checkpoint-2", "out/checkpoint-3"}) EXPECT_TRUE(has_finite_weights(checkpoint));
  EXPECT_FALSE(fs::exists(folder() / "out/checkpoint-4"));
  EXPECT_EQ(text("out/model.safetensors"), model);
}

TEST_F(NotFinite, WeightsAreRefused) {
  const std::string flags = "--output_dir out" + model_with("bert.embeddings.LayerNorm.bias", [](float& x) {
                              x = std::numeric_limits<float>::quiet_NaN();
                            });
  for (const char* policy : {"stop", "ignore"})
    expect_all(run_qa("--do_train --nan_policy " + std::string(policy) + " " + flags).error(),
               {"model/model.safetensors", "bert.embeddings.LayerNorm.bias", "NaN or infinite"});
  EXPECT_EQ(run_qa("--do_eval " + flags).status, 1);
  EXPECT_FALSE(fs::exists(folder() / "out"));
}

TEST_F(NotFinite, SettingsAreRefused) {
  const Outcome outcome = run_qa("--do_train --output_dir out --learning_rate inf");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.error(), "--learning_rate must be a finite number, not inf");
  EXPECT_EQ(run_qa("--do_train --output_dir out --debug overflow").status, 2);
  expect_all(run_qa("--do_train --output_dir out --config_overrides layer_norm_eps=-1").error(),
             {"\"layer_norm_eps\""});
}

TEST_F(NotFinite, Fp16ThatNeverFits) {
  const std::string model = model_with("bert.encoder.layer.0.output.LayerNorm.weight", [](float& x) { x *= 1e6f; });
  const Outcome outcome = run_qa("--do_train --fp16 --max_steps 30 --output_dir out" + model);
  EXPECT_EQ(outcome.status, 3);
  expect_all(lines_of(outcome.err).back(), {"training stopped at step 17: fp16 overflowed", "loss scale",
                                            "bert.encoder.layer.0.output.LayerNorm", "--bf16 or fp32"});
  EXPECT_FALSE(fs::exists(folder() / "out/model.safetensors"));
}

TEST_F(NotFinite, ChecksOfEveryStepChangeNoBits) {
  ASSERT_EQ(run_qa("--do_train --max_steps 2 --output_dir plain").status, 0);
  ASSERT_EQ(run_qa("--do_train --max_steps 2 --output_dir checked --debug underflow_overflow").status, 0);
  EXPECT_TRUE(same("plain/model.safetensors", "checked/model.safetensors"));
}

}  // namespace
}  // namespace hearth
