// People's own data, as the program reads it.
#include <gtest/gtest.h>

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

TEST_F(DataForms, AnswersAreFoundOrLeftOut) {
  write("table.csv",
        "id,question,context,answer_text,answer_start\n"
        "a,Who?,Ada lives in Bergen.,Ada,0\n"
        "b,Where?,Ada lives in Bergen.,Bergen,99\n"
        "b,Where?,Ada lives in Bergen.,Oslo,0\n");
  const Outcome outcome = run_qa(train_on("table.csv", "out"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: table.csv: 2 of 3 answers do not fit their contexts")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "warning: table.csv: 1 of 3 questions have the id of an earlier question (b)"));
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
