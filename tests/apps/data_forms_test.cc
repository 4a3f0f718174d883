// People's own data, as the program reads it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "tests/apps/program.h"

namespace hearth {
namespace {

using DataForms = ProgramTest;

std::string train_on(const fs::path& file, const std::string& folder) {
  return "--do_train --max_steps 2 --save_strategy no --train_file " + file.string() + " --output_dir " + folder;
}

TEST_F(DataForms, TrainTheSameModel) {
  ASSERT_EQ(run_qa(train_on(fixture("qa/articles.json"), "expected")).status, 0);
  for (const char* form : {"answers_as_json.tsv", "orient_columns.json", "answer.csv"}) {
    const Outcome outcome = run_qa(train_on(fixture("qa/forms") / form, form));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "warning")) << outcome.err;
    EXPECT_TRUE(same(fs::path(form) / "model.safetensors", "expected/model.safetensors")) << form;
  }
}

// The same records as JSON lines, as Parquet, and compressed in two files that a pattern names.
TEST_F(DataForms, ParquetAndCompressedShardsTrainTheSameModel) {
  const fs::path lines = fixture("parquet/questions.expected.jsonl");
  ASSERT_EQ(run_qa(train_on(lines, "expected")).status, 0);
  std::istringstream all(text(lines));
  for (int shard = 0; shard < 2; ++shard) {
    std::string line;
    std::getline(all, line);
    const std::string rest = shard == 0 ? "" : std::string(std::istreambuf_iterator<char>(all), {});
    write(fmt::format("shard-{}.jsonl", shard), line + "\n" + rest);
  }
  ASSERT_EQ(std::system(fmt::format("cd '{}' && gzip shard-*.jsonl", folder().string()).c_str()), 0);
  const std::vector<std::string> forms{fixture("parquet/questions.parquet").string(), "'shard-*.jsonl.gz'",
                                       "shard-0.jsonl.gz shard-1.jsonl.gz"};
  for (const std::string& file : forms) {
    fs::remove_all(folder() / "out");
    const Outcome outcome = run_qa(train_on(file, "out"));
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(same("out/model.safetensors", "expected/model.safetensors")) << file;
  }
}

TEST_F(DataForms, AnswersAreFoundOrLeftOut) {
  write("table.csv",
        "id,question,context,answer_text,answer_start\n"
        "a,Who?,Ada lives in Bergen.,Ada,0\n"
        "b,Where?,Ada lives in Bergen.,Bergen,99\n"
        "b,Where?,Ada lives in Bergen.,Oslo,0\n");
  const Outcome outcome = run_qa(train_on("table.csv", "out"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: table.csv: 2 of 3 answers do not fit their contexts")) << outcome.err;
  EXPECT_TRUE(contains(outcome.out, "2 features")) << outcome.out;
}

TEST_F(DataForms, WrongColumnsAreOneSentence) {
  write("table.csv", "title,question,text,label\nt,Who?,Ada lives.,Ada\n");
  EXPECT_TRUE(
      contains(run_qa(train_on("table.csv", "out")).error(),
               "table.csv: record 1: field \"context\" is missing: found title, question, text, label; wanted"));
  write("table.csv", "question,context,answer\nAda lives in Bergen.,Who?,Ada\n");
  EXPECT_TRUE(contains(run_qa(train_on("table.csv", "out")).error(), "check that question, context and answer"));
}

}  // namespace
}  // namespace hearth
