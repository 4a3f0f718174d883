#include "hearth/apps/model_card.h"

#include <gtest/gtest.h>

#include "hearth/io/yaml.h"
#include "hearth/tasks/question_answering/question_answering.h"
#include "hearth/tasks/run_arguments.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

// The YAML between the first two lines of dashes.
io::Json metadata_of(const std::string& card) {
  const std::string dashes = "---\n";
  EXPECT_TRUE(card.starts_with(dashes)) << card;
  const std::size_t end = card.find("\n" + dashes, dashes.size());
  EXPECT_NE(end, card.npos) << card;
  return io::parse_yaml(card.substr(dashes.size(), end + 1 - dashes.size()), "README.md");
}

TrainingArguments arguments() {
  TrainingArguments args;
  args.output_dir = "runs/towns: [x]/";
  return args;
}

apps::ModelCardFacts qa_facts() {
  tasks::QuestionAnswering task;
  const std::vector<std::string> words{"--model_name_or_path", "start",           "--do_train",
                                       "--train_file",         "data/train.json", "--validation_file",
                                       "data/dev.json"};
  tasks::parse_run_arguments(tasks::task_command("run_qa"), task, words);
  apps::ModelCardFacts facts;
  facts.task = task.card();
  return facts;
}

TEST(ModelCard, MetadataIsYaml) {
  apps::ModelCardFacts facts = qa_facts();
  facts.base_model = "google-bert/bert-base-uncased";
  facts.evaluation = {{"eval_exact_match", 81.25}, {"eval_f1", 88.123456}, {"eval_runtime", 3.5}};
  const io::Json metadata = metadata_of(apps::model_card(arguments(), facts));
  EXPECT_EQ(metadata, io::parse_json(R"({
    "library_name": "transformers", "base_model": "google-bert/bert-base-uncased",
    "pipeline_tag": "question-answering", "tags": ["generated_from_trainer", "hearth"],
    "metrics": ["exact_match", "f1"],
    "model-index": [{"name": "towns: [x]", "results": [{
      "task": {"name": "Question Answering", "type": "question-answering"},
      "dataset": {"name": "dev.json", "type": "json", "split": "validation"},
      "metrics": [{"name": "Exact Match", "type": "exact_match", "value": 81.25},
                  {"name": "F1", "type": "f1", "value": 88.123456}]}]}]})",
                                     "expected"));
}

TEST(ModelCard, SaysOnlyWhatIsKnown) {
  const std::string card = apps::model_card(arguments(), qa_facts());
  const io::Json metadata = metadata_of(card);
  EXPECT_FALSE(metadata.contains("base_model"));
  EXPECT_FALSE(metadata.contains("metrics"));
  EXPECT_EQ(metadata.at("model-index")[0].at("results"), io::Json::array());
  EXPECT_FALSE(contains(card, "Training results")) << card;
}

TEST(ModelCard, ListsHyperparametersAsTheTrainer) {
  TrainingArguments args = arguments();
  args.learning_rate = 3e-5;
  args.per_device_train_batch_size = 12;
  args.gradient_accumulation_steps = 2;
  args.warmup_ratio = 0.1;
  args.num_train_epochs = 2;
  apps::ModelCardFacts facts = qa_facts();
  facts.processes = 4;
  EXPECT_TRUE(contains(apps::model_card(args, facts),
                       ":\n- learning_rate: 3e-05\n- train_batch_size: 12\n- eval_batch_size: 8\n- seed: 42\n"
                       "- distributed_type: multi-CPU\n- num_devices: 4\n- gradient_accumulation_steps: 2\n"
                       "- total_train_batch_size: 96\n- total_eval_batch_size: 32\n"
                       "- optimizer: Use adamw_torch with betas=(0.9,0.999) and epsilon=1e-08 and optimizer_args=No "
                       "additional optimizer arguments\n- lr_scheduler_type: linear\n"
                       "- lr_scheduler_warmup_ratio: 0.1\n- num_epochs: 2.0\n"));
}

TEST(ModelCard, NamesTheOptimizerAndItsArgs) {
  TrainingArguments args = arguments();
  args.optim = "sgd";
  EXPECT_TRUE(contains(apps::model_card(args, qa_facts()), "- optimizer: Use sgd\n"));
  args.optim_args = "momentum=0.9";
  EXPECT_TRUE(contains(apps::model_card(args, qa_facts()), "- optimizer: Use sgd and the args are: momentum=0.9\n"));
}

TEST(ModelCard, WarmupIsAWholeNumberOrARatio) {
  const auto warmup = [](double steps) {
    TrainingArguments args = arguments();
    args.warmup_steps = steps;
    const std::string card = apps::model_card(args, qa_facts());
    const std::size_t begin = card.find("- lr_scheduler_warmup_steps: ");
    return begin == card.npos ? "" : card.substr(begin, card.find('\n', begin) - begin);
  };
  EXPECT_EQ(warmup(0), "");
  EXPECT_EQ(warmup(100), "- lr_scheduler_warmup_steps: 100");
  EXPECT_EQ(warmup(0.1), "- lr_scheduler_warmup_steps: 0.1");
}

TEST(ModelCard, ShowsTheEvaluationsInATable) {
  apps::ModelCardFacts facts = qa_facts();
  facts.log_history = io::parse_json(R"([
    {"eval_exact_match": 1.0, "eval_f1": 2.0, "eval_runtime": 1.0, "epoch": 0, "step": 0},
    {"loss": 2.5, "epoch": 0.5, "step": 5},
    {"eval_exact_match": 40.123456, "eval_f1": 50.5, "eval_samples_per_second": 7.0, "epoch": 1.0, "step": 10},
    {"train_runtime": 5.0, "epoch": 1.0, "step": 10}])",
                                     "history");
  const std::string card = apps::model_card(arguments(), facts);
  EXPECT_TRUE(contains(card,
                       "### Training results\n\n"
                       "| Training Loss | Epoch | Step | Exact Match | F1   |\n"
                       "|:-------------:|:-----:|:----:|:-----------:|:----:|\n"
                       "| No log        | 0     | 0    | 1.0         | 2.0  |\n"
                       "| 2.5           | 1.0   | 10   | 40.1235     | 50.5 |\n"))
      << card;
}

TEST(ModelCard, AFolderIsNoHubId) {
  const TemporaryPlace place;
  const std::string folder = place.path().string();
  using Id = std::optional<std::string>;
  EXPECT_EQ(apps::hub_id("bert-base-uncased", ""), Id("bert-base-uncased"));
  EXPECT_EQ(apps::hub_id(folder, "google-bert/bert-base-uncased"), Id("google-bert/bert-base-uncased"));
  for (const char* path :
       {"", "start", "/data/models", "./start", "../start", "a/b/c", "out/checkpoint-500", "~/model"})
    EXPECT_EQ(apps::hub_id(folder, path), Id()) << path;
  EXPECT_EQ(apps::hub_id(folder, folder), Id());
}

using ModelCardOfARun = ProgramTest;

TEST_F(ModelCardOfARun, HoldsItsEvaluations) {
  const Outcome outcome =
      run_qa("--do_train --eval_strategy steps --eval_steps 2 --max_steps 4 --save_strategy no --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::string card = text("out/README.md");
  const io::Json metadata = metadata_of(card), results = json("out/eval_results.json");
  EXPECT_FALSE(metadata.contains("base_model"));  // a folder
  const io::Json metrics = metadata.at("model-index").at(0).at("results").at(0).at("metrics");
  EXPECT_EQ(metrics.at(0).at("value"), results.at("eval_exact_match"));
  EXPECT_EQ(metrics.at(1).at("value"), results.at("eval_f1"));
  EXPECT_TRUE(contains(card, " | 4    | ")) << card;
}

TEST_F(ModelCardOfARun, NamesTheModelOfTheHub) {
  const fs::path model = folder() / "hub" / "models--towns--tiny-bert";
  fs::create_directories(model / "refs");
  fs::create_directories(model / "snapshots");
  write("hub/models--towns--tiny-bert/refs/main", "abc123");
  fs::copy(start_model(), model / "snapshots" / "abc123");
  ASSERT_EQ(run_qa("--model_name_or_path towns/tiny-bert --do_train --max_steps 1 --save_strategy no --output_dir out",
                   "HF_HUB_CACHE=hub")
                .status,
            0);
  EXPECT_EQ(metadata_of(text("out/README.md")).at("base_model"), "towns/tiny-bert");
}

}  // namespace
}  // namespace hearth
