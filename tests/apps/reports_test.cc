// report.html, `hearth top` and `hearth report`, as a user has them.
#include "tests/apps/program.h"

namespace hearth {
namespace {

class RunReports : public ProgramTest {
 protected:
  void train(const std::string& flags) {
    const Outcome outcome = run_qa("--do_train --do_eval --max_steps 4 --save_strategy no " + flags);
    ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
};

TEST_F(RunReports, HaveCurvesScoresAndPredictions) {
  train("--eval_strategy steps --eval_steps 2 --report_to all --run_name 'my run' --output_dir out");
  const io::Json record = json("out/report.json");
  EXPECT_EQ(record.at("name"), "my run");
  EXPECT_EQ(record.at("command"), "run_qa");
  EXPECT_EQ(record.at("state"), "finished");
  EXPECT_EQ(record.at("curve").at("step"), io::Json({1, 2, 3, 4}));
  ASSERT_EQ(record.at("evaluations").size(), 2u);  // the final one is that of step 4 once more
  EXPECT_TRUE(record.at("evaluations")[1].contains("eval_f1"));
  ASSERT_FALSE(record.at("samples").empty());
  for (const char* key : {"input", "question", "expected", "predicted", "right"})
    EXPECT_TRUE(record.at("samples")[0].contains(key)) << key;
  EXPECT_FALSE(record.at("ops").empty());
  EXPECT_TRUE(record.at("environment").contains("processor"));
  EXPECT_EQ(record.at("model_config").at("model_type"), "bert");
  EXPECT_TRUE(contains(text("out/report.html"), "my run"));
  EXPECT_EQ(lines_of(text("out/log.jsonl")).size(), 4u + 2 + 1 + 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "out/runs"), {}), 1);
}

TEST_F(RunReports, NoneWritesNothing) {
  train("--report_to none --output_dir out");
  for (const char* name : {"report.html", "report.json", "log.jsonl", "runs"})
    EXPECT_FALSE(fs::exists(folder() / "out" / name)) << name;
  EXPECT_TRUE(contains(hearth("top out").error(), "out has no report.json: a run writes it"));
  EXPECT_TRUE(contains(hearth("report out").out, "4 of 4"));  // from trainer_state.json
}

TEST_F(RunReports, TopShowsARun) {
  train("--output_dir out");
  const Outcome once = hearth("top out --once");
  EXPECT_EQ(once.status, 0);
  EXPECT_TRUE(contains(once.out, "out: hearth run_qa on ")) << once.out;
  EXPECT_TRUE(contains(once.out, "100% 4/4")) << once.out;
  EXPECT_TRUE(contains(once.out, "tokens/s")) << once.out;
  EXPECT_TRUE(contains(once.out, "evaluation   step 4: exact_match ")) << once.out;
  const io::Json now = io::parse_json(hearth("top out --json").out, "top");
  EXPECT_EQ(now.at("state"), "finished");
  EXPECT_EQ(now.at("step"), 4);
  EXPECT_EQ(now.at("seconds_left"), 0);
  io::Json record = json("out/report.json");
  record["state"] = "training";
  write("out/report.json", io::dump_json(record, io::kOneLine));
  EXPECT_EQ(io::parse_json(hearth("top out --json").out, "top").at("state"), "killed");
  EXPECT_TRUE(contains(hearth("top out --once").out, "killed; the same command resumes from its last checkpoint"));
  write("out/report.json", "{\"name\": 1}");
  EXPECT_TRUE(contains(hearth("top out").error(), "out/report.json: "));
}

TEST_F(RunReports, AreCompared) {
  train("--output_dir first");
  train("--output_dir second --weight_decay 0.5");
  const Outcome table = hearth("report first second --html both.html");
  ASSERT_EQ(table.status, 0) << table.err;
  EXPECT_TRUE(contains(table.out, "best eval_f1")) << table.out;
  EXPECT_TRUE(contains(table.out, "--weight_decay")) << table.out;
  EXPECT_FALSE(contains(table.out, "--learning_rate")) << table.out;
  EXPECT_TRUE(contains(text("both.html"), "second"));
  const io::Json json = io::parse_json(hearth("report first second --json").out, "report");
  EXPECT_EQ(json.at("runs").size(), 2u);
  EXPECT_EQ(json.at("differing_settings").at("weight_decay"), io::Json({0.0, 0.5}));
  EXPECT_TRUE(contains(hearth("report nothing").error(), "nothing is not a folder"));
  EXPECT_EQ(hearth("report").status, 2);
}

TEST_F(RunReports, OfTwoRanksShowTheirBalance) {
  const std::string flags = " --do_train --max_steps 6 --save_strategy no --output_dir out";
  const Outcome outcome = hearth("launch --num_processes 2 " + job() + flags);
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const io::Json ranks = json("out/report.json").at("ranks");
  ASSERT_EQ(ranks.size(), 2u);
  for (const io::Json& rank : ranks) {
    EXPECT_GT(rank.at("busy_share").get<double>(), 0);
    EXPECT_GT(rank.at("memory_bytes").get<double>(), 1e6);
  }
  EXPECT_TRUE(contains(hearth("top out --once").out, "  ranks        2, busy "));
}

TEST_F(RunReports, AProfileHasAllThreadsAndTheCommunication) {
  std::string command =
      "launch --num_processes 2 " + job() + " --do_train --max_steps 3 --save_strategy no --profile --output_dir out";
  command.replace(command.find("--num_threads 1"), std::string("--num_threads 1").size(), "--num_threads 2");
  const Outcome outcome = hearth(command);
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  std::map<int, std::string> tracks;
  std::map<std::string, std::set<std::string>> spans;
  const io::Json trace = json("out/trace.json");
  for (const io::Json& event : trace.at("traceEvents"))
    if (event.at("name") == "thread_name") tracks[event.at("tid")] = event.at("args").at("name");
  for (const io::Json& event : trace.at("traceEvents"))
    if (event.at("ph") == "X") spans[tracks.at(event.at("tid"))].insert(event.at("name"));
  EXPECT_TRUE(spans["training"].contains("linear forward"));
  EXPECT_TRUE(spans["training"].contains("reports"));
  EXPECT_TRUE(spans["compute thread 1 (the main thread)"].contains("linear forward"));
  EXPECT_TRUE(spans["compute thread 2"].contains("linear forward"));
  EXPECT_TRUE(spans["communication"].contains("all_reduce"));
  EXPECT_TRUE(spans["preparing batches"].contains("collating"));
  std::set<std::string> threads;
  const io::Json profile = json("out/profile.json");
  for (const io::Json& thread : profile.at("threads")) threads.insert(thread.at("thread"));
  EXPECT_TRUE(threads.contains("communication") && threads.contains("compute thread 2"));
}

}  // namespace
}  // namespace hearth
