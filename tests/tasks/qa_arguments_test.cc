#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "hearth/base/error.h"
#include "hearth/tasks/question_answering/arguments.h"
#include "hearth/tasks/question_answering/question_answering.h"
#include "hearth/tasks/run_arguments.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using Words = std::vector<std::string>;

// The main command's flags, then `more`.
Words command(const Words& more) {
  Words words{"--model_name_or_path", "DIR",     "--train_file", "train.json",
              "--validation_file",    "dev.csv", "--do_train",   "--do_eval"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Parsed : RunArguments {
  QaArguments data;
};

Parsed parse(const Words& words) {
  QuestionAnswering task;
  RunArguments shared = parse_run_arguments(task_command("run_qa"), task, words);
  return {std::move(shared), task.arguments()};
}

std::string error_of(const Words& words) {
  return hearth::error_of([&] { parse(words); });
}

TEST(QaArguments, DefaultsAreRunQas) {
  const Parsed args = parse(command({}));
  EXPECT_EQ(args.model.model_name_or_path, "DIR");
  EXPECT_EQ(args.model.model_revision, "main");
  EXPECT_EQ(args.data.max_seq_length, 384);
  EXPECT_EQ(args.data.doc_stride, 128);
  EXPECT_EQ(args.data.n_best_size, 20);
  EXPECT_EQ(args.data.max_answer_length, 30);
  EXPECT_FALSE(args.data.pad_to_max_length || args.data.max_train_samples || args.help);
  EXPECT_TRUE(args.training.do_train && args.training.do_eval);
}

TEST(QaArguments, PaddingHasThreeStates) {
  EXPECT_EQ(parse(command({"--pad_to_max_length"})).data.pad_to_max_length, true);
  EXPECT_EQ(parse(command({"--pad-to-max-length", "False"})).data.pad_to_max_length, false);
  EXPECT_EQ(parse(command({"--no_pad_to_max_length"})).data.pad_to_max_length, false);
}

TEST(QaArguments, ResolvedHasAllParts) {
  const Parsed args = parse(command({"--eval_strategy", "epoch", "--config_overrides", "a=1"}));
  const auto find = [&](const std::string& name) {
    return *std::ranges::find(args.resolved, name, &Arguments::Resolved::name);
  };
  EXPECT_EQ(find("model_name_or_path").section, "Model");
  EXPECT_EQ(find("config_overrides").text, "a=1");
  EXPECT_EQ(find("train_file").section, "Question answering");
  EXPECT_TRUE(find("doc_stride").is_default);
  EXPECT_EQ(find("eval_strategy").text, "epoch");
  EXPECT_FALSE(find("eval_strategy").is_default);
}

TEST(QaArguments, Checks) {
  EXPECT_EQ(error_of({"--do_train"}), "--model_name_or_path is needed: model folder, or model name on the Hub");
  EXPECT_TRUE(contains(error_of({"--model_name_or_path", "DIR", "--do_train"}), "no data was given"));
  EXPECT_EQ(error_of({"--model_name_or_path", "DIR", "--train_file", "a.json"}),
            "there is nothing to do: add --do_train, --do_eval and/or --do_predict");
  EXPECT_EQ(error_of(command({"--train_file", "a.txt"})),
            "--train_file a.txt: the file's name must end in .json, .jsonl, .csv, .tsv or .parquet");
  EXPECT_EQ(error_of(command({"--train_file", "a.jsonl"})), "");
  EXPECT_EQ(error_of(command({"--do_predict"})), "--do_predict needs --test_file");
  EXPECT_EQ(error_of(command({"--train_file", "None"})), "--do_train needs --train_file");
  EXPECT_EQ(error_of(command({"--validation_file", "None"})), "--do_eval needs --validation_file");
  EXPECT_EQ(error_of(command({"--validation_file", "None", "--do_eval", "False", "--eval_strategy", "epoch"})),
            "--eval_strategy epoch needs --validation_file");
  EXPECT_EQ(error_of(command({"--doc_stride", "384"})), "--doc_stride (384) must be below --max_seq_length (384)");
  EXPECT_EQ(error_of(command({"--n_best_size", "0"})), "--n_best_size must be at least 1, not 0");
  EXPECT_EQ(error_of(command({"--dataset_name", "squad", "--train_file", "None"})), "");
  EXPECT_EQ(error_of(command({"--load_best_model_at_end", "--eval_strategy", "steps"})),
            "--metric_for_best_model loss: question answering has no evaluation loss; use --metric_for_best_model f1");
  EXPECT_TRUE(contains(error_of(command({"--n_best_size", "4294967296"})), "--n_best_size must be at most"));
  const auto best_by = [](const char* metric, const Words& more) {
    Words words = command({"--eval_strategy", "epoch", "--metric_for_best_model", metric});
    words.insert(words.end(), more.begin(), more.end());
    return error_of(words);
  };
  EXPECT_EQ(best_by("exact", {}),
            "--metric_for_best_model exact is not a metric of this task, which has exact_match, f1, runtime, "
            "samples_per_second, steps_per_second; did you mean exact_match?");
  EXPECT_EQ(best_by("eval_exact_match", {}), "");
  EXPECT_TRUE(contains(best_by("exact_match", {"--version_2_with_negative"}), "best_exact"));
  EXPECT_EQ(best_by("HasAns_f1", {"--version_2_with_negative"}), "");
  EXPECT_TRUE(contains(error_of(command({"--maxseqlen", "3"})), "there is no option --maxseqlen"));
  EXPECT_EQ(parse(command({"--max_seq", "300"})).data.max_seq_length, 300);
  EXPECT_EQ(error_of(command({"--bf16", "--fp16"})), "--fp16 and --bf16 exclude each other: give one of them");
}

TEST(QaArguments, ValidateSeesWhatWasSetDirectly) {
  QaArguments data;
  TrainingArguments training;
  data.train_file = {"a.json"};
  training.do_train = true;
  data.validate(training);
  data.max_answer_length = 0;
  EXPECT_THROW(data.validate(training), Error);
}

using QaArgumentsFile = TemporaryFolder;

TEST_F(QaArgumentsFile, HasAllParts) {
  const std::string file = (folder_ / "arguments.json").string();
  std::ofstream(file) << R"({"model_name_or_path": "DIR", "train_file": "t.json", "do_train": true,
                             "max_seq_length": 128, "doc_stride": 32, "pad_to_max_length": false, "bf16": true})";
  const Parsed args = parse(Words{file});
  EXPECT_EQ(args.data.train_file, std::vector<std::string>{"t.json"});
  EXPECT_EQ(args.data.max_seq_length, 128);
  EXPECT_EQ(args.data.pad_to_max_length, false);
  EXPECT_TRUE(args.training.bf16 && args.training.do_train);

  std::ofstream(file) << R"({"model_name_or_path": "DIR", "trainfile": "t.json"})";
  EXPECT_EQ(error_of({file}), file + ": there is no option trainfile; did you mean train_file?");
  std::ofstream(file) << R"({"train_file": "t.json"})";
  EXPECT_TRUE(contains(error_of({file}), "--model_name_or_path is needed"));
}

TEST(QaArguments, TokenIsNotRepeated) {
  const Parsed args = parse(command({"--token", "secret"}));
  EXPECT_TRUE(args.notices.empty());
  for (const auto& value : args.resolved) {
    EXPECT_FALSE(contains(value.text, "secret"));
    const auto* text = std::get_if<std::string>(&value.value);
    EXPECT_FALSE(text != nullptr && *text == "secret") << value.name;
  }
}

TEST(QaArguments, HelpMentionsEveryOption) {
  const Parsed args = parse(Words{"--help"});
  ASSERT_TRUE(args.help);
  for (const auto& value : parse(command({})).resolved)
    EXPECT_TRUE(contains(*args.help, "  --" + value.name)) << value.name;
  EXPECT_TRUE(contains(*args.help, "--dataset_name"));
  EXPECT_TRUE(contains(*args.help, "--use_ipex"));
}

}  // namespace
}  // namespace hearth::tasks
