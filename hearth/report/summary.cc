#include "hearth/report/summary.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "hearth/comm/world.h"
#include "hearth/report/reporter.h"
#include "hearth/train/results.h"

namespace hearth::report {
namespace {

constexpr double kSilence = 600;  // seconds without news

bool is_alive(std::int64_t pid) { return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM; }

io::Json scores_in(const io::Json& row) {
  io::Json scores = io::Json::object();
  for (const auto& [name, value] : row.items())
    if (is_score(name)) scores[name] = value;
  return scores;
}

// The mean of a column over the last tenth of its points: what the run does now, without the noise of one step.
io::Json recent(const RunRecord& run, double CurvePoint::*column) {
  const std::vector<CurvePoint>& points = run.curve.points();
  const std::size_t count = std::max<std::size_t>(1, points.size() / 10);
  double sum = 0;
  if (points.empty()) return nullptr;
  for (std::size_t i = points.size() - count; i < points.size(); ++i) sum += points[i].*column;
  return finite_json(sum / static_cast<double>(count));
}

io::Json positive(const io::Json& number) {
  return number.is_number() && number.get<double>() > 0 ? number : io::Json();
}

}  // namespace

std::string state_now(const RunRecord& run) {
  if (run.state != "training") return run.state;
  if (run.host == comm::host_name()) return is_alive(run.pid) ? "training" : "killed";
  return unix_seconds() - run.updated > kSilence ? "silent" : "training";
}

std::vector<std::string> score_names(std::span<const RunRecord> runs) {
  std::vector<std::string> names;
  for (const RunRecord& run : runs)
    for (const io::Json& row : run.evaluations)
      for (const auto& [name, value] : row.items())
        if (is_score(name) && value.is_number() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  return names;
}

io::Json best_of(const RunRecord& run, const std::string& score) {
  const bool least = score.ends_with("loss");
  io::Json best;
  for (const io::Json& row : run.evaluations) {
    if (!row.contains(score) || !row[score].is_number()) continue;
    const double value = row[score].get<double>();
    if (best.is_null() || (least ? value < best.get<double>() : value > best.get<double>())) best = row[score];
  }
  return best;
}

io::Json summary_of(const RunRecord& run) {
  io::Json json;
  json["name"] = run.name;
  json["command"] = run.command;
  json["folder"] = run.folder;
  json["host"] = run.host;
  json["pid"] = run.pid;
  json["state"] = state_now(run);
  json["step"] = run.step;
  json["max_steps"] = run.max_steps;
  json["epoch"] = run.epoch;
  json["epochs"] = run.epochs;
  json["seconds"] = finite_json(run.seconds);
  json["seconds_left"] = run.state == "training" ? finite_json(run.seconds_left) : io::Json(0);
  json["seconds_since_update"] = run.updated > 0 ? io::Json(unix_seconds() - run.updated) : io::Json();
  json["loss"] = recent(run, &CurvePoint::loss);
  json["learning_rate"] =
      run.curve.points().empty() ? io::Json() : finite_json(run.curve.points().back().learning_rate);
  json["grad_norm"] = recent(run, &CurvePoint::grad_norm);
  json["tokens_per_second"] = positive(recent(run, &CurvePoint::tokens_per_second));
  json["limit_share"] = positive(recent(run, &CurvePoint::limit_share));
  json["memory_bytes"] = positive(recent(run, &CurvePoint::memory_bytes));
  json["ranks"] = run.ranks;
  json["best"] = io::Json::object();
  for (const std::string& score : score_names(std::span(&run, 1))) json["best"][score] = best_of(run, score);
  json["last"] = run.evaluations.empty() ? io::Json::object() : scores_in(run.evaluations.back());
  json["last_evaluation_step"] =
      run.evaluations.empty() ? io::Json() : run.evaluations.back().value("step", io::Json());
  return json;
}

io::Json differing_settings(std::span<const RunRecord> runs) {
  io::Json settings = io::Json::object();
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (const io::Json& setting : runs[run].settings) {
      if (!setting.contains("name") || !setting["name"].is_string() || !setting.contains("value")) continue;
      io::Json& values = settings[setting["name"].get<std::string>()];
      if (values.is_null()) values = io::Json(std::vector<io::Json>(runs.size()));
      values[run] = setting["value"];
    }
  io::Json differing = io::Json::object();
  for (const auto& [name, values] : settings.items()) {
    const auto differs = [&first = values.front()](const io::Json& value) { return value != first; };
    const bool is_place = name == "output_dir" || name == "run_name";
    if (!is_place && std::ranges::any_of(values, differs)) differing[name] = values;
  }
  return differing;
}

std::string number_text(const io::Json& number) {
  if (!number.is_number()) return "";
  return number.is_number_integer() ? number.dump() : fmt::format("{:.4g}", number.get<double>());
}

std::string bytes_text(double bytes) {
  const double mebibytes = bytes / (1 << 20);
  return mebibytes < 1024 ? fmt::format("{:.0f} MiB", mebibytes) : fmt::format("{:.2f} GiB", mebibytes / 1024);
}

std::string time_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace hearth::report
