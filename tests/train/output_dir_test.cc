// The output folder of a run: who may write into it, what is resumed from, and what an older run leaves.
#include "hearth/train/output_dir.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <set>

#include "hearth/io/folder_checksums.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

using Damage = std::function<void(const fs::path& checkpoint)>;

void flip_a_bit(const fs::path& file) {
  std::string contents = io::read_file(file);
  contents[contents.size() - 2] = static_cast<char>(contents[contents.size() - 2] ^ 1);
  io::replace_file(file, contents);
}

void change(const fs::path& file, const io::Json::json_pointer& key, const io::Json& value) {
  io::Json json = io::read_json(file);
  json[key] = value;
  io::replace_file(file, io::dump_json(json, 2));
}

class OutputDir : public TrainerTest {
 protected:
  // Checkpoints 4, 8 and 12 of a run with all the files that one can have.
  void make_checkpoints() const {
    TrainingArguments args = arguments();
    args.save_strategy = args.eval_strategy = Strategy::steps;
    args.eval_steps = args.save_steps = 4;
    args.fp16 = true;
    args.lr_scheduler_type = "reduce_lr_on_plateau";
    args.metric_for_best_model = "f1";
    args.greater_is_better = false;
    TrainerOptions trainer_options;
    trainer_options.evaluate = [](const Trainer&) { return Metrics{{"eval_f1", 1.0}}; };
    ToyModel model;
    ToyTrainer(model, args, toy_dataset(24), trainer_options).train();
  }
  void restore(const fs::path& checkpoint) const {
    fs::remove_all(checkpoint);
    fs::copy(folder_ / "good" / checkpoint.filename(), checkpoint);
  }
  TrainingArguments training_arguments() const {
    TrainingArguments args = arguments();
    args.do_train = true;
    return args;
  }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(out_)) names.insert(entry.path().string());
    return names;
  }

  const fs::path out_ = folder_ / "out";
};

TEST_F(OutputDir, InUseIsNotTouched) {
  TrainingArguments args = training_arguments();
  const auto error = [&] { return error_of([&] { find_resume_checkpoint(args); }); };
  EXPECT_EQ(find_resume_checkpoint(args), std::nullopt);  // there is no such folder yet
  io::create_directories(args.output_dir);
  EXPECT_EQ(find_resume_checkpoint(args), std::nullopt);
  args.resume_from_checkpoint = "True";
  EXPECT_TRUE(contains(error(), "no checkpoint")) << error();
  args.resume_from_checkpoint = (folder_ / "none").string();
  EXPECT_TRUE(contains(error(), "no folder")) << error();
  args.resume_from_checkpoint.reset();

  io::replace_file(out_ / "mine.txt", "mine");
  EXPECT_TRUE(contains(error(), "is not empty")) << error();
  args.do_train = false;
  EXPECT_EQ(find_resume_checkpoint(args), std::nullopt);
  args.do_train = args.overwrite_output_dir = true;
  EXPECT_EQ(find_resume_checkpoint(args), std::nullopt);
  args.overwrite_output_dir = false;
  make_checkpoints();
  EXPECT_EQ(find_resume_checkpoint(args), out_ / "checkpoint-12");
  args.resume_from_checkpoint = (out_ / "checkpoint-8").string();
  EXPECT_EQ(find_resume_checkpoint(args), out_ / "checkpoint-8");
  args.resume_from_checkpoint = "True";
  EXPECT_EQ(find_resume_checkpoint(args), out_ / "checkpoint-12");
  EXPECT_EQ(io::read_file(out_ / "mine.txt"), "mine");

  args.output_dir = (out_ / "mine.txt").string();
  EXPECT_TRUE(contains(error(), "is not a folder")) << error();
}

TEST_F(OutputDir, ADamagedCheckpointIsPassedOver) {
  make_checkpoints();
  fs::copy(out_, folder_ / "good", fs::copy_options::recursive);
  const fs::path last = out_ / "checkpoint-12";
  const auto remove = [](const char* name) { return [=](const fs::path& folder) { fs::remove(folder / name); }; };
  const auto cut = [](const char* name, std::uintmax_t size) {
    return [=](const fs::path& folder) { fs::resize_file(folder / name, size); };
  };
  const auto flip = [](const char* name) { return [=](const fs::path& folder) { flip_a_bit(folder / name); }; };
  const auto without_checksums = [](const Damage& damage) {
    return [=](const fs::path& folder) {
      fs::remove(folder / io::kChecksumsFile);
      damage(folder);
    };
  };
  const std::vector<std::pair<Damage, std::string>> cases{
      {flip("model.safetensors"), "model.safetensors does not have the checksum"},
      {flip("optimizer.safetensors"), "optimizer.safetensors does not have the checksum"},
      {flip("config.json"), "config.json does not have the checksum"},
      {flip("checksums.json"), "checksums.json"},
      {cut("model.safetensors", 1000), "model.safetensors has 1000 bytes"},
      {cut("optimizer.safetensors", 0), "optimizer.safetensors has 0 bytes"},
      {remove("optimizer.safetensors"), "optimizer.safetensors is missing"},
      {remove("trainer_state.json"), "trainer_state.json is missing"},
      {without_checksums(cut("model.safetensors", 1000)), "model.safetensors"},
      {without_checksums(cut("optimizer.safetensors", 0)), "optimizer.safetensors"},
      {without_checksums(cut("trainer_state.json", 40)), "trainer_state.json"},
      {without_checksums(cut("scheduler.json", 0)), "scheduler.json"},
      {without_checksums(cut("scaler.json", 3)), "scaler.json"},
      {without_checksums(remove("model.safetensors")), "has no weights"},
      {without_checksums(remove("trainer_state.json")), "trainer_state.json"},
      {without_checksums(remove("scheduler.json")), "scheduler.json"},
  };
  for (const auto& [damage, sentence] : cases) {
    damage(last);
    const std::set<std::string> before = names();
    EXPECT_EQ(find_resume_checkpoint(training_arguments()), out_ / "checkpoint-8") << sentence;
    ASSERT_EQ(warnings_.size(), 1u) << sentence;
    EXPECT_TRUE(contains(warnings_[0], last.string() + " cannot be resumed from and is passed over: "));
    EXPECT_TRUE(contains(warnings_[0], sentence));
    EXPECT_EQ(names(), before);
    warnings_.clear();

    TrainingArguments named = training_arguments();
    named.resume_from_checkpoint = last.string();
    const std::string error = error_of([&] { find_resume_checkpoint(named); });
    EXPECT_TRUE(contains(error, sentence) && contains(error, "Name another checkpoint")) << error;
    EXPECT_TRUE(warnings_.empty());
    restore(last);
  }
  EXPECT_EQ(find_resume_checkpoint(training_arguments()), last);
  io::create_directories(out_ / "checkpoint-999999");
  EXPECT_EQ(find_resume_checkpoint(training_arguments()), last);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(OutputDir, WhereNoCheckpointIsGoodNothingIsDeleted) {
  make_checkpoints();
  for (const char* name : {"checkpoint-4", "checkpoint-8", "checkpoint-12"})
    flip_a_bit(out_ / name / "model.safetensors");
  const std::set<std::string> before = names();
  TrainingArguments args = training_arguments();
  for (const bool asked : {false, true}) {
    if (asked) args.resume_from_checkpoint = "True";
    EXPECT_EQ(error_of([&] { find_resume_checkpoint(args); }),
              "none of the checkpoints in " + out_.string() +
                  " can be resumed from; start from the beginning with --overwrite_output_dir or another --output_dir");
  }
  EXPECT_EQ(warnings_.size(), 6u);
  EXPECT_EQ(names(), before);
}

TEST_F(OutputDir, EveryValueOfTheStateIsChecked) {
  make_checkpoints();
  fs::copy(out_, folder_ / "good", fs::copy_options::recursive);
  const fs::path last = out_ / "checkpoint-12";
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::string own = "/stateful_callbacks/hearth";
  const std::vector<std::tuple<std::string, std::string, io::Json>> cases{
      {"trainer_state.json", "/global_step", 1'000'000'000'000'000},
      {"trainer_state.json", "/global_step", -4},
      {"trainer_state.json", "/global_step", 13},
      {"trainer_state.json", "/global_step", "12"},
      {"trainer_state.json", "/max_steps", -1},
      {"trainer_state.json", "/max_steps", 12.5},
      {"trainer_state.json", "/epoch", nan},
      {"trainer_state.json", "/epoch", -1},
      {"trainer_state.json", "/num_train_epochs", nullptr},
      {"trainer_state.json", "/total_flos", infinity},
      {"trainer_state.json", "/num_input_tokens_seen", -1},
      {"trainer_state.json", "/logging_steps", 1e300},
      {"trainer_state.json", "/save_steps", nan},
      {"trainer_state.json", "/eval_steps", "x"},
      {"trainer_state.json", "/train_batch_size", -8},
      {"trainer_state.json", "/best_metric", "high"},
      {"trainer_state.json", "/best_global_step", 900},
      {"trainer_state.json", "/best_model_checkpoint", 7},
      {"trainer_state.json", "/log_history", 5},
      {"trainer_state.json", "/log_history", {1, 2}},
      {"trainer_state.json", own + "/evaluations_without_gain", -1},
      {"trainer_state.json", own + "/loss_sum", "x"},
      {"trainer_state.json", own + "/steps_since_log", 100},
      {"trainer_state.json", own + "/world_size", -2},
      {"trainer_state.json", own + "/train_data", 3},
      {"scheduler.json", "/updates", -3},
      {"scheduler.json", "/updates", 500},
      {"scheduler.json", "/updates_of_moments", -3},
      {"scheduler.json", "/updates_of_moments", 500},
      {"scheduler.json", "/plateau/learning_rate", nan},
      {"scheduler.json", "/plateau/best", nan},
      {"scheduler.json", "/plateau/evaluations_without_gain", -1},
      {"scheduler.json", "/plateau/cooldown_left", -1},
      {"scaler.json", "/scale", infinity},
      {"scaler.json", "/scale", -1},
      {"scaler.json", "/good_steps", -1},
      {"scaler.json", "/skipped", -1},
  };
  for (const auto& [file, key, value] : cases) {
    fs::remove(last / io::kChecksumsFile);
    change(last / file, io::Json::json_pointer(key), value);
    const std::string error = error_of([&] { check_checkpoint(last); });
    const std::string name = key.substr(key.rfind('/') + 1);
    EXPECT_TRUE(contains(error, (last / file).string() + ": \"" + name + "\" must be ")) << key << io::excerpt(value);
    restore(last);
  }
  EXPECT_EQ(error_of([&] { check_checkpoint(last); }), "");
}

TEST_F(OutputDir, OlderCheckpointsHaveNoChecksums) {
  make_checkpoints();
  fs::remove(out_ / "checkpoint-12" / io::kChecksumsFile);
  EXPECT_EQ(find_resume_checkpoint(training_arguments()), out_ / "checkpoint-12");
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(OutputDir, IsHeldByOneRun) {
  const TrainingArguments args = training_arguments();
  {
    const OutputDirLock held(args);
    EXPECT_EQ(find_resume_checkpoint(args), std::nullopt);  // the lock itself does not count
    const std::string error = error_of([&] { OutputDirLock second(args); });
    EXPECT_TRUE(error.starts_with("another run, pid ")) << error;
    EXPECT_TRUE(
        error.ends_with(", writes into " + out_.string() + ": wait for it, stop it, or choose another --output_dir"))
        << error;
  }
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(OutputDir, OnlyWhatTheRunHasMadeAndNotFilledGoesAgain) {
  TrainingArguments args = training_arguments();
  args.output_dir = (folder_ / "deep" / "deeper" / "out" / "").string();
  { const OutputDirLock held(args); }
  EXPECT_FALSE(fs::exists(folder_ / "deep"));
  io::create_directories(folder_ / "deep");
  { const OutputDirLock held(args); }
  EXPECT_TRUE(fs::is_empty(folder_ / "deep"));
  {
    const OutputDirLock held(args);
    io::replace_file(fs::path(args.output_dir) / "file", "x");
  }
  EXPECT_TRUE(fs::exists(folder_ / "deep" / "deeper" / "out" / "file"));
  EXPECT_FALSE(fs::exists(folder_ / "deep" / "deeper" / "out" / io::kLockFile));
}

TEST_F(OutputDir, WhatKilledRunsLeftIsTidied) {
  make_checkpoints();
  fs::rename(out_ / "checkpoint-12", out_ / ".checkpoint-12.former");
  io::create_directories(out_ / ".checkpoint-16.partial" / "inner");
  io::create_directories(out_ / ".checkpoint-2.removed" / "inner");
  for (const char* name : {".model.safetensors.tmp-4194305-3", ".mine", io::kLockFile})
    io::replace_file(out_ / name, "x");
  const OutputDirLock held(training_arguments());
  EXPECT_EQ(find_resume_checkpoint(training_arguments()), out_ / "checkpoint-12");
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(out_)) left.insert(entry.path().filename().string());
  EXPECT_EQ(left, (std::set<std::string>{"checkpoint-4", "checkpoint-8", "checkpoint-12", ".mine", io::kLockFile}));
}

TEST_F(OutputDir, FormerCheckpointsAreThoseThatTheRunOverwrites) {
  using Steps = std::vector<std::int64_t>;
  TrainingArguments args = training_arguments();
  make_checkpoints();
  io::replace_file(out_ / "mine.txt", "mine");
  const auto former = [&](const std::optional<fs::path>& checkpoint) {
    Steps steps;
    for (const fs::path& folder : former_checkpoints(args, checkpoint)) steps.push_back(*io::checkpoint_step(folder));
    return steps;
  };
  EXPECT_EQ(former(std::nullopt), Steps());
  args.overwrite_output_dir = true;
  EXPECT_EQ(former(out_ / "checkpoint-8"), Steps()) << "the run goes on from there";
  args.do_train = false;
  EXPECT_EQ(former(std::nullopt), Steps());
  args.do_train = true;
  fs::rename(out_ / "checkpoint-8", folder_ / "checkpoint-8");
  EXPECT_EQ(former(folder_ / "checkpoint-8"), Steps({4, 12}));
}

TEST_F(OutputDir, OverwritingNeverRemovesWhatTheRunStartsFrom) {
  TrainingArguments args = training_arguments();
  make_checkpoints();
  fs::create_directory_symlink(out_ / "checkpoint-4", folder_ / "link");
  const auto error = [&](const fs::path& input) {
    return error_of([&] { check_inputs_stay(args, std::nullopt, std::array{fs::path(), input}); });
  };
  EXPECT_EQ(error(out_ / "checkpoint-4"), "");
  args.overwrite_output_dir = true;
  for (const fs::path& input : {out_ / "checkpoint-4", out_ / "x" / ".." / "checkpoint-4" / "", folder_ / "link"})
    EXPECT_TRUE(contains(error(input), "but this run starts from " + input.string())) << input;
  for (const fs::path& input : {out_, folder_, out_ / "checkpoint-40", folder_ / "checkpoint-4"})
    EXPECT_EQ(error(input), "") << input;
}

}  // namespace
}  // namespace hearth
