#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kMaskedLm = fs::path(HEARTH_FIXTURES) / "masked_lm";

class RunMlm : public ProgramTest {
 protected:
  static std::string text() { return " --train_file " + (kMaskedLm / "text.txt").string() + " --disable_tqdm True "; }
};

// tests/tasks/make_masked_lm.py trained the same model on the same masks with transformers' Trainer.
TEST_F(RunMlm, HasTheLossCurveOfPyTorch) {
  const io::Json expected = io::read_json(kMaskedLm / "curve.json");
  const Outcome outcome =
      hearth("run_mlm --model_name_or_path " + kMaskedLm.string() + text() + expected.at("flags").get<std::string>() +
             " --do_train --do_eval --logging_steps 1 --save_strategy no --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::vector<double> losses;
  const io::Json state = json("out/trainer_state.json");
  for (const io::Json& row : state.at("log_history"))
    if (row.contains("loss")) losses.push_back(row.at("loss").get<double>());
  ASSERT_EQ(losses.size(), expected.at("losses").size());
  EXPECT_LT(losses.back(), 0.8 * losses.front());
  for (std::size_t step = 0; step < losses.size(); ++step)
    EXPECT_NEAR(losses[step], expected.at("losses")[step].get<double>(), 1e-3) << step;
  const io::Json results = json("out/eval_results.json");
  for (const char* name : {"eval_loss", "eval_accuracy", "perplexity"})
    EXPECT_NEAR(results.at(name).get<double>(), expected.at(name).get<double>(), 1e-3 * expected.at(name).get<double>())
        << name;
}

TEST_F(RunMlm, StartsFromNothing) {
  const std::string run = "run_mlm --model_type bert --tokenizer_name " + kMaskedLm.string() + text() +
                          "--line_by_line --do_train --do_eval --max_steps 3 --save_strategy no ";
  const Outcome outcome =
      hearth(run +
             "--config_overrides vocab_size=64,hidden_size=32,num_hidden_layers=1,num_attention_heads=2,"
             "intermediate_size=64,max_position_embeddings=64 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json config = json("out/config.json");
  EXPECT_EQ(config.at("architectures"), io::Json({"BertForMaskedLM"}));
  EXPECT_EQ(config.at("hidden_size"), 32);
  EXPECT_EQ(config.at("hidden_act"), "gelu");
  const auto tokens = std::ssize(lines_of(io::read_file(kMaskedLm / "vocab.txt")));
  EXPECT_EQ(config.at("vocab_size"), tokens) << "it grows to the tokenizer's";
  EXPECT_TRUE(fs::exists(folder() / "out/vocab.txt"));
  const double loss = json("out/eval_results.json").at("eval_loss").get<double>();
  EXPECT_NEAR(loss, std::log(static_cast<double>(tokens)), 1);
  EXPECT_NEAR(json("out/eval_results.json").at("perplexity").get<double>(), std::exp(loss), 1e-3);
  // The weights are found again, those of the head included.
  const Outcome again =
      hearth("run_mlm --model_name_or_path out" + text() + "--line_by_line --do_eval --output_dir again");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NEAR(json("again/eval_results.json").at("eval_loss").get<double>(), loss, 1e-6);
}

TEST_F(RunMlm, RefusesATokenizerThatIsLargerThanTheModel) {
  fs::create_directories(folder() / "bigger");
  write("bigger/vocab.txt", io::read_file(kMaskedLm / "vocab.txt") + "another\n");
  EXPECT_TRUE(contains(hearth("run_mlm --model_name_or_path " + kMaskedLm.string() + " --tokenizer_name bigger" +
                              text() + "--do_train --output_dir out")
                           .error(),
                       "more than the"));
}

TEST_F(RunMlm, NamesWhatANewModelNeeds) {
  const std::string run = "run_mlm --do_train --output_dir out" + text();
  EXPECT_TRUE(contains(hearth(run).error(), "no model was given: add --model_name_or_path, or --model_type and"));
  EXPECT_TRUE(contains(hearth(run + "--model_type bert").error(), "--tokenizer_name"));
  EXPECT_TRUE(contains(hearth(run + "--model_type bird --tokenizer_name " + kMaskedLm.string()).error(),
                       "model_type 'bird' is not supported"));
}

}  // namespace
}  // namespace hearth
