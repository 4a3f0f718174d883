#include "hearth/report/html_report.h"

#include <unistd.h>

#include <algorithm>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/base/profiler.h"
#include "hearth/base/text_layout.h"
#include "hearth/base/version.h"
#include "hearth/comm/world.h"
#include "hearth/io/file.h"
#include "hearth/report/page.h"
#include "hearth/train/program_flags.h"

namespace hearth::report {
namespace {

constexpr double kLeastPause = 2;     // seconds between two renewals
constexpr double kWriteShare = 1e-3;  // of the time of a run, for all of them
constexpr std::size_t kLongestText = 1200;

io::Json settings_json(const std::vector<Arguments::Resolved>& settings) {
  const io::Json values = to_json(settings);
  io::Json list = io::Json::array();
  for (const Arguments::Resolved& setting : settings)
    if (values.contains(setting.name))  // a password is not there
      list.push_back({{"section", setting.section},
                      {"name", setting.name},
                      {"value", values[setting.name]},
                      {"is_default", setting.is_default}});
  return list;
}

std::string shown(const std::string& text) { return shortened(printable_lines(text), kLongestText); }

io::Json samples_json(const std::vector<SamplePrediction>& samples) {
  io::Json list = io::Json::array();
  for (const SamplePrediction& sample : samples)
    list.push_back({{"input", shown(sample.input)},
                    {"question", shown(sample.question)},
                    {"expected", shown(sample.expected)},
                    {"predicted", shown(sample.predicted)},
                    {"right", sample.right}});
  return list;
}

io::Json ops_json(const Profiler& profiler) {
  io::Json list = io::Json::array();
  for (const Profiler::Total& total : profiler.totals())
    list.push_back({{"op", total.name}, {"calls", total.calls}, {"seconds", total.seconds}});
  return list;
}

const char* name_of(Ending ending) {
  return ending == Ending::finished ? "finished" : ending == Ending::interrupted ? "interrupted" : "failed";
}

}  // namespace

void HtmlReport::begin(const TrainingProgress& progress) {
  io::create_directories(facts_.output_dir);
  continue_record(progress);
  record_.name = printable(facts_.name);
  record_.command = facts_.command;
  record_.folder = printable(facts_.output_dir.string());
  record_.host = comm::host_name();
  record_.version = kVersion;
  record_.pid = ::getpid();
  record_.state = "training";
  record_.settings = settings_json(facts_.settings);
  record_.model_config = facts_.model_config;
  record_.environment = facts_.environment;
  first_step_ = progress.global_step;
  since_begin_.restart();
  note(progress);
  write();
}

// What earlier runs of this one have left, up to the checkpoint that it resumes from.
void HtmlReport::continue_record(const TrainingProgress& progress) {
  record_ = {};
  record_.started = unix_seconds();
  const std::filesystem::path file = facts_.output_dir / kRecordFile;
  if (progress.global_step == 0 || !std::filesystem::exists(file)) return;
  try {
    record_ = RunRecord::from_json(io::read_json(file), file.string());
  } catch (const Error& error) {
    log_warning("the report begins anew: {}", error.what());
    return;
  }
  const auto is_later = [&](const io::Json& row) { return row.value("step", std::int64_t{0}) > progress.global_step; };
  io::Json kept = io::Json::array();
  for (const io::Json& row : record_.evaluations)
    if (!is_later(row)) kept.push_back(row);
  record_.evaluations = std::move(kept);
  record_.curve.resume_from(progress.global_step);
  record_.results = io::Json::object();
  record_.resumed_at.push_back(progress.global_step);
  seconds_before_ = record_.curve.points().empty() ? 0 : record_.curve.points().back().seconds;
}

void HtmlReport::note(const TrainingProgress& progress) {
  record_.step = progress.global_step;
  record_.max_steps = progress.max_steps;
  record_.epoch = progress.epoch;
  record_.epochs = progress.num_train_epochs;
  record_.best_metric = progress.best_metric;
  record_.seconds = seconds_before_ + since_begin_.seconds();
  const std::int64_t done = progress.global_step - first_step_;
  const auto left = static_cast<double>(std::max<std::int64_t>(0, progress.max_steps - progress.global_step));
  record_.seconds_left = done > 0 ? since_begin_.seconds() / static_cast<double>(done) * left : 0;
}

void HtmlReport::note_steps(const StepFacts& steps) {
  record_.ranks = io::Json::array();
  for (const RankLoad& rank : steps.ranks)
    record_.ranks.push_back(
        {{"busy_share", steps.ranks_seconds > 0 ? finite_json(rank.busy_seconds / steps.ranks_seconds) : io::Json(0)},
         {"memory_bytes", rank.memory_bytes}});
  if (steps.profiler == nullptr) return;
  record_.ops = ops_json(*steps.profiler);
  record_.profiled_steps = steps.profiler->steps();
}

void HtmlReport::step(const TrainingProgress& progress) {
  if (progress.steps == nullptr) return;
  record_.curve.add(progress.global_step, seconds_before_ + since_begin_.seconds(), *progress.steps);
  const bool is_last = progress.global_step >= progress.max_steps, writes = may_write();
  if (!writes && !is_last) return;
  note(progress);
  note_steps(*progress.steps);
  if (writes) write();
}

void HtmlReport::row(const TrainingProgress& progress, const Metrics& row) {
  const auto is_of_evaluation = [](const Metrics::Entry& entry) { return entry.first.starts_with("eval_"); };
  if (std::any_of(row.begin(), row.end(), is_of_evaluation)) {
    const io::Json json = row_json(progress, row);
    io::Json& rows = record_.evaluations;
    const bool repeats = !rows.empty() && rows.back().value("step", std::int64_t{-1}) == progress.global_step;
    if (repeats) rows.back().update(json);  // the final evaluation of a step that was evaluated already
    if (!repeats) rows.push_back(json);
    if (facts_.samples) record_.samples = samples_json(facts_.samples());
  } else if (row.contains("train_runtime") && !row.contains("loss")) {
    record_.results = row_json(progress, row);
  }
}

void HtmlReport::end(const TrainingProgress& progress, Ending ending) {
  const double seconds = record_.seconds;
  note(progress);
  record_.seconds = seconds;  // of training alone
  record_.state = name_of(ending);
  record_.seconds_left = 0;
  write();
}

bool HtmlReport::may_write() const {
  return since_write_.seconds() >= kLeastPause &&
         all_writes_ + last_write_ <= kWriteShare * since_begin_.seconds();  // the next one takes as long as the last
}

void HtmlReport::write() {
  const Timer timer;
  record_.updated = unix_seconds();
  const io::Json json = record_.to_json();
  io::renew_file(facts_.output_dir / kRecordFile, io::dump_json(json, io::kOneLine) + "\n");
  io::renew_file(facts_.output_dir / kPageFile, page_of(std::vector{json}));
  last_write_ = timer.seconds();
  all_writes_ += last_write_;
  since_write_.restart();
}

}  // namespace hearth::report
