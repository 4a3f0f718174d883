// Checkpoints in the hands of the program: two runs in one folder, damage, former runs, other settings.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "hearth/io/checkpoint_folders.h"
#include "hearth/io/folder_lock.h"
#include "tests/apps/job.h"
#include "tests/apps/program.h"

namespace hearth {
namespace {

class RunCheckpoints : public ProgramTest {
 protected:
  void flip_a_bit(const fs::path& file) const {
    std::string contents = text(file);
    contents[contents.size() / 2] = static_cast<char>(contents[contents.size() / 2] ^ 16);
    write(file, contents);
  }
  void wait_for_checkpoint(const char* output_dir) const {
    for (int tries = 0; tries < 1200 && !io::last_checkpoint(folder() / output_dir); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(io::last_checkpoint(folder() / output_dir));
  }
};

TEST_F(RunCheckpoints, ASecondRunIntoTheSameFolderIsTurnedAway) {
  const std::string flags = " --do_train --max_steps 1000000 --save_steps 5 --save_total_limit 2 --output_dir out";
  Job first(folder(), {job() + flags});
  wait_for_checkpoint("out");
  for (const char* also : {"", " --overwrite_output_dir"}) {
    const std::string error = hearth(job() + flags + also).error();
    EXPECT_TRUE(error.starts_with(fmt::format("another run, pid {} on host ", first.pid(0)))) << error;
    EXPECT_TRUE(error.ends_with("writes into out: wait for it, stop it, or choose another --output_dir")) << error;
  }
  EXPECT_EQ(::kill(first.pid(0), 0), 0);
  first.kill(0);
  EXPECT_EQ(first.wait(0).status, 128 + SIGKILL);
  EXPECT_TRUE(fs::exists(folder() / "out" / io::kLockFile));
  const Outcome next = run_qa("--do_train --max_steps 1 --save_strategy no --output_dir out");
  ASSERT_EQ(next.status, 0) << next.err;
  EXPECT_TRUE(contains(next.out, "resuming from out/checkpoint-"));
  for (const std::string& name : names_in(folder() / "out")) EXPECT_FALSE(name.starts_with('.')) << name;
}

TEST_F(RunCheckpoints, AFailedStartLeavesNothing) {
  EXPECT_EQ(run_qa("--do_train --output_dir new/out --doc_stride 60").status, 1);
  EXPECT_FALSE(fs::exists(folder() / "new"));
  fs::create_directories(folder() / "out");
  write(fs::path("out") / io::kLockFile, "{\"pid\": 1}");  // of a run that was killed before it wrote anything else
  const Outcome outcome = run_qa("--do_train --max_steps 1 --save_strategy no --output_dir out");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
}

TEST_F(RunCheckpoints, DamagedOnesArePassedOver) {
  const std::string flags = "--do_train --max_steps 6 --save_steps 2 --output_dir ";
  ASSERT_EQ(run_qa(flags + "whole").status, 0);
  fs::create_directories(folder() / "cut");
  for (const char* name : {"checkpoint-2", "checkpoint-4", "checkpoint-6"})
    fs::copy(folder() / "whole" / name, folder() / "cut" / name, fs::copy_options::recursive);
  fs::create_directories(folder() / "cut/checkpoint-999999");
  flip_a_bit("cut/checkpoint-6/optimizer.safetensors");
  fs::resize_file(folder() / "cut/checkpoint-4/model.safetensors", 5000);

  EXPECT_TRUE(contains(run_qa(flags + "other --resume_from_checkpoint cut/checkpoint-6").error(),
                       "--resume_from_checkpoint cut/checkpoint-6: cut/checkpoint-6/optimizer.safetensors does not"));
  EXPECT_FALSE(fs::exists(folder() / "other"));
  const Outcome outcome = run_qa(flags + "cut");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "resuming from cut/checkpoint-2: step 2 of 6")) << outcome.out;
  for (const char* damaged : {"cut/checkpoint-999999 cannot be resumed from", "cut/checkpoint-6/optimizer.safetensors",
                              "cut/checkpoint-4/model.safetensors has 5000 bytes"})
    EXPECT_TRUE(contains(outcome.err, damaged));
  EXPECT_TRUE(same("cut/model.safetensors", "whole/model.safetensors"));
  EXPECT_TRUE(same("cut/checkpoint-6/optimizer.safetensors", "whole/checkpoint-6/optimizer.safetensors"));

  for (const char* name : {"checkpoint-2", "checkpoint-4", "checkpoint-6"})
    flip_a_bit(fs::path("whole") / name / "model.safetensors");
  EXPECT_TRUE(contains(run_qa(flags + "whole").error(), "none of the checkpoints in whole can be resumed from"));
  EXPECT_EQ(io::list_checkpoints(folder() / "whole").size(), 3u);
}

TEST_F(RunCheckpoints, OfAFormerRunAreNotTakenForThoseOfThisOne) {
  const std::string flags = "--do_train --save_steps 2 --output_dir out ";
  ASSERT_EQ(run_qa(flags + "--max_steps 6").status, 0);
  const std::string error =
      run_qa(flags + "--max_steps 4 --overwrite_output_dir --model_name_or_path out/checkpoint-6").error();
  EXPECT_TRUE(contains(error, "but this run starts from out/checkpoint-6")) << error;
  EXPECT_EQ(io::list_checkpoints(folder() / "out").size(), 3u);

  ASSERT_EQ(run_qa(flags + "--max_steps 4 --seed 7 --overwrite_output_dir").status, 0);
  EXPECT_EQ(io::last_checkpoint(folder() / "out")->filename(), "checkpoint-4");
  const std::string model = text("out/model.safetensors");
  const Outcome again = run_qa(flags + "--max_steps 4 --seed 7");
  EXPECT_TRUE(contains(again.out, "already finished: this run ended at step 4 of 4")) << again.out;
  EXPECT_TRUE(text("out/model.safetensors") == model);
}

TEST_F(RunCheckpoints, OfAFormerRunStayUntilTheFirstStep) {
  const std::string flags = "--do_train --save_steps 1 --output_dir out ";
  ASSERT_EQ(run_qa(flags + "--max_steps 3").status, 0);
  const std::string failing = flags + "--max_steps 3 --overwrite_output_dir ";
  const std::string error = run_qa(failing + "--dataloader_drop_last --per_device_train_batch_size 100000").error();
  EXPECT_TRUE(contains(error, "there is nothing to train on") && contains(error, "leave out --dataloader_drop_last"))
      << error;
  EXPECT_EQ(io::list_checkpoints(folder() / "out").size(), 3u);
  ASSERT_EQ(run_qa(flags + "--max_steps 1 --overwrite_output_dir").status, 0);
  EXPECT_EQ(io::list_checkpoints(folder() / "out"), std::vector<fs::path>{folder() / "out/checkpoint-1"});
}

TEST_F(RunCheckpoints, AnOutputFolderIsNoCheckpoint) {
  const std::string flags = "--do_train --save_steps 1 --max_steps 2 --output_dir ";
  ASSERT_EQ(run_qa(flags + "out").status, 0);
  EXPECT_EQ(run_qa(flags + "other --resume_from_checkpoint out").error(),
            "--resume_from_checkpoint out: that is the output folder of a run; name one of its checkpoints, such as "
            "out/checkpoint-2");
  EXPECT_TRUE(
      contains(run_qa(flags + "other --resume_from_checkpoint ''").error(), "--resume_from_checkpoint is empty"));
}

// Runs that classify texts.
class RunCheckpointsWithLabels : public RunCheckpoints {
 protected:
  Outcome classify(const std::string& file, const std::string& flags) const {
    return hearth(
        fmt::format("run_classification --model_name_or_path {} --train_file {} --do_train --max_steps 1 "
                    "--save_steps 1 --num_threads 1 --disable_tqdm True --output_dir out {}",
                    start_model().string(), file, flags));
  }
};

// A run goes on only from a checkpoint of the same task with the same labels.
TEST_F(RunCheckpointsWithLabels, OfAnotherTaskAreRefused) {
  write("moods.csv", "sentence,label\nfine,good\nbroken,bad\n");
  write("others.csv", "sentence,label\nfine,pleased\nbroken,angry\n");
  ASSERT_EQ(classify("moods.csv", "").status, 0);
  const std::string labels = classify("others.csv", "--max_steps 2").error();
  EXPECT_TRUE(
      labels.starts_with("the labels of out/checkpoint-1 are bad, good, those of this run are angry, pleased: "))
      << labels;
  const std::string task = run_qa("--do_train --max_steps 2 --output_dir out").error();
  EXPECT_TRUE(contains(task,
                       "is a checkpoint of \"BertForSequenceClassification\", and this run trains "
                       "BertForQuestionAnswering: give another --output_dir"))
      << task;
  EXPECT_TRUE(run_qa("--do_train --max_steps 2 --output_dir new --resume_from_checkpoint out/checkpoint-1")
                  .error()
                  .ends_with(": leave out --resume_from_checkpoint, or name a checkpoint of this task"));
  EXPECT_TRUE(classify("others.csv", "--max_steps 2 --resume_from_checkpoint True")
                  .error()
                  .ends_with(": leave out --resume_from_checkpoint and give another --output_dir, or "
                             "--overwrite_output_dir to start from the beginning"));
  const Outcome evaluation = run_qa("--do_eval --output_dir new --resume_from_checkpoint out/checkpoint-1");
  EXPECT_EQ(evaluation.status, 0) << "nothing is resumed: " << evaluation.err;
  EXPECT_EQ(classify("others.csv", "--overwrite_output_dir").status, 0);
}

TEST_F(RunCheckpointsWithLabels, ManyLabelsAreCutInTheError) {
  std::string first = "sentence,label\n", second = first;
  for (int i = 0; i < 30; ++i) {
    first += fmt::format("fine,a{:02}\n", i);
    second += fmt::format("fine,b{:02}\n", i);
  }
  write("first.csv", first);
  write("second.csv", second);
  ASSERT_EQ(classify("first.csv", "").status, 0);
  const std::string error = classify("second.csv", "--max_steps 2").error();
  EXPECT_TRUE(contains(error, "a19, ..., those of this run are b00, ")) << error;
  EXPECT_FALSE(contains(error, "a20")) << error;
}

// Checkpoints of the Trainer may number their labels, as integers too, or name them where this run numbers them.
TEST_F(RunCheckpointsWithLabels, NumbersForLabelsAreNoOtherLabels) {
  write("moods.csv", "sentence,label\nfine,1\nbroken,0\n");
  ASSERT_EQ(classify("moods.csv", "").status, 0);
  fs::remove(folder() / "out/checkpoint-1/checksums.json");
  const auto resumed_with = [&](const io::Json& id2label) {
    io::Json config = json("out/checkpoint-1/config.json");
    config["id2label"] = id2label;
    write("out/checkpoint-1/config.json", io::dump_json(config, 2));
    Outcome outcome =
        classify("moods.csv",
                 "--max_steps 2 --resume_from_checkpoint out/checkpoint-1 --save_strategy no --output_dir new "
                 "--overwrite_output_dir");
    EXPECT_TRUE(contains(outcome.out, "resuming from out/checkpoint-1") || outcome.status != 0) << outcome.out;
    return outcome;
  };
  for (const io::Json& unnamed : {io::Json{{"0", 0}, {"1", 1}}, io::Json{{"0", "LABEL_0"}, {"1", "LABEL_1"}},
                                  io::Json{{"0", nullptr}, {"1", io::Json::array()}}, io::Json()}) {
    const Outcome outcome = resumed_with(unnamed);
    EXPECT_EQ(outcome.status, 0) << unnamed << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "the labels of")) << unnamed << outcome.err;
  }
  const Outcome named = resumed_with({{"0", "NEG"}, {"1", "POS"}});
  EXPECT_EQ(named.status, 0) << named.err;
  EXPECT_TRUE(contains(named.err,
                       "warning: the labels of out/checkpoint-1 are NEG, POS, those of this run are 0, 1: they are "
                       "taken to be the same, in this order"))
      << named.err;
  EXPECT_TRUE(contains(resumed_with({{"0", "NEG"}, {"1", "POS"}, {"2", "MIXED"}}).error(),
                       "the labels of out/checkpoint-1 are NEG, POS, MIXED, those of this run are 0, 1: leave out"));
}

TEST_F(RunCheckpoints, OtherSettingsAreNamed) {
  const std::string flags = "--do_train --max_steps 4 --save_steps 2 --output_dir ";
  ASSERT_EQ(run_qa(flags + "out").status, 0);
  const std::string resume = " --resume_from_checkpoint out/checkpoint-2";
  const Outcome same_run = run_qa(flags + "same" + resume + " --logging_first_step True --overwrite_cache True");
  EXPECT_FALSE(contains(same_run.err, "settings differ")) << same_run.err;
  const Outcome outcome = run_qa(flags + "other" + resume + " --seed 7 --learning_rate 2e-3 --weight_decay 0.1 " +
                                 "--train_file " + (kFixtures / "dev.json").string());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  for (const char* part : {"settings differ from those of the checkpoint that this run resumes from: training data ",
                           "seed 42 -> 7", "learning_rate 0.001 -> 0.002", "weight_decay 0.0 -> 0.1"})
    EXPECT_TRUE(contains(outcome.err, part));
}

// Where the model, its config or its tokenizer is another one; not where its folder is only spelled otherwise.
TEST_F(RunCheckpoints, AnotherModelIsNamed) {
  for (const char* name : {"model", "other"}) fs::copy(start_model(), folder() / name, fs::copy_options::recursive);
  const std::string flags = "--do_train --max_steps 2 --save_steps 1 --output_dir ";
  ASSERT_EQ(run_qa(flags + "out --model_name_or_path model --config_name model --tokenizer_name model").status, 0);
  const auto warnings = [&](const std::string& names) {
    const Outcome outcome =
        run_qa(flags + "again --overwrite_output_dir --resume_from_checkpoint out/checkpoint-1 " + names);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.err;
  };
  const std::string other = warnings("--model_name_or_path other --config_name other --tokenizer_name other");
  for (const char* part : {"model_name_or_path \"model\" -> \"other\"", "config_name \"model\" -> \"other\"",
                           "tokenizer_name \"model\" -> \"other\""})
    EXPECT_TRUE(contains(other, part));
  const std::string same =
      warnings(fmt::format("--model_name_or_path {0} --config_name ./model/ --tokenizer_name other/../model",
                           (folder() / "model").string()));
  EXPECT_FALSE(contains(same, "settings differ")) << same;
}

}  // namespace
}  // namespace hearth
