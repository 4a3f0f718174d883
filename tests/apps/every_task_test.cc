// Every training command, in every way that a run can go. A task is a row of kTasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "hearth/io/model_weights.h"
#include "tests/apps/job.h"
#include "tests/apps/program.h"
#include "tests/apps/task_files.h"

namespace hearth {
namespace {

struct TaskCase {
  std::string name, command, ending;
  std::string (*contents)(int rows) = nullptr;  // null: the questions of the fixtures
  std::string best_metric, prediction_file;
};

void PrintTo(const TaskCase& task, std::ostream* out) { *out << task.name; }

const TaskCase kTasks[] = {
    {"run_qa", "run_qa --max_seq_length 64 --doc_stride 16", "", nullptr, "f1", "predict_predictions.json"},
    {"run_glue", "run_glue --max_seq_length 64", ".csv", pairs, "accuracy", "predict_results_None.txt"},
    {"several_labels", "run_classification --max_seq_length 64", ".json", several_labels, "f1", "predict_results.txt"},
    {"regression", "run_classification --max_seq_length 64", ".csv", scores, "loss", "predict_results.txt"},
    {"run_ner", "run_ner --max_seq_length 64", ".conll", tags, "f1", "predictions.txt"},
    // One masked token per text, so that the mean over tokens is that over texts, whatever the number of ranks.
    {"run_mlm", "run_mlm --line_by_line --whole_word_mask --mlm_probability 0.01", ".txt", texts, "loss",
     "predict_results.json"},
    {"run_embedding", "run_embedding --max_seq_length 64 --gather_across_devices", ".jsonl", anchors, "cosine_ndcg@10",
     "predict_results.txt"},
    {"cross_encoder", "run_classification --cross_encoder --max_seq_length 64", ".csv", scored_pairs, "spearman",
     "predict_results.txt"},
};

class EveryTask : public ProgramTest, public testing::WithParamInterface<TaskCase> {
 protected:
  static constexpr int kTrainRows = 40, kOtherRows = 12;

  void SetUp() override {
    if (GetParam().contents == nullptr) return;
    write("train" + GetParam().ending, GetParam().contents(kTrainRows));
    write("dev" + GetParam().ending, GetParam().contents(kOtherRows));
  }

  std::string task(const std::string& flags) const {
    const TaskCase& task = GetParam();
    const bool fixtures = task.contents == nullptr;
    const auto file = [&](const std::string& name) {
      return fixtures ? (kFixtures / (name + ".json")).string() : name + task.ending;
    };
    return task.command + " --model_name_or_path " + start_model().string() + " --train_file " + file("train") +
           " --validation_file " + file("dev") + " --test_file " + file("dev") +
           " --learning_rate 1e-3 --logging_steps 1 --disable_tqdm True --num_threads 1 " + flags;
  }
  void must_run(const std::string& flags) const {
    const Outcome outcome = hearth(task(flags));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  std::vector<double> losses(const std::string& folder) const {
    std::vector<double> found;
    const io::Json state = json(folder + "/trainer_state.json");
    for (const io::Json& row : state.at("log_history"))
      if (row.contains("loss")) found.push_back(row.at("loss").get<double>());
    return found;
  }
};

TEST_P(EveryTask, TrainsInEachDtypeAndKeepsTheBestModel) {
  for (const std::string dtype : {"fp32", "bf16", "fp16"}) {
    const std::string out = "out_" + dtype;
    must_run(
        "--do_train --do_eval --do_predict --num_train_epochs 4 --per_device_train_batch_size 4 "
        "--gradient_accumulation_steps 2 --gradient_checkpointing True --group_by_length --eval_strategy epoch "
        "--save_strategy epoch --load_best_model_at_end --early_stopping_patience 1 --metric_for_best_model " +
        GetParam().best_metric + (dtype == "fp32" ? "" : " --" + dtype) + " --output_dir " + out);
    const io::Json state = json(out + "/trainer_state.json");
    EXPECT_TRUE(same(fs::path(state.at("best_model_checkpoint").get<std::string>()) / "model.safetensors",
                     out + "/model.safetensors"))
        << dtype;
    const std::string metric = "eval_" + GetParam().best_metric;
    EXPECT_EQ(json(out + "/eval_results.json").at(metric), state.at("best_metric")) << dtype;
    EXPECT_FALSE(text(out + "/" + GetParam().prediction_file).empty());
    const std::vector<double> all = losses(out);
    EXPECT_TRUE(std::ranges::all_of(all, [](double loss) { return std::isfinite(loss); })) << dtype;
    EXPECT_GE(std::ssize(all), 5) << dtype;
  }
}

TEST_P(EveryTask, AMissingFileIsNamedBeforeAnythingElse) {
  const std::string none = GetParam().ending.empty() ? "none.json" : "none" + GetParam().ending;
  for (const char* flag : {"train_file", "validation_file", "test_file"}) {
    const Outcome outcome =
        hearth(task(fmt::format("--do_train --do_eval --do_predict --output_dir out --{} {}", flag, none)));
    EXPECT_TRUE(contains(outcome.error(), none)) << flag;
    EXPECT_EQ(outcome.out, "") << flag;
    EXPECT_FALSE(fs::exists(folder() / "out")) << flag;
  }
}

TEST_P(EveryTask, GradientCheckpointingGivesTheSameBits) {
  const std::string run = "--do_train --max_steps 4 --save_strategy no ";
  must_run(run + "--output_dir plain");
  must_run(run + "--gradient_checkpointing True --output_dir recomputed");
  EXPECT_TRUE(same("plain/model.safetensors", "recomputed/model.safetensors"));
}

TEST_P(EveryTask, FrozenLayersStayAsTheyAre) {
  must_run("--do_train --do_eval --max_steps 4 --save_strategy no --freeze_layers 1 --output_dir out");
  const io::ModelWeights before = io::ModelWeights::open(start_model()),
                         after = io::ModelWeights::open(folder() / "out");
  const auto changed = [&](const std::string& name) {
    const bool is_bare = !after.stored_name(name).has_value();  // an embedding model has no prefix
    const Tensor a = before.tensor(name), b = after.tensor(is_bare ? name.substr(std::strlen("bert.")) : name);
    return std::memcmp(a.raw(), b.raw(), a.bytes()) != 0;
  };
  EXPECT_FALSE(changed("bert.embeddings.word_embeddings.weight"));
  EXPECT_FALSE(changed("bert.encoder.layer.0.attention.self.query.weight"));
  EXPECT_FALSE(changed("bert.encoder.layer.0.output.LayerNorm.bias"));
  EXPECT_TRUE(changed("bert.encoder.layer.1.attention.self.query.weight"));
  EXPECT_TRUE(contains(hearth(task("--do_train --freeze 'nothing.*' --output_dir other")).error(),
                       "--freeze 'nothing.*' matches no parameter"));
}

TEST_P(EveryTask, TwoRanksTrainAsOne) {
  if (!has_plugin("gloo")) GTEST_SKIP() << "the gloo plug-in was not built";
  const std::string run =
      "--do_train --do_eval --max_steps 5 --save_strategy no --config_overrides "
      "hidden_dropout_prob=0,attention_probs_dropout_prob=0 ";
  must_run(run + "--per_device_train_batch_size 8 --output_dir one");
  for (const std::string sharded : {"", "--sharded_optimizer "}) {
    const std::string out = sharded.empty() ? "two" : "sharded";
    const std::string command = task(run + sharded + "--per_device_train_batch_size 4 --output_dir " + out);
    Job job(folder(), {command, command});
    for (int rank = 0; rank < 2; ++rank) {
      const Outcome outcome = job.wait(rank);
      ASSERT_EQ(outcome.status, 0) << outcome.err;
    }
    const std::vector<double> one = losses("one"), two = losses(out);
    ASSERT_EQ(one.size(), 5);
    ASSERT_EQ(two.size(), 5);
    for (std::size_t step = 0; step < one.size(); ++step) EXPECT_NEAR(one[step], two[step], 1e-4) << step;
    EXPECT_EQ(keys_of(json("one/eval_results.json")), keys_of(json(out + "/eval_results.json")));
  }
}

TEST_P(EveryTask, AKilledRunEndsWithTheSameBits) {
  const std::string run =
      "--do_train --max_steps 120 --save_steps 10 --save_total_limit 2 --bf16 --per_device_train_batch_size 4 ";
  must_run(run + "--output_dir whole");
  const std::string command = task(run + "--output_dir killed");
  {
    Job job(folder(), {command});
    for (int i = 0; i < 20'000 && !fs::exists(folder() / "killed/checkpoint-10"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    job.kill(0);
    ASSERT_EQ(job.wait(0).status, 128 + SIGKILL) << "the run ended before it was killed";
  }
  ASSERT_FALSE(fs::exists(folder() / "killed/model.safetensors"));
  const Outcome resumed = hearth(command);
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.out, "resuming from killed/checkpoint-")) << resumed.out;
  EXPECT_TRUE(same("whole/model.safetensors", "killed/model.safetensors"));
  EXPECT_TRUE(same("whole/checkpoint-120/optimizer.safetensors", "killed/checkpoint-120/optimizer.safetensors"));
  EXPECT_EQ(losses("whole"), losses("killed"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryTask, testing::ValuesIn(kTasks), [](const auto& task) { return task.param.name; });

}  // namespace
}  // namespace hearth
