#include "hearth/train/results.h"

#include <gtest/gtest.h>

#include <set>

#include "hearth/train/trainer_state.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using Results = TrainerTest;

TEST_F(Results, MetricsAreShownInABlock) {
  const Metrics metrics{{"train_runtime", 3723.459}, {"epoch", 2.0},          {"train_loss", 1.23456},
                        {"total_flos", 5.5e9},       {"train_samples", 1000}, {"train_samples_per_second", 12.5}};
  EXPECT_EQ(metrics_block("train", metrics),
            "***** train metrics *****\n"
            "  epoch                    =        2.0\n"
            "  total_flos               =        5GF\n"
            "  train_loss               =     1.2346\n"
            "  train_runtime            = 1:02:03.45\n"
            "  train_samples            =       1000\n"
            "  train_samples_per_second =       12.5\n");
}

TEST_F(Results, MemoryIsShownInMebibytes) {
  const Metrics metrics{{"train_mem_cpu_alloc_delta", 3 << 20}, {"train_mem_cpu_peaked_delta", -1}};
  EXPECT_EQ(metrics_block("train", metrics),
            "***** train metrics *****\n"
            "  train_mem_cpu_alloc_delta  =  3MB\n"
            "  train_mem_cpu_peaked_delta = -1MB\n");
}

TEST_F(Results, RuntimesBeyondADayReadAsInPython) {
  const auto shown = [](double seconds) { return metrics_block("eval", {{"eval_runtime", seconds}}); };
  EXPECT_TRUE(contains(shown(86399.5), " = 23:59:59.50\n")) << shown(86399.5);
  EXPECT_TRUE(contains(shown(90000), " = 1 day, 1:00:00.00\n")) << shown(90000);
  EXPECT_TRUE(contains(shown(2 * 86400 + 61.5), " = 2 days, 0:01:01.50\n")) << shown(2 * 86400 + 61.5);
}

TEST_F(Results, FilesAreSortedAndMerged) {
  save_metrics(folder_, "train", {{"train_loss", 0.5}, {"epoch", 1.0}});
  EXPECT_EQ(io::read_file(folder_ / "train_results.json"), "{\n    \"epoch\": 1.0,\n    \"train_loss\": 0.5\n}");
  save_metrics(folder_, "eval", {{"eval_f1", 71.25}, {"epoch", 2.0}, {"eval_samples", 7}});
  EXPECT_EQ(io::read_file(folder_ / "eval_results.json"),
            "{\n    \"epoch\": 2.0,\n    \"eval_f1\": 71.25,\n    \"eval_samples\": 7\n}");
  EXPECT_EQ(io::read_file(folder_ / "all_results.json"),
            "{\n    \"epoch\": 2.0,\n    \"eval_f1\": 71.25,\n    \"eval_samples\": 7,\n    \"train_loss\": 0.5\n}");
}

TEST_F(Results, ADamagedFileIsReplaced) {
  for (const char* damaged : {"", "[1]", "{\"eval_f1\": "}) {
    io::replace_file(folder_ / "all_results.json", damaged);
    const LogCapture log;
    save_metrics(folder_, "eval", {{"eval_f1", 71.25}});
    EXPECT_EQ(io::read_file(folder_ / "all_results.json"), "{\n    \"eval_f1\": 71.25\n}");
    ASSERT_EQ(log.warnings.size(), 1u);
    EXPECT_TRUE(contains(log.warnings[0], "all_results.json"));
  }
}

TEST_F(Results, SpeedsAreRounded) {
  Metrics metrics;
  add_speed_metrics(metrics, "eval", 3.000049, 10, 2);
  EXPECT_EQ(metrics,
            (Metrics{{"eval_runtime", 3.0}, {"eval_samples_per_second", 3.333}, {"eval_steps_per_second", 0.667}}));
}

TEST_F(Results, TheStateHasTheTrainersKeys) {
  TrainerState state;
  state.global_step = 5;
  state.max_steps = 30;
  state.epoch = 0.5;
  state.total_flos = 6e9;
  state.num_train_epochs = 3;
  state.log_history.push_back({{"loss", 1.5}, {"grad_norm", std::numeric_limits<double>::infinity()}, {"step", 5}});
  state.evaluations_without_gain = 2;
  state.loss_sum = 1.0 / 3;
  state.loss_since_log = 2.0 / 3;
  state.steps_since_log = 4;
  state.save(folder_);
  const std::string text = io::read_file(folder_ / "trainer_state.json");
  EXPECT_TRUE(
      text.starts_with("{\n  \"best_global_step\": null,\n  \"best_metric\": null,\n"
                       "  \"best_model_checkpoint\": null,\n  \"epoch\": 0.5,\n  \"eval_steps\": 500,\n"))
      << text;
  EXPECT_TRUE(contains(text, "\"grad_norm\": Infinity"));
  EXPECT_TRUE(contains(text, "\"num_train_epochs\": 3,"));
  EXPECT_TRUE(text.ends_with("}\n"));
  std::set<std::string> keys;
  const io::Json json = io::read_json(folder_ / "trainer_state.json");
  for (const auto& [key, value] : json.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"best_global_step",
                                         "best_metric",
                                         "best_model_checkpoint",
                                         "epoch",
                                         "eval_steps",
                                         "global_step",
                                         "is_hyper_param_search",
                                         "is_local_process_zero",
                                         "is_world_process_zero",
                                         "log_history",
                                         "logging_steps",
                                         "max_steps",
                                         "num_input_tokens_seen",
                                         "num_train_epochs",
                                         "save_steps",
                                         "stateful_callbacks",
                                         "total_flos",
                                         "train_batch_size",
                                         "trial_name",
                                         "trial_params"}));
  EXPECT_EQ(io::dump_json(TrainerState::load(folder_).to_json(), 2, true), io::dump_json(state.to_json(), 2, true));

  // transformers' Trainer looks this entry up when it saves after resuming.
  EXPECT_EQ(io::dump_json(json.at("stateful_callbacks").at("TrainerControl"), io::kOneLine),
            R"({"args": {"should_epoch_stop": false, "should_evaluate": false, "should_log": false, )"
            R"("should_save": false, "should_training_stop": false}, "attributes": {}})");

  state.best_metric = 1.0 / 3;
  state.best_global_step = 4;
  state.best_model_checkpoint = "out/checkpoint-4";
  state.save(folder_);
  EXPECT_EQ(io::dump_json(TrainerState::load(folder_).to_json(), 2, true), io::dump_json(state.to_json(), 2, true));
}

TEST_F(Results, TheTrainersOwnStateIsRead) {
  io::replace_file(folder_ / "trainer_state.json", R"({
    "best_global_step": null, "best_metric": null, "best_model_checkpoint": null, "epoch": 0.5, "eval_steps": 500,
    "global_step": 3, "is_hyper_param_search": false, "is_local_process_zero": true, "is_world_process_zero": true,
    "log_history": [{"epoch": 0.2, "grad_norm": NaN, "learning_rate": 3e-05, "loss": 5.9, "step": 1}],
    "logging_steps": 1.0, "max_steps": 6, "num_input_tokens_seen": 0, "num_train_epochs": 1, "save_steps": 3,
    "stateful_callbacks": {"TrainerControl": {"args": {"should_save": true}, "attributes": {}}},
    "total_flos": 7056629932032.0, "train_batch_size": 12, "trial_name": null, "trial_params": null})");
  const TrainerState state = TrainerState::load(folder_);
  EXPECT_EQ(state.global_step, 3);
  EXPECT_EQ(state.logging_steps, 1);
  EXPECT_EQ(state.log_history.size(), 1u);
  EXPECT_EQ(state.evaluations_without_gain, 0);
}

}  // namespace
}  // namespace hearth
