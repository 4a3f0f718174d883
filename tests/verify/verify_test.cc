#include "hearth/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>

#include "hearth/base/error.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"

namespace hearth::verify {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldens = fs::path(HEARTH_FIXTURES) / "goldens";

struct Outcome {
  int made = 0, failures = 0;
  std::string failed_lines, all_lines;
};

Outcome run(const fs::path& set) {
  Outcome outcome;
  Report report([&](bool passed, std::string_view line) {
    outcome.all_lines += std::string(line) + "\n";
    if (!passed) outcome.failed_lines += std::string(line) + "\n";
  });
  verify_set(set, report);
  outcome.made = report.made();
  outcome.failures = report.failures();
  return outcome;
}

// A copy of one golden model, to be spoilt.
class Spoilt : public testing::Test {
 protected:
  Spoilt() : set_(fs::path(testing::TempDir()) / "hearth_verify_set"), model_(set_ / "models" / "bert-qa") {
    fs::remove_all(set_);
    fs::create_directories(set_ / "models");
    fs::copy(kGoldens / "models" / "bert-qa", model_, fs::copy_options::recursive);
  }
  ~Spoilt() override { fs::remove_all(set_); }

  void change(const std::string& file, const std::string& name, const std::function<void(float*)>& edit) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    {
      const io::Safetensors source = io::Safetensors::open(model_ / file);
      for (const std::string& key : source.names()) tensors.emplace_back(key, source.tensor(key).clone());
    }
    for (const auto& [key, tensor] : tensors)
      if (key == name) edit(tensor.data<float>());
    io::write_safetensors(model_ / file, tensors);
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
    io::Json trajectory = io::read_json(model_ / "trajectory.json");
    io::Json& value = trajectory["steps"][4][key];
    value = value.get<double>() * (1 + share);
    io::replace_file(model_ / "trajectory.json", io::dump_json(trajectory, 1));
  }

  void expect_failure(const std::string& name) {
    const Outcome outcome = run(set_);
    EXPECT_EQ(outcome.failures, 1) << outcome.failed_lines;
    EXPECT_NE(outcome.failed_lines.find(name), std::string::npos) << outcome.failed_lines;
  }

  fs::path set_, model_;
};

TEST(Verify, PassesOnGoldenModelsWithAnyNumberOfThreads) {
  Outcome first;
  for (const int threads : {1, 2, 5}) {
    cpu::set_num_threads(threads);
    const Outcome outcome = run(kGoldens);
    EXPECT_EQ(outcome.failures, 0) << outcome.failed_lines;
    EXPECT_GT(outcome.made, 400);
    if (threads == 1) first = outcome;
    EXPECT_EQ(outcome.all_lines, first.all_lines) << "the errors differ from those with one thread";
  }
  cpu::set_num_threads(0);
}

TEST_F(Spoilt, NotAtAll) { EXPECT_EQ(run(set_).failures, 0); }

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

TEST_F(Spoilt, AGradientThatIsZeroInExactArithmetic) {
  change("expected.safetensors", "grad.bert.encoder.layer.0.attention.self.key.bias",
         [](float* values) { values[3] = 1e-3f; });
  expect_failure("grad.bert.encoder.layer.0.attention.self.key.bias");
}

TEST_F(Spoilt, AModelFolderThatCannotBeRead) {
  fs::resize_file(model_ / "model.safetensors", 1000);
  expect_failure("model.safetensors");
}

TEST_F(Spoilt, AMissingPart) {
  fs::remove(model_ / "trajectory.json");
  expect_failure("trajectory.json");
}

TEST_F(Spoilt, AFamilyOfLaterIsNotKnown) {
  io::Json config = io::read_json(model_ / "config.json");
  config["model_type"] = "gpt2";
  io::replace_file(model_ / "config.json", io::dump_json(config, 2));
  Report report([](bool, std::string_view) {});
  EXPECT_THROW(verify_set(set_, report), Error) << "nothing was checked, which is no success";
  EXPECT_EQ(report.unknowns(), 1);
}

TEST(Verify, AFolderWithoutGoldensIsAnError) {
  Report report([](bool, std::string_view) {});
  EXPECT_THROW(verify_set(fs::path(HEARTH_FIXTURES) / "nowhere", report), Error);
}

TEST(Verify, DataOrderNotices) {
  const fs::path file = fs::path(testing::TempDir()) / "data_order.json";
  const auto outcome = [&](const std::string& batches) {
    io::replace_file(file, R"([{"n": 4, "batch_size": 2, "seed": 42, "epoch": 0, "world": 1, "rank": 0, "batches": )" +
                               batches + "}]");
    Report report([](bool, std::string_view) {});
    verify_data_order(file, report);
    return report.failures();
  };
  EXPECT_EQ(outcome("[[2, 3], [0, 1]]"), 0);
  EXPECT_EQ(outcome("[[3, 2], [0, 1]]"), 1);
  fs::remove(file);
}

// The text side of a golden set, copied and spoilt; it needs the sources that the goldens name.
class SpoiltText : public testing::Test {
 protected:
  void SetUp() override {
    const char* goldens = std::getenv("HEARTH_GOLDENS_DIR");
    if (goldens == nullptr) GTEST_SKIP() << "HEARTH_GOLDENS_DIR is not set";
    root_ = goldens;
    fs::remove_all(set_);
    fs::create_directories(set_);
  }
  void TearDown() override { fs::remove_all(set_); }

  int qa_failures(const std::string& file, const std::function<void(io::Json&)>& edit, std::string& lines) {
    fs::remove_all(set_ / "qa");
    fs::copy(root_ / "qa", set_ / "qa", fs::copy_options::recursive);
    fs::permissions(set_ / "qa", fs::perms::owner_write, fs::perm_options::add);
    io::Json all = io::read_json(set_ / "qa" / "all.json");
    all["source"] = (root_ / "qa" / all["source"].get<std::string>()).string();
    all["vocab"] = (root_ / all["vocab"].get<std::string>()).string();
    io::replace_file(set_ / "qa" / "all.json", io::dump_json(all, 1));
    io::Json json = io::read_json(set_ / "qa" / file);
    edit(json);
    io::replace_file(set_ / "qa" / file, io::dump_json(json, 1));
    lines.clear();
    Report report([&](bool passed, std::string_view line) {
      if (!passed) lines += std::string(line) + "\n";
    });
    verify_question_answering(set_ / "qa", set_, report);
    return report.failures();
  }

  fs::path root_, set_ = fs::path(testing::TempDir()) / "hearth_verify_text";
};

TEST_F(SpoiltText, QuestionAnswering) {
  std::string lines;
  EXPECT_EQ(qa_failures(
                "all.json", [](io::Json&) {}, lines),
            0)
      << lines;
  EXPECT_EQ(qa_failures(
                "all.json", [](io::Json& all) { all["sha256_of_lines"].get_ref<std::string&>()[5] = 'x'; }, lines),
            1);
  EXPECT_NE(lines.find("sha256"), std::string::npos) << lines;
  EXPECT_EQ(qa_failures(
                "features_64_24.json",
                [](io::Json& golden) {
                  golden["features"][7]["offsets"][30] = {1, 2};
                },
                lines),
            1);
  EXPECT_NE(lines.find("features_64_24"), std::string::npos) << lines;
  const auto first_id = [](const io::Json& golden) { return golden["example_ids"][0].get<std::string>(); };
  EXPECT_EQ(qa_failures(
                "postprocess.json", [&](io::Json& golden) { golden["v1"]["predictions"][first_id(golden)] = "other"; },
                lines),
            1);
  EXPECT_NE(lines.find("v1 predictions"), std::string::npos) << lines;
  EXPECT_EQ(qa_failures(
                "postprocess.json",
                [&](io::Json& golden) {
                  io::Json& value = golden["v2"]["nbest"][first_id(golden)][3]["probability"];
                  value = value.get<double>() + 1e-4;
                },
                lines),
            1);
  EXPECT_NE(lines.find("v2 n-best probabilities"), std::string::npos) << lines;
  EXPECT_EQ(qa_failures(
                "postprocess.json",
                [&](io::Json& golden) {
                  io::Json& value = golden["v2"]["null_odds"][first_id(golden)];
                  value = value.get<double>() + 1e-4;
                },
                lines),
            1);
  EXPECT_NE(lines.find("null odds"), std::string::npos) << lines;
}

TEST_F(SpoiltText, Tokenizer) {
  for (const bool spoil : {false, true}) {
    io::Json golden = io::read_json(root_ / "tokenizer" / "uncased" / "cases.json");
    golden["vocab"] = (root_ / golden["vocab"].get<std::string>()).string();
    if (spoil) golden["cases"][11]["ids"][2] = golden["cases"][11]["ids"][2].get<int>() + 1;
    io::replace_file(set_ / "cases.json", io::dump_json(golden, io::kOneLine));
    std::string lines;
    Report report([&](bool, std::string_view line) { lines += std::string(line); });
    verify_tokenizer(set_, set_, report);
    EXPECT_EQ(report.failures(), spoil ? 1 : 0) << lines;
  }
}

}  // namespace
}  // namespace hearth::verify
