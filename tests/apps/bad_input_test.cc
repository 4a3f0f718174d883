// Every failure ends with one sentence, and no file that existed is lost.
#include <gtest/gtest.h>

#include <map>

#include "tests/apps/program.h"

namespace hearth {
namespace {

class BadInput : public ProgramTest {
 protected:
  void expect_error(const std::string& flags, const std::vector<std::string>& parts,
                    const std::string& before = "") const {
    const std::string error = run_qa("--output_dir out " + flags, before).error();
    for (const std::string& part : parts) EXPECT_TRUE(contains(error, part)) << flags << ": " << error;
  }

  std::string copy_of_model(const std::string& name) const {
    fs::copy(start_model(), folder() / name, fs::copy_options::recursive);
    return " --model_name_or_path " + name + " ";
  }
};

TEST_F(BadInput, Flags) {
  expect_error("", {"nothing to do"});
  expect_error("--do_trian", {"--do_trian", "did you mean --do_train?"});
  expect_error("--do_train --learning_rte 1", {"--learning_rte", "--learning_rate"});
  expect_error("--do_train --fp16 --bf16", {"exclude each other"});
  expect_error("--do_train --bf16 maybe", {"bf16", "maybe"});
  expect_error("--do_train --use_ipex bf16", {"--use_ipex: 'bf16' is neither true nor false"});
  expect_error("--do_train --num_train_epochs inf", {"num_train_epochs must be at most"});
  expect_error("--do_train --max_steps many", {"max_steps", "many"});
  expect_error("--do_train --learning_rate -1", {"learning_rate", "at least 0"});
  expect_error("--do_train --lr_scheduler_type slow", {"lr_scheduler_type", "slow", "linear"});
  expect_error("--do_train --lr_scheduler_kwargs '{\"powr\": 2}'", {"powr", "power"});
  expect_error("--do_train --max_isa sse2", {"sse2", "avx2"});
  expect_error("--do_train --dataset_name ../squad", {"../squad is neither a folder nor the name of a data set"});
  expect_error("--do_train --load_best_model_at_end", {"--load_best_model_at_end", "--eval_strategy"});
  expect_error("--do_train --eval_on_start", {"--eval_on_start needs something to evaluate on"});
  expect_error("--do_train --resume_from_checkpoint nowhere", {"--resume_from_checkpoint", "nowhere"});
  EXPECT_TRUE(contains(hearth("run_qa").error(), "--model_name_or_path is needed"));
  EXPECT_TRUE(contains(hearth("run_qa none.json").error(), "none.json"));
  write("flags.json", "{\"do_trian\": true}");
  const std::string error = hearth("run_qa flags.json").error();
  EXPECT_TRUE(contains(error, "flags.json") && contains(error, "do_train")) << error;
  EXPECT_FALSE(fs::exists(folder() / "out" / "model.safetensors"));
}

TEST_F(BadInput, SeveralProcesses) {
  expect_error("--do_train --ddp_backend gloo --ddp_timeout 1", {"rank 1: "},
               "WORLD_SIZE=2 RANK=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=1");
  EXPECT_FALSE(fs::exists(folder() / "out"));
  EXPECT_EQ(run_qa("--do_eval --output_dir out", "WORLD_SIZE=1").status, 0);
  expect_error("--do_train --local_rank 5", {"--local_rank 5 must be below the number of processes on this host, 2"},
               "WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=1");
}

TEST_F(BadInput, ErrorsOfTheSystemAreOneSentence) {
  const std::string name(300, 'x');
  const std::string error = hearth("init_model --config none.json --output_dir x --tokenizer " + name).error();
  EXPECT_TRUE(contains(error, name) && contains(error, "File name too long")) << error;
  EXPECT_FALSE(contains(error, "filesystem error")) << error;
  EXPECT_EQ(hearth("verify nowhere", "exec 2>/dev/full;").status, 1);
  EXPECT_EQ(hearth("run_aq", "exec 2>/dev/full;").status, 2);
}

TEST_F(BadInput, BrokenRecordsAreNamed) {
  const std::string good =
      R"({"id": "a", "question": "Q?", "context": "A b c.", "answers": {"text": ["b"], "answer_start": [2]}})";
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases{
      {R"({"id": "z", "question": "Q?", "context": "A b c."})", {"record 2", "id z", "answers"}},
      {R"({"id": "z", "question": 7, "context": "A b c.", "answers": {"text": ["b"], "answer_start": [2]}})",
       {"record 2", "id z", "question"}},
      {R"({"id": "z", "question": "Q?", "answers": {"text": ["b"], "answer_start": [2]}})",
       {"record 2", "id z", "context"}},
      {R"({"id": "z", "question": "Q?", "context": "A b", "answers": {"text": ["b"], "answer_start": ["x"]}})",
       {"record 2", "id z", "answers.answer_start"}},
      {R"({"id": "z", "question": "Q?", "context": "A b", "answers": {"text": ["b", "A"], "answer_start": [2]}})",
       {"record 2", "id z", "answers"}},
      {"7", {"record 2"}},
  };
  for (const auto& [record, parts] : cases) {
    write("broken.json", "{\"data\": [" + good + ", " + record + "]}");
    for (const char* flag : {"--do_train --train_file", "--do_train --do_eval --validation_file"}) {
      expect_error(std::string(flag) + " broken.json", {"broken.json"});
      expect_error(std::string(flag) + " broken.json", parts);
    }
  }
  write("broken.json", "{\"data\": [" + good);
  expect_error("--do_train --train_file broken.json", {"broken.json", "not valid JSON", "after record 1"});
  write("broken.json", "{\"data\": []}");
  expect_error("--do_train --train_file broken.json", {"broken.json", "no questions"});
  write("broken.csv", "");
  expect_error("--do_train --train_file broken.csv", {"broken.csv", "empty"});
}

// A test file that is not there is noticed before the training, not after it.
TEST_F(BadInput, MissingFiles) {
  for (const char* flag : {"train_file", "validation_file", "test_file"}) {
    const Outcome outcome =
        run_qa(std::string("--do_train --do_eval --do_predict --output_dir out --") + flag + " none.json");
    EXPECT_TRUE(contains(outcome.error(), "none.json")) << flag;
    EXPECT_EQ(outcome.out, "") << flag;  // no settings before the error
    EXPECT_FALSE(fs::exists(folder() / "out")) << flag;
    expect_error(std::string("--do_train --") + flag + " none.txt", {"none.txt", ".json"});
  }
  expect_error("--do_eval --model_name_or_path nowhere", {"nowhere", "neither a folder nor"}, "HF_HOME=home");
  const std::string flags = "--do_eval" + copy_of_model("model");
  for (const char* file : {"config.json", "model.safetensors"}) {
    fs::remove(folder() / "model" / file);
    expect_error(flags, {"model", file});
    fs::copy(start_model() / file, folder() / "model" / file);
  }
  fs::remove(folder() / "model" / "vocab.txt");
  fs::remove(folder() / "model" / "tokenizer.json");
  expect_error(flags, {"model", "tokenizer"});
  EXPECT_FALSE(fs::exists(folder() / "out"));
}

TEST_F(BadInput, AFailedStartLeavesNothingBehind) {
  write("broken.json", "{\"data\": []}");
  EXPECT_EQ(run_qa("--do_train --train_file broken.json --output_dir a/b").status, 1);
  EXPECT_EQ(run_qa("--do_eval --max_seq_length 1000 --output_dir a/b").status, 1);
  EXPECT_FALSE(fs::exists(folder() / "a"));
  fs::create_directories(folder() / "empty");
  EXPECT_EQ(run_qa("--do_train --train_file broken.json --output_dir empty").status, 1);
  EXPECT_EQ(names_in(folder() / "empty"), std::set<std::string>());
}

TEST_F(BadInput, ModelsThatDoNotFit) {
  const std::string flags = "--do_eval" + copy_of_model("model");
  fs::resize_file(folder() / "model" / "model.safetensors", 1000);
  expect_error(flags, {"model.safetensors", "cut off"});
  fs::copy(start_model() / "model.safetensors", folder() / "model" / "model.safetensors",
           fs::copy_options::overwrite_existing);
  io::Json config = json("model/config.json");
  config["hidden_size"] = 64;
  write("model/config.json", io::dump_json(config, 2));
  expect_error(flags, {"do not fit a BertForQuestionAnswering", "(200, 32)", "(200, 64)"});
  config["model_type"] = "gpt2";
  write("model/config.json", io::dump_json(config, 2));
  expect_error(flags, {"config.json", "gpt2"});
  expect_error("--do_eval --config_overrides hidden_siz=3", {"hidden_siz"});
  expect_error("--do_eval --config_overrides num_attention_heads=5", {"number of attention heads, 5"});
}

// Every file that a command reads, in turn, is a pipe that nobody writes to, a device and a folder.
TEST_F(BadInput, SpecialFilesAreRefusedAtOnce) {
  const std::string flags = "--do_eval" + copy_of_model("model");
  write("flags.yaml", "do_eval: true\n");
  const auto expect_refused = [&](const std::string& file, const std::string& command) {
    const std::vector<std::pair<std::string, std::string>> kinds{
        {"mkfifo ", "a pipe"}, {"ln -s /dev/zero ", "a device"}, {"mkdir ", "Is a directory"}};
    for (const auto& [make, kind] : kinds) {
      fs::rename(folder() / file, folder() / "kept");
      const std::string error = hearth(command, make + file + "; timeout 120").error();
      EXPECT_TRUE(contains(error, file) && contains(error, kind)) << error;
      fs::remove(folder() / file);
      fs::rename(folder() / "kept", folder() / file);
    }
  };
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"})
    expect_refused("model/" + std::string(file), job() + " --output_dir out " + flags);
  fs::copy(kFixtures / "train.json", folder() / "train.json");
  expect_refused("train.json", job() + " --output_dir out --do_train --train_file train.json");
  expect_refused("flags.yaml", "run_qa flags.yaml");
  write("launch.yaml", "distributed_type: MULTI_CPU\n");
  expect_refused("launch.yaml", "launch --config_file launch.yaml --dry_run run_qa");
  write("hosts", "localhost\n");
  expect_refused("hosts", "launch --mpirun_hostfile hosts --dry_run run_qa");
}

TEST_F(BadInput, StandardInputIsReadOnPurpose) {
  const std::string ask = "ask --question Who? --json --model " + start_model().string();
  for (const char* context : {" --context -", " --context /dev/stdin"}) {
    const Outcome outcome = hearth(ask + context, "echo Ada lives. |");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(contains(outcome.out, "\"question\": \"Who?\"")) << outcome.out;
  }
}

TEST_F(BadInput, MessagesDoNotPassOnControlCharacters) {
  write("odd.json", R"({"learning\u0000rate\u001b[2J\u202e": 1})");
  const std::string error = hearth("run_qa odd.json").error();
  EXPECT_TRUE(contains(error, R"(there is no option learning\x00rate\x1b[2J\u202e)")) << error;
}

TEST_F(BadInput, WholeNumbersAreNotCutToTheirLowBits) {
  for (const char* number : {"4294967296", "4294967297", "9223372036854775807", "9223372036854775808"}) {
    const std::string ask = "ask --model " + start_model().string() + " --context_text Ada --question Who? ";
    for (const char* flag : {"--max_answer_length ", "--n_best_size ", "--n_best ", "--doc_stride "}) {
      const Outcome outcome = hearth(ask + flag + number);
      EXPECT_EQ(outcome.status, 2) << flag << number << outcome.err;
    }
    for (const char* flag : {"--num_threads ", "--local_rank ", "--seed ", "--n_best_size "}) {
      const Outcome outcome = run_qa(std::string("--do_train --output_dir out ") + flag + number);
      EXPECT_EQ(outcome.status, 2) << flag << number << outcome.err;
    }
    for (const char* flag : {"--num_processes ", "--num_machines ", "--ninstances ", "--ncores_per_instance ",
                             "--ccl_worker_count ", "--mpirun_ccl "}) {
      const Outcome outcome = hearth("launch --dry_run --no_config_file " + std::string(flag) + number + " env");
      EXPECT_EQ(outcome.status, 2) << flag << number << outcome.err;
    }
  }
}

TEST_F(BadInput, ATokenizerOfAnotherModel) {
  std::string vocabulary;
  for (int i = 0; i < 100; ++i) vocabulary += "[unused" + std::to_string(i) + "]\n";
  fs::create_directories(folder() / "other");
  write("other/vocab.txt", vocabulary + io::read_file(start_model() / "vocab.txt"));
  expect_error("--do_train --tokenizer_name other",
               {"other is not this model's tokenizer", "train.json has the token", "vocabulary ends at 199"});
  EXPECT_FALSE(fs::exists(folder() / "out"));
}

TEST_F(BadInput, AnswersOutsideTheirContextAreCounted) {
  write("odd.json", R"({"data": [
    {"id": "a", "question": "Who?", "context": "Ada lives.", "answers": {"text": ["Ada"], "answer_start": [0]}},
    {"id": "b", "question": "Who?", "context": "Ada lives.", "answers": {"text": ["Hugo"], "answer_start": [0]}},
    {"id": "c", "question": "Who?", "context": "Ada lives.", "answers": {"text": ["Ada"], "answer_start": [400]}}]})");
  const Outcome outcome = run_qa("--do_train --train_file odd.json --num_train_epochs 1 --output_dir out");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: ") && contains(outcome.err, "odd.json: 2 of 3 answers")) << outcome.err;
}

TEST_F(BadInput, LengthsBeyondTheModel) {
  expect_error("--do_train --max_seq_length 129", {"129", "128 positions"});
  expect_error("--do_train --doc_stride 64", {"--doc_stride (64)"});
  expect_error("--do_train --doc_stride 60", {"doc_stride 60", "leaves 5"});
  const std::string flags = "--do_train --max_steps 1 --save_strategy no --output_dir out" + copy_of_model("model");
  io::Json tokenizer = json("model/tokenizer_config.json");
  tokenizer["model_max_length"] = 48;
  write("model/tokenizer_config.json", io::dump_json(tokenizer, 2));
  const Outcome outcome = run_qa(flags + "--pad_to_max_length True");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: max_seq_length 64 is beyond the tokenizer's model_max_length; using 48"))
      << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "padded to 48 positions"));
}

TEST_F(BadInput, AnOutputFolderWithSomethingInIt) {
  fs::create_directories(folder() / "out");
  write("out/mine.txt", "mine");
  expect_error("--do_train", {"out", "not empty", "--overwrite_output_dir"});
  EXPECT_EQ(names_in(folder() / "out"), std::set<std::string>({"mine.txt"}));
  EXPECT_EQ(run_qa("--do_train --max_steps 1 --overwrite_output_dir --output_dir out").status, 0);
  EXPECT_EQ(text("out/mine.txt"), "mine");
  write("file", "");
  EXPECT_TRUE(contains(run_qa("--do_train --output_dir file").error(), "not a folder"));
  EXPECT_TRUE(contains(run_qa("--do_train --output_dir file/below").error(), "file/below"));
}

// A limit on the size of files stands in for the disk: no file can grow beyond it. The report is renewed during a run.
TEST_F(BadInput, AFullDiskLosesNothing) {
  ASSERT_EQ(run_qa("--do_train --max_steps 3 --output_dir out").status, 0);
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder() / "out"))
      if (entry.is_regular_file() && !entry.path().filename().string().starts_with("report."))
        files[fs::relative(entry.path(), folder()).string()] = io::read_file(entry.path());
    return files;
  };
  const auto before = contents();
  const Outcome outcome = run_qa("--do_train --max_steps 6 --output_dir out", "ulimit -c 0; ulimit -f 60;");
  const std::string error = outcome.error();
  EXPECT_TRUE(contains(outcome.out, "resuming from out/checkpoint-3")) << outcome.out;
  EXPECT_TRUE(contains(error, "model.safetensors") && contains(error, "File too large")) << error;
  EXPECT_TRUE(contents() == before);

  const Outcome again = run_qa("--do_train --max_steps 6 --output_dir out");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(fs::exists(folder() / "out" / "checkpoint-6" / "optimizer.safetensors"));
}

}  // namespace
}  // namespace hearth
