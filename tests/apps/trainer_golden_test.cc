// The whole program against runs of the real Trainer (transformers 4.57.6, PyTorch 2.15): 20 steps of MiniLM on SQuAD
// without dropout, with each kind of padding, in fp32 and bf16.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/model_weights.h"
#include "hearth/io/safetensors.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

struct Golden {
  const char* name;
  const char* file;  // in finetune/
  const char* flags;
  double loss, grad_norm;  // relative tolerances
};

// MiniLM's encoder with the head that the reference runs started from.
void write_start_model(const fs::path& data, const fs::path& finetune, const fs::path& folder) {
  fs::create_directories(folder);
  std::vector<std::pair<std::string, Tensor>> tensors;
  const io::ModelWeights encoder = io::ModelWeights::open(data / "minilm-l6");
  for (const std::string& name : encoder.names()) tensors.emplace_back(name, encoder.tensor(name));
  const io::Safetensors head = io::Safetensors::open(finetune / "qa_head_seed42.safetensors");
  for (const std::string& name : head.names()) tensors.emplace_back(name, head.tensor(name));
  io::write_safetensors(folder / "model.safetensors", tensors);
  for (const char* file : {"config.json", "vocab.txt"})
    io::replace_file(folder / file, io::read_file(data / "minilm-l6" / file));
}

class TrainerGolden : public testing::TestWithParam<Golden> {};

TEST_P(TrainerGolden, TwentySteps) {
  const Golden& golden = GetParam();
  const fs::path data = folder_in("HEARTH_DATA_DIR"), finetune = goldens2() / "finetune";
  if (data.empty() || goldens2().empty()) GTEST_SKIP() << "HEARTH_DATA_DIR or HEARTH_GOLDENS2_DIR is not set";
  const TemporaryPlace place;
  const fs::path& work = place.path();
  write_start_model(data, finetune, work / "model");

  const std::string command =
      std::string("HEARTH_CACHE=") + (work / "cache").string() + " " + kProgram + " run_qa --model_name_or_path " +
      (work / "model").string() + " --train_file " + (data / "squad" / "train.json").string() +
      " --do_train --per_device_train_batch_size 12 --learning_rate 3e-5 --max_steps 20 --max_seq_length 384"
      " --doc_stride 128 --logging_steps 1 --save_strategy no --disable_tqdm True"
      " --config_overrides hidden_dropout_prob=0,attention_probs_dropout_prob=0 --output_dir " +
      (work / "out").string() + " " + golden.flags + " > " + (work / "log").string() + " 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << io::read_file(work / "log");

  const io::Json expected = io::read_json(finetune / golden.file).at("history");
  const io::Json ours = io::read_json(work / "out" / "trainer_state.json").at("log_history");
  ASSERT_EQ(expected.size(), 20u);
  ASSERT_GE(ours.size(), expected.size());
  double worst_loss = 0, worst_norm = 0;
  for (std::size_t step = 0; step < 20; ++step) {
    const auto error = [&](const char* key) {
      const double reference = expected[step].at(key).get<double>();
      return std::abs(ours[step].at(key).get<double>() - reference) / reference;
    };
    EXPECT_LE(error("loss"), golden.loss) << "step " << step + 1;
    EXPECT_LE(error("grad_norm"), golden.grad_norm) << "step " << step + 1;
    EXPECT_NEAR(ours[step].at("learning_rate").get<double>(), expected[step].at("learning_rate").get<double>(), 1e-12);
    worst_loss = std::max(worst_loss, error("loss"));
    worst_norm = std::max(worst_norm, error("grad_norm"));
  }
  std::printf("%s: largest relative error of the loss %.1e, of the gradient norm %.1e\n", golden.name, worst_loss,
              worst_norm);
}

INSTANTIATE_TEST_SUITE_P(
    Runs, TrainerGolden,
    testing::Values(Golden{"packed_fp32", "nodrop_packed_fp32_seed42.json", "", 1e-3, 1e-3},
                    Golden{"padded_fp32", "nodrop_fp32_seed42.json", "--pad_to_max_length True", 1e-3, 1e-3},
                    Golden{"dynamic_fp32", "nodrop_fp32_dynamic_seed42.json", "--pad_to_max_length False", 1e-3, 1e-3},
                    Golden{"packed_bf16", "nodrop_packed_bf16_seed42.json", "--bf16", 2e-3, 5e-2},
                    Golden{"padded_bf16", "nodrop_bf16_seed42.json", "--bf16 --pad_to_max_length True", 2e-3, 5e-2}),
    [](const auto& golden) { return std::string(golden.param.name); });

}  // namespace
}  // namespace hearth
