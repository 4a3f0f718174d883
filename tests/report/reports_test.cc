#include "hearth/report/reports.h"

#include "hearth/base/profiler.h"
#include "hearth/report/html_report.h"
#include "hearth/report/json_lines.h"
#include "hearth/report/page.h"
#include "hearth/report/summary.h"
#include "hearth/report/tensorboard.h"
#include "hearth/train/program_flags.h"
#include "tests/report/event_reader.h"
#include "tests/train/toy.h"

namespace hearth::report {
namespace {

// What a browser would read from the page: the text of the element with the data, up to its end tag.
io::Json data_of(const std::string& page) {
  const std::string mark = "<script type=\"application/json\" id=\"runs\">";
  const std::size_t begin = page.find(mark) + mark.size();
  return io::parse_json_strict(page.substr(begin, page.find("</script", begin) - begin), "page");
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

class ReportsTest : public TrainerTest {
 protected:
  std::filesystem::path out() const { return folder_ / "out"; }
  RunFacts facts() const {
    RunFacts facts{.name = "a run", .command = "run_toy", .output_dir = out()};
    facts.model_config = {{"hidden_size", 16}};
    return facts;
  }
  // Trains the toy for two epochs with these reports.
  std::shared_ptr<Reports> train(const TrainingArguments& args, RunFacts facts,
                                 const std::filesystem::path& checkpoint = {}) {
    ToyModel model;
    TrainingArguments checked = args;
    checked.validate();
    auto reports = make_reports(checked, std::move(facts));
    TrainerOptions options;
    if (reports) options.callbacks.push_back(reports);
    options.is_watched = true;
    options.eval_dataset = toy_dataset(8);
    ToyTrainer trainer(model, checked, toy_dataset(24), options);
    trainer.train(checkpoint.empty() ? std::nullopt : std::optional(checkpoint));
    return reports;
  }
  TrainingArguments arguments_for(std::vector<std::string> trackers) const {
    TrainingArguments args = arguments();
    args.report_to = std::move(trackers);
    args.eval_strategy = Strategy::epoch;
    return args;
  }
};

TEST_F(ReportsTest, JsonLinesHaveEveryRow) {
  train(arguments_for({"jsonl"}), facts());
  std::vector<io::Json> rows;
  std::istringstream lines(io::read_file(out() / kLogFile));
  for (std::string line; std::getline(lines, line);) rows.push_back(io::parse_json_strict(line, "row"));
  ASSERT_EQ(rows.size(), 15u);  // 12 steps, 2 evaluations, the results
  EXPECT_EQ(rows[0]["step"], 1);
  EXPECT_TRUE(rows[0]["loss"].is_number());
  EXPECT_TRUE(rows[6].contains("eval_loss"));
  EXPECT_TRUE(rows[14].contains("train_runtime"));
  EXPECT_GT(rows[14]["time"].get<double>(), 1.6e9);
  EXPECT_FALSE(std::filesystem::exists(out() / kPageFile));
}

TEST_F(ReportsTest, JsonLinesOfAResumedRunHaveEachStepOnce) {
  io::create_directories(out());
  io::replace_file(out() / kLogFile, "{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n{\"step\": 3, \"lo");
  JsonLines log(facts());
  TrainingProgress progress;
  progress.global_step = 1;
  log.begin(progress);
  progress.global_step = 2;
  log.row(progress, {{"loss", std::nan("")}, {"epoch", 0.5}});
  std::istringstream lines(io::read_file(out() / kLogFile));
  std::string first, second, third;
  std::getline(lines, first), std::getline(lines, second);
  EXPECT_EQ(first, "{\"step\": 1, \"loss\": 2}");
  EXPECT_TRUE(second.starts_with("{\"step\": 2, \"epoch\": 0.5, \"loss\": null")) << second;
  EXPECT_FALSE(std::getline(lines, third));
}

TEST_F(ReportsTest, TensorBoardHasTheNamesOfTransformers) {
  EXPECT_EQ(tensorboard_tag("loss"), "train/loss");
  EXPECT_EQ(tensorboard_tag("train_runtime"), "train/train_runtime");
  EXPECT_EQ(tensorboard_tag("eval_f1"), "eval/f1");
  EXPECT_EQ(tensorboard_tag("test_loss"), "test/loss");
  RunFacts with_folder = facts();
  with_folder.logging_dir = folder_ / "tb";
  train(arguments_for({"tensorboard"}), with_folder);
  const auto files = std::filesystem::directory_iterator(folder_ / "tb");
  const auto events = read_events(files->path());
  std::map<std::string, std::vector<std::int64_t>> steps;
  for (const ReadEvent& event : events)
    for (const auto& [tag, value] : event.scalars) steps[tag].push_back(event.step);
  EXPECT_EQ(steps["train/loss"].size(), 12u);
  EXPECT_EQ(steps["train/learning_rate"].back(), 12);
  EXPECT_EQ(steps["eval/loss"], (std::vector<std::int64_t>{6, 12}));
  EXPECT_EQ(steps["train/train_loss"], (std::vector<std::int64_t>{12}));
  EXPECT_FALSE(steps.contains("train/step"));
  EXPECT_EQ(io::parse_json(events[2].texts.at("model_config/text_summary"), "config"), facts().model_config);
}

TEST_F(ReportsTest, TensorBoardHasHistogramsOnRequest) {
  ToyModel model;
  TrainingArguments args = arguments_for({"tensorboard"});
  args.log_histograms = true;
  RunFacts with = facts();
  with.logging_dir = folder_ / "tb";
  with.histograms = &model.parameters();
  auto reports = make_reports(args, with);
  TrainerOptions options;
  options.callbacks.push_back(reports);
  options.eval_dataset = toy_dataset(8);
  ToyTrainer(model, args, toy_dataset(24), options).train();
  const auto files = std::filesystem::directory_iterator(folder_ / "tb");
  std::size_t gradients = 0, weights = 0;
  for (const ReadEvent& event : read_events(files->path()))
    for (const auto& [tag, proto] : event.histograms) {
      gradients += tag == "gradients/classifier.weight";
      weights += tag == "weights/classifier.weight";
      if (tag.ends_with("classifier.weight")) {
        EXPECT_EQ(proto.number<double>(3), 16 * kToyClasses);
      }
    }
  EXPECT_EQ(gradients, 12u);
  EXPECT_EQ(weights, 12u);
}

TEST_F(ReportsTest, HtmlHasTheRun) {
  RunFacts with = facts();
  with.samples = [] { return std::vector<SamplePrediction>{{"text", "", "a", "b", false}}; };
  train(arguments_for({"html"}), with);
  const std::string page = io::read_file(out() / kPageFile);
  const io::Json runs = data_of(page);
  ASSERT_EQ(runs.size(), 1u);
  const io::Json& run = runs[0];
  EXPECT_EQ(run, io::read_json(out() / kRecordFile));
  EXPECT_EQ(run["state"], "finished");
  EXPECT_EQ(run["curve"]["step"].size(), 12u);
  EXPECT_EQ(run["evaluations"].size(), 2u);
  EXPECT_EQ(run["samples"][0]["predicted"], "b");
  EXPECT_TRUE(run["results"].contains("train_runtime"));
  EXPECT_EQ(run["ranks"].size(), 1u);
  EXPECT_GT(run["ranks"][0]["memory_bytes"].get<double>(), 0);
  EXPECT_EQ(run["profiled_steps"], 1);
  EXPECT_FALSE(run["ops"].empty());
  EXPECT_GT(run["curve"]["limit_share"][5].get<double>(), 0);
  // Nothing is loaded from elsewhere: no address but the name of SVG's elements.
  EXPECT_EQ(count_of(page, "http"), 2u);
  EXPECT_EQ(count_of(page, "http://www.w3.org/2000/svg"), 1u);
  EXPECT_EQ(count_of(page, "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"), 1u);
}

TEST_F(ReportsTest, TextOfARunCannotBecomeMarkup) {
  const std::string hostile =
      "</script><script>alert(1)</script><!-- <b>&amp;\x1b[31m \xe2\x80\xae \xff /*DATA*/ /*SCRIPT*/";
  const std::string plain = page_of({});
  RunFacts with = facts();
  with.name = hostile;
  with.environment = {{"processor", "</script>"}};
  with.samples = [&] { return std::vector<SamplePrediction>{{hostile, hostile, hostile, hostile, true}}; };
  train(arguments_for({"html"}), with);
  const std::string page = io::read_file(out() / kPageFile);
  EXPECT_EQ(count_of(page, "</script"), count_of(plain, "</script"));
  EXPECT_EQ(count_of(page, "<script"), count_of(plain, "<script"));
  EXPECT_EQ(count_of(page, "<!--"), count_of(plain, "<!--"));
  EXPECT_EQ(count_of(page, "\x1b"), 0u);
  EXPECT_EQ(count_of(page, "\xe2\x80\xae"), 0u);
  const io::Json run = data_of(page)[0];
  EXPECT_EQ(run["name"].get<std::string>().substr(0, 9), "</script>");
  EXPECT_TRUE(contains(run["samples"][0]["input"].get<std::string>(), "\\x1b[31m \\u202e \\xff"));
}

TEST_F(ReportsTest, AResumedRunContinuesItsCurves) {
  TrainingArguments args = arguments_for({"html"});
  args.save_strategy = Strategy::epoch;
  args.max_steps = 12;
  train(args, facts());
  const io::Json before = io::read_json(out() / kRecordFile);
  train(args, facts(), out() / "checkpoint-6");
  const io::Json after = io::read_json(out() / kRecordFile);
  EXPECT_EQ(after["curve"]["step"], before["curve"]["step"]);
  EXPECT_EQ(after["curve"]["loss"], before["curve"]["loss"]);
  EXPECT_EQ(after["started"], before["started"]);
  EXPECT_EQ(after["resumed_at"], io::Json({6}));
  EXPECT_EQ(after["evaluations"].size(), 2u);
  for (std::size_t i = 1; i < 12; ++i) EXPECT_GE(after["curve"]["seconds"][i], after["curve"]["seconds"][i - 1]) << i;
  io::replace_file(out() / kRecordFile, "{}");
  train(args, facts(), out() / "checkpoint-6");
  EXPECT_EQ(io::read_json(out() / kRecordFile)["curve"]["step"].size(), 6u);
  EXPECT_TRUE(contains(warnings_.back(), "the report begins anew"));
}

struct Failing final : Reporter {
  void step(const TrainingProgress&) override { throw Error("the disk is full"); }
};

TEST_F(ReportsTest, AReportThatFailsCostsNothingElse) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<Failing>());
  reporters.push_back(std::make_unique<JsonLines>(facts()));
  ToyModel model;
  TrainerOptions options;
  options.callbacks.push_back(std::make_shared<Reports>(std::move(reporters)));
  ToyTrainer trainer(model, arguments(), toy_dataset(24), options);
  trainer.train();
  EXPECT_EQ(trainer.state().global_step, 12);
  EXPECT_EQ(warnings_, std::vector<std::string>{"a report of this run ends here, training goes on: the disk is full"});
  EXPECT_EQ(count_of(io::read_file(out() / kLogFile), "\n"), 13u);
}

TEST_F(ReportsTest, ReportsChangeNoBits) {
  ToyModel with, without;
  TrainingArguments args = arguments_for({"all"});
  args.eval_strategy = Strategy::no;
  args.validate();
  TrainerOptions options;
  options.callbacks.push_back(make_reports(args, facts()));
  options.is_watched = true;
  ToyTrainer(with, args, toy_dataset(24), options).train();
  ToyTrainer(without, args, toy_dataset(24)).train();
  EXPECT_EQ(with.weights(), without.weights());
}

TEST_F(ReportsTest, ARunThatDoesNotEndHasFailed) {
  struct Stops final : TrainerCallback {
    void on_step_end(const TrainingProgress& progress, TrainerControl&) override {
      if (progress.global_step == 4) throw Error("lost");
    }
  };
  ToyModel model;
  TrainingArguments args = arguments();
  args.validate();
  {
    TrainerOptions options;
    options.callbacks = {make_reports(args, facts()), std::make_shared<Stops>()};
    ToyTrainer trainer(model, args, toy_dataset(24), options);
    EXPECT_EQ(error_of([&] { trainer.train(); }), "lost");
  }
  const RunRecord record = RunRecord::load(out());
  EXPECT_EQ(record.state, "failed");
  EXPECT_EQ(record.step, 4);
}

TEST_F(ReportsTest, OtherTrackersAreNamed) {
  std::vector<std::string> messages;
  set_log_sink([&](LogLevel, std::string_view message) { messages.emplace_back(message); });
  TrainingArguments args = arguments_for({"wandb", "jsonl"});
  args.validate();
  EXPECT_NE(make_reports(args, facts()), nullptr);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0], "--report_to wandb has no effect: html, jsonl and tensorboard are there");
  args.report_to = {"none"};
  args.validate();
  EXPECT_EQ(make_reports(args, facts()), nullptr);
}

class RecordTest : public ReportsTest {
 protected:
  RunRecord record(double rate, const std::string& name) {
    train(arguments_for({"html"}), facts());
    RunRecord run = RunRecord::load(out());
    run.name = name;
    run.settings = {{{"section", "x"}, {"name", "learning_rate"}, {"value", rate}, {"is_default", false}},
                    {{"section", "x"}, {"name", "output_dir"}, {"value", name}, {"is_default", false}}};
    return run;
  }
};

TEST_F(RecordTest, IsSummarized) {
  const RunRecord run = record(1e-3, "a");
  const io::Json summary = summary_of(run);
  EXPECT_EQ(summary["state"], "finished");
  EXPECT_EQ(summary["step"], 12);
  EXPECT_TRUE(summary["loss"].is_number() && summary["tokens_per_second"].is_number());
  EXPECT_EQ(summary["best"]["eval_loss"],
            std::min(run.evaluations[0]["eval_loss"].get<double>(), run.evaluations[1]["eval_loss"].get<double>()));
  EXPECT_FALSE(summary["best"].contains("eval_runtime"));
  EXPECT_EQ(summary["last_evaluation_step"], 12);
}

TEST_F(RecordTest, StateOfAProcessThatIsGone) {
  RunRecord run = record(1e-3, "a");
  run.state = "training";
  EXPECT_EQ(state_now(run), "training");  // this process
  run.pid = 0x3ffffffe;
  EXPECT_EQ(state_now(run), "killed");
  run.host = "elsewhere";
  EXPECT_EQ(state_now(run), "training");
  run.updated -= 3600;
  EXPECT_EQ(state_now(run), "silent");
}

TEST_F(RecordTest, RunsAreCompared) {
  const std::vector<RunRecord> runs{record(1e-3, "a"), record(2e-3, "b")};
  EXPECT_EQ(differing_settings(runs), io::Json({{"learning_rate", {1e-3, 2e-3}}}));
  EXPECT_EQ(score_names(runs), std::vector<std::string>{"eval_loss"});
  const std::string page = page_of({runs[0].to_json(), runs[1].to_json()});
  EXPECT_EQ(data_of(page)[1]["name"], "b");
}

// Also those of transformers, which writes the same trainer_state.json.
TEST_F(RecordTest, OfARunWithoutReport) {
  TrainingArguments args = arguments_for({"none"});
  args.save_strategy = Strategy::epoch;
  train(args, facts());
  const RunRecord run = RunRecord::load(out());  // by its last checkpoint
  EXPECT_EQ(run.step, 12);
  EXPECT_EQ(run.curve.points().size(), 12u);
  EXPECT_EQ(run.evaluations.size(), 2u);
  EXPECT_TRUE(contains(error_of([&] { RunRecord::load(folder_ / "none"); }), "is not a folder"));
  io::create_directories(folder_ / "empty");
  EXPECT_TRUE(contains(error_of([&] { RunRecord::load(folder_ / "empty"); }), "neither report.json nor"));
}

TEST_F(RecordTest, ADamagedFileIsAnError) {
  train(arguments_for({"html"}), facts());
  const io::Json good = io::read_json(out() / kRecordFile);
  EXPECT_EQ(RunRecord::from_json(good, "x").to_json(), good);
  for (const auto& [key, value] : good.items()) {
    if (key == "best_metric" || key == "seconds" || key == "seconds_left") continue;
    for (const io::Json& wrong : {io::Json("?"), io::Json(-1), io::Json(io::Json::array({1}))}) {
      io::Json bad = good;
      bad[key] = wrong;
      if (value.is_string() && wrong.is_string()) continue;
      if ((key == "pid" || key == "started" || key == "updated" || key == "epoch") && wrong.is_number()) continue;
      if (key == "resumed_at" && wrong.is_array()) continue;
      EXPECT_TRUE(contains(error_of([&] { RunRecord::from_json(bad, "x.json"); }), "x.json")) << key << wrong;
    }
  }
}

}  // namespace
}  // namespace hearth::report
