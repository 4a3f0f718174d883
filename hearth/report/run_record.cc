#include "hearth/report/run_record.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/io/checkpoint_folders.h"
#include "hearth/report/reporter.h"
#include "hearth/train/trainer_state.h"

namespace hearth::report {
namespace {

constexpr std::int64_t kMostSteps = 1'000'000'000'000'000;

const io::Json& array_of_objects(const io::Json& json, const char* key, const std::string& file) {
  const auto is_object = [](const io::Json& item) { return item.is_object(); };
  check(json.contains(key) && json[key].is_array() && std::ranges::all_of(json[key], is_object),
        "{}: \"{}\" must be an array of objects", file, key);
  return json[key];
}

const io::Json& object(const io::Json& json, const char* key, const std::string& file) {
  check(json.contains(key) && json[key].is_object(), "{}: \"{}\" must be an object", file, key);
  return json[key];
}

bool has_step(const io::Json& row) { return row.contains("step") && row["step"].is_number_integer(); }

bool is_evaluation(const io::Json& row) {
  return has_step(row) &&
         std::ranges::any_of(row.items(), [](const auto& item) { return item.key().starts_with("eval_"); });
}

// The curve of a run that has its log rows alone, such as one of transformers.
void take_rows(RunRecord& record, const io::Json& rows) {
  const auto number = [](const io::Json& row, const char* key) {
    return row.contains(key) && row[key].is_number() ? row[key].get<double>() : std::nan("");
  };
  StepFacts facts;
  for (const io::Json& row : rows) {
    if (is_evaluation(row)) record.evaluations.push_back(row);
    if (row.contains("train_runtime") && !row.contains("loss")) {
      record.results = row;
      record.seconds = number(row, "train_runtime");
    }
    if (!row.contains("loss") || !has_step(row)) continue;
    facts.loss = number(row, "loss");
    facts.grad_norm = number(row, "grad_norm");
    facts.learning_rate = number(row, "learning_rate");
    record.curve.add(row["step"].get<std::int64_t>(), std::nan(""), facts);
  }
}

void take_settings(RunRecord& record, const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  const io::Json settings = io::read_json(file);
  for (const auto& [name, value] : settings.items())
    record.settings.push_back({{"section", "Settings"}, {"name", name}, {"value", value}, {"is_default", true}});
}

RunRecord without_report(const std::filesystem::path& folder) {
  std::filesystem::path place = folder;
  if (!std::filesystem::exists(place / "trainer_state.json")) place = io::last_checkpoint(folder).value_or(folder);
  check(std::filesystem::exists(place / "trainer_state.json"),
        "{} has neither {} nor trainer_state.json: name the --output_dir of a run", folder.string(), kRecordFile);
  const TrainerState state = TrainerState::load(place);
  RunRecord record;
  record.name = record.folder = folder.string();
  record.state = state.global_step >= state.max_steps ? "finished" : "interrupted";
  record.step = state.global_step;
  record.max_steps = state.max_steps;
  record.epoch = state.epoch;
  record.epochs = state.num_train_epochs;
  record.best_metric = state.best_metric;
  take_rows(record, state.log_history);
  take_settings(record, place / "training_args.json");
  return record;
}

}  // namespace

io::Json RunRecord::to_json() const {
  io::Json json;
  json["name"] = name;
  json["command"] = command;
  json["folder"] = folder;
  json["host"] = host;
  json["version"] = version;
  json["pid"] = pid;
  json["state"] = state;
  json["started"] = started;
  json["updated"] = updated;
  json["seconds"] = finite_json(seconds);
  json["seconds_left"] = finite_json(seconds_left);
  json["resumed_at"] = resumed_at;
  json["step"] = step;
  json["max_steps"] = max_steps;
  json["epoch"] = epoch;
  json["epochs"] = epochs;
  json["best_metric"] = best_metric ? finite_json(*best_metric) : io::Json();
  json["curve"] = curve.to_json();
  json["evaluations"] = evaluations;
  json["results"] = results;
  json["samples"] = samples;
  json["ops"] = ops;
  json["profiled_steps"] = profiled_steps;
  json["ranks"] = ranks;
  json["settings"] = settings;
  json["model_config"] = model_config;
  json["environment"] = environment;
  return json;
}

RunRecord RunRecord::from_json(const io::Json& json, const std::string& file) {
  check(json.is_object(), "{} must hold a JSON object", file);
  const auto text = [&](const char* key) { return io::get_string(json, key, file); };
  RunRecord record;
  record.name = text("name");
  record.command = text("command");
  record.folder = text("folder");
  record.host = text("host");
  record.version = text("version");
  record.state = text("state");
  record.pid = io::get_int(json, "pid", file);
  record.started = io::get_double(json, "started", file);
  record.updated = io::get_double(json, "updated", file);
  record.seconds = io::get_double_or(json, "seconds", 0, file);
  record.seconds_left = io::get_double_or(json, "seconds_left", 0, file);
  record.step = io::get_int_within(json, "step", 0, kMostSteps, file);
  record.max_steps = io::get_int_within(json, "max_steps", 0, kMostSteps, file);
  record.epochs = io::get_int_within(json, "epochs", 0, kMostSteps, file);
  record.epoch = io::get_double(json, "epoch", file);
  if (json.contains("best_metric") && !json["best_metric"].is_null())
    record.best_metric = io::get_double(json, "best_metric", file);
  check(json.contains("resumed_at") && json["resumed_at"].is_array(), "{}: \"resumed_at\" must be an array", file);
  for (const io::Json& at : json["resumed_at"]) {
    check(at.is_number_integer(), "{}: \"resumed_at\" must hold whole numbers, not {}", file, io::excerpt(at));
    record.resumed_at.push_back(at.get<std::int64_t>());
  }
  record.curve = StepCurve::from_json(object(json, "curve", file), file);
  record.evaluations = array_of_objects(json, "evaluations", file);
  check(std::ranges::all_of(record.evaluations, has_step), "{}: every row of \"evaluations\" must have a step", file);
  record.results = object(json, "results", file);
  record.samples = array_of_objects(json, "samples", file);
  record.ops = array_of_objects(json, "ops", file);
  record.profiled_steps = io::get_int_within(json, "profiled_steps", 0, kMostSteps, file);
  record.ranks = array_of_objects(json, "ranks", file);
  record.settings = array_of_objects(json, "settings", file);
  record.model_config = object(json, "model_config", file);
  record.environment = object(json, "environment", file);
  return record;
}

RunRecord RunRecord::load(const std::filesystem::path& folder) {
  check(std::filesystem::is_directory(folder), "{} is not a folder: name the --output_dir of a run", folder.string());
  const std::filesystem::path file = folder / kRecordFile;
  if (!std::filesystem::exists(file)) return without_report(folder);
  return from_json(io::read_json(file), file.string());
}

}  // namespace hearth::report
