#include "hearth/apps/run_task.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "hearth/accelerate/failure.h"
#include "hearth/apps/former_checkpoints.h"
#include "hearth/apps/hub_push.h"
#include "hearth/apps/machine.h"
#include "hearth/apps/memory_check.h"
#include "hearth/apps/model_card.h"
#include "hearth/apps/processes.h"
#include "hearth/apps/run_report.h"
#include "hearth/apps/same_task.h"
#include "hearth/base/error.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/log.h"
#include "hearth/base/stop_signals.h"
#include "hearth/base/timer.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/topology.h"
#include "hearth/hub/model.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/nn/encoder.h"
#include "hearth/ops/precision.h"
#include "hearth/report/reports.h"
#include "hearth/tasks/run_arguments.h"
#include "hearth/tasks/task.h"
#include "hearth/train/agreed_values.h"
#include "hearth/train/output_dir.h"
#include "hearth/train/program_flags.h"
#include "hearth/train/results.h"
#include "hearth/train/trainer_state.h"

namespace hearth::apps {
namespace {

// Only the first process looks into --output_dir.
std::optional<std::filesystem::path> checkpoint_for_all(const TrainingArguments& args, const parallel::Team& team) {
  std::string found;
  if (team.is_first()) found = find_resume_checkpoint(args).value_or("").string();
  found = team.broadcast(std::move(found));
  return found.empty() ? std::nullopt : std::optional<std::filesystem::path>(found);
}

hub::Access access_of(const tasks::ModelArguments& args, const parallel::Team& team) {
  return {args.cache_dir.value_or(""), args.token.value_or(""), !team.is_first_of_host()};
}

// Of the processes of a host the first one downloads what is missing.
std::filesystem::path find_model(const tasks::ModelArguments& args, const std::string& name, hub::ModelParts parts,
                                 const parallel::Team& team) {
  return team.first_of_host_first(
      [&] { return hub::find_model(name, parts, access_of(args, team), args.model_revision); });
}

// With --dataset_name: the task gets local files.
void fetch_dataset(const tasks::RunArguments& args, tasks::Task& task, const parallel::Team& team) {
  const std::optional<tasks::DatasetRequest> wanted = task.dataset(args.training);
  if (!wanted) return;
  const hub::DatasetFiles files = team.first_of_host_first(
      [&] { return hub::find_dataset(wanted->choice, wanted->splits, access_of(args.model, team)); });
  task.take_files(files, args.training);
}

models::LoadOptions load_options(const tasks::RunArguments& args, const parallel::Team& team) {
  models::LoadOptions options;
  options.seed = static_cast<std::uint64_t>(args.training.seed);
  options.config_overrides = args.model.config_overrides.value_or("");
  if (args.model.config_name)
    options.config_folder = find_model(args.model, *args.model.config_name, hub::ModelParts::config, team);
  options.ignore_mismatched_sizes = args.model.ignore_mismatched_sizes;
  options.freezing = {args.model.freeze, args.model.freeze_layers};
  return options;
}

parallel::Team::NamedValues agreed_values_of(const models::Config& config) {
  parallel::Team::NamedValues values;
  for (const auto& [key, value] : config.values().items())
    if (!key.starts_with('_'))  // _name_or_path may differ between hosts
      values.emplace_back("config.json's " + key, io::dump_json(value, io::kOneLine));
  return values;
}

void warn_of_too_many_threads(std::int64_t threads) {
  const cpu::Topology& machine = cpu::topology();
  const double processors = std::min<double>(machine.usable_processors,
                                             std::ceil(machine.processor_quota.value_or(machine.usable_processors)));
  if (static_cast<double>(threads) > processors)
    log_warning(
        "--num_threads {} is more than the {} processors of this process: threads will wait for each other; "
        "without --num_threads there is one per core",
        threads, processors);
}

// Settings that have no effect here, or a slower one than their name suggests.
void explain(const TrainingArguments& args, const parallel::Team& team) {
  const bool evaluates = args.do_eval || args.do_predict;
  const auto warn_of_emulation = [](DType type) {
    if (const auto warning = ops::emulation_warning(type)) log_warning("{}", *warning);
  };
  if (args.do_train) warn_of_emulation(args.train_dtype());
  if (evaluates && (!args.do_train || args.eval_dtype() != args.train_dtype())) warn_of_emulation(args.eval_dtype());
  warn_of_too_many_threads(args.num_threads);
  if (args.ddp_backend && team.size() == 1)
    log_info("--ddp_backend {} is not used: one process needs no backend", *args.ddp_backend);
}

// One call of a training command, in one of its processes. The constructor checks and loads everything; the first file
// is written by begin().
class TaskRun {
 public:
  TaskRun(const tasks::RunArguments& args, std::string_view command, tasks::Task& task, const parallel::Team& team,
          int processes_of_host);
  TaskRun(const TaskRun&) = delete;
  TaskRun& operator=(const TaskRun&) = delete;

  void begin() const;
  bool train();  // false: a signal stopped it
  void evaluate();
  void predict();
  void end(const Timer& since_start) const;

 private:
  TrainerOptions trainer_options();
  std::shared_ptr<report::Reports> make_reports();
  Metrics train_or_name_checkpoint();
  void save_results(Metrics train_metrics);
  void write_settings(const std::filesystem::path& folder) const;
  void print(std::string_view split, const Metrics& metrics) const;
  bool exists(const char* name) const { return std::filesystem::exists(output_dir_ / name); }
  bool has_results_of(const std::filesystem::path& checkpoint) const;

  const tasks::RunArguments& args_;
  const std::string_view command_;
  tasks::Task& task_;
  const parallel::Team& team_;
  const std::filesystem::path output_dir_;
  std::shared_ptr<HubPush> push_;  // with --push_to_hub
  std::shared_ptr<report::Reports> reports_;
  std::optional<OutputDirLock> held_;  // by the first process of a run that trains
  std::optional<std::filesystem::path> checkpoint_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::shared_ptr<models::Pretrained> model_;
  std::optional<Trainer> trainer_;
  Metrics evaluated_;
  bool trained_ = false;
};

TaskRun::TaskRun(const tasks::RunArguments& args, std::string_view command, tasks::Task& task,
                 const parallel::Team& team, int processes_of_host)
    : args_(args), command_(command), task_(task), team_(team), output_dir_(args.training.output_dir) {
  fetch_dataset(args_, task_, team_);
  task_.check_inputs(args_.training);
  if (args_.training.do_train && team_.is_first()) held_.emplace(args_.training);
  checkpoint_ = checkpoint_for_all(args_.training, team_);
  const tasks::ModelArguments& names = args_.model;
  const bool is_new = names.model_name_or_path.empty();
  const std::filesystem::path model_folder =
      is_new ? "" : find_model(names, names.model_name_or_path, hub::ModelParts::all, team_);
  const std::filesystem::path tokenizer_folder =
      names.tokenizer_name ? find_model(names, *names.tokenizer_name, hub::ModelParts::tokenizer, team_) : model_folder;
  const models::LoadOptions options = load_options(args_, team_);
  if (team_.is_first())
    check_inputs_stay(args_.training, checkpoint_, std::array{model_folder, tokenizer_folder, options.config_folder});
  tokenizer_ = tokenizer::load_tokenizer(tokenizer_folder, {.takes_words = task_.takes_words()});
  const models::Config config =
      is_new ? models::new_config(names.model_type.value_or(""), tokenizer_->vocab_size(), options)
             : models::load_config(model_folder, options);
  team_.check_agreement(agreed_values_of(config));
  if (team_.is_first()) {
    log_settings(args_.resolved, args_.training);
    explain(args_.training, team_);
  }
  const nn::TransformerConfig transformer = models::transformer_config(config);
  task_.load({args_.training, tokenizer_, tokenizer_folder, config, transformer.max_tokens(), transformer.vocab_size,
              team_, model_folder});
  model_ = models::outline(config, task_.head(), options.freezing);
  if (checkpoint_ && args_.training.do_train && team_.is_first())
    check_same_task(*checkpoint_, *model_, args_.training);
  TrainingArguments training = args_.training;
  if (const DatasetPtr data = task_.train_data(); data != nullptr && data->size() > 0)
    training.per_device_train_batch_size = check_memory(*model_, training, *data, team_, processes_of_host);
  if (is_new) {
    model_->initialise(options.seed);
  } else {
    model_->load_weights(model_folder, options.seed, options.ignore_mismatched_sizes);
  }
  if (args_.hub.push_to_hub)
    push_ = std::make_shared<HubPush>(args_.hub, args_.model.token.value_or(""), output_dir_, team_.is_first());
  reports_ = make_reports();
  trainer_.emplace(model_, std::move(training), trainer_options());
}

// In the first process of a run that trains.
std::shared_ptr<report::Reports> TaskRun::make_reports() {
  if (!args_.training.do_train || !team_.is_first()) return nullptr;
  report::RunFacts facts{.name = args_.training.run_name.value_or(args_.training.output_dir),
                         .command = std::string(command_),
                         .output_dir = output_dir_};
  facts.logging_dir = args_.training.logging_dir.value_or("");
  facts.settings = args_.resolved;
  facts.model_config = model_->config().values();
  facts.environment = describe_machine();
  facts.samples = [this] { return task_.samples(); };
  if (args_.training.log_histograms) facts.histograms = &model_->parameters();
  return report::make_reports(args_.training, std::move(facts));
}

TrainerOptions TaskRun::trainer_options() {
  TrainerOptions options;
  options.train_dataset = task_.train_data();
  options.team = team_;
  options.save_beside = [this](const std::filesystem::path& folder) {
    tokenizer_->save(folder);
    task_.save_beside(folder);
    write_settings(folder);
  };
  if (args_.training.do_eval) options.evaluate = [this](Trainer& trainer) { return task_.evaluate(trainer, 0); };
  options.loss = task_.loss();
  options.flags = args_.resolved;
  if (team_.is_first())
    if (auto former = former_checkpoints(args_.training, checkpoint_); !former.empty())
      options.callbacks.push_back(std::make_shared<FormerCheckpoints>(std::move(former)));
  if (push_) options.callbacks.push_back(push_);
  if (reports_) options.callbacks.push_back(reports_);
  options.is_watched = reports_ != nullptr && args_.training.reports_to(Tracker::html);
  options.stop_requested = [] {
    catch_stop_signals();  // before the first question there is nothing to save, and a signal ends the process
    return caught_stop_signal() != 0;
  };
  return options;
}

void TaskRun::write_settings(const std::filesystem::path& folder) const {
  io::replace_file(folder / "training_args.json", io::dump_json(to_json(args_.resolved), 2) + "\n");
}

void TaskRun::print(std::string_view split, const Metrics& metrics) const {
  if (team_.is_first()) fmt::print("{}", metrics_block(split, metrics));
}

// Results that are older than the checkpoint are those of an earlier run.
bool TaskRun::has_results_of(const std::filesystem::path& checkpoint) const {
  using std::filesystem::last_write_time;
  return exists("model.safetensors") && exists("train_results.json") &&
         last_write_time(output_dir_ / "train_results.json") >= last_write_time(checkpoint / "trainer_state.json");
}

void TaskRun::begin() const {
  if (!team_.is_first()) return;
  io::create_directories(output_dir_);
  io::check_writable(output_dir_);
  if (!exists("model.safetensors")) write_settings(output_dir_);  // else they are replaced together with the model
}

// Where resources run out, the error names the last checkpoint of this run.
Metrics TaskRun::train_or_name_checkpoint() try {
  return trainer_->train(checkpoint_);
} catch (const std::exception& error) {
  const std::filesystem::path last = trainer_->last_checkpoint();
  if (!is_resource_failure(error) || last.empty()) throw;
  throw ResourceError(fmt::format("{}; the last checkpoint is {}, and --resume_from_checkpoint continues from it",
                                  sentence_of(error), last.string()));
}

bool TaskRun::train() {
  Metrics metrics = train_or_name_checkpoint();
  if (trainer_->was_interrupted()) {
    if (team_.is_first()) log_interruption(caught_stop_signal(), args_.training, *trainer_);
    if (reports_) reports_->end(trainer_->progress(), report::Ending::interrupted);
    team_.barrier();  // launchers end all ranks when the first one ends, and some may still be saving
    return false;
  }
  // Model, settings and results of a finished run stay as they are.
  const bool has_results = trainer_->was_finished() && team_.is_first() && has_results_of(*checkpoint_);
  if (!has_results) save_results(std::move(metrics));
  release_stop_signals();  // one that came too late for a checkpoint ends the process now
  return true;
}

void TaskRun::save_results(Metrics metrics) {
  trained_ = true;
  if (trainer_->saves()) trainer_->save_model(output_dir_);
  metrics.set("train_samples", trainer_->train_size());
  print("train", metrics);
  if (!team_.is_first()) return;
  save_metrics(output_dir_, "train", metrics);
  trainer_->state().save(output_dir_);
}

void TaskRun::evaluate() {
  const std::vector<std::string> suffixes = task_.evaluation_suffixes();
  Metrics row;  // of the log, as Trainer.evaluate() of transformers has it
  for (std::size_t set = 0; set < suffixes.size(); ++set) {
    Metrics metrics = task_.evaluate(*trainer_, set);
    if (team_.is_first()) metrics.update(task_.derived_metrics(metrics));
    if (args_.training.do_train) metrics.set("epoch", trainer_->state().epoch);
    if (args_.training.include_num_input_tokens_seen)
      metrics.set("num_input_tokens_seen", trainer_->state().num_input_tokens_seen);
    row.update(metrics.with_suffix(suffixes[set]));
    metrics.set("eval_samples", task_.evaluation_size(set));
    metrics = metrics.with_suffix(suffixes[set]);
    print("eval", metrics);
    evaluated_.update(metrics);
  }
  if (reports_) reports_->add_row(trainer_->progress(), row);
  if (!team_.is_first()) return;
  save_metrics(output_dir_, "eval", evaluated_);
  fmt::print("{}", task_.report(output_dir_));
}

void TaskRun::predict() {
  const Metrics metrics = task_.predict(*trainer_);
  if (metrics.empty() || !team_.is_first()) return;
  print("predict", metrics);
  save_metrics(output_dir_, "predict", metrics);
}

void TaskRun::end(const Timer& since_start) const {
  if (reports_) reports_->end(trainer_->progress(), report::Ending::finished);
  if (team_.is_first()) {
    if (trained_) {
      const std::string remembered =
          io::get_string_or(model_->config().values(), "_name_or_path", "", model_->config().file());
      const ModelCardFacts facts{task_.card(), hub_id(args_.model.model_name_or_path, remembered), evaluated_,
                                 trainer_->state().log_history, team_.size()};
      io::replace_file(output_dir_ / "README.md", model_card(trainer_->arguments(), facts));
    }
    if (push_) push_->push_results();
    log_summary({task_.try_it(output_dir_.string()), evaluated_, since_start.seconds()}, args_.training, *trainer_);
  }
  team_.barrier();
}

int run(const tasks::TaskCommand& command, std::span<const std::string> words, const comm::World& world) {
  const Timer since_start;
  const std::unique_ptr<tasks::Task> task = command.make();
  const tasks::RunArguments args = tasks::parse_run_arguments(command, *task, words);
  if (args.help) {
    if (world.rank == 0) fmt::print("{}", *args.help);
    return 0;
  }
  if (!args.training.max_isa.empty()) cpu::set_max_isa(args.training.max_isa);
  return run_in_team(args.training, world, [&](const parallel::Team& team) {
    for (const std::string& notice : args.notices) log_info("{}", notice);
    team.check_agreement(agreed_values(args.resolved));
    TaskRun run(args, command.name, *task, team, world.local_size);
    run.begin();
    if (args.training.do_train && !run.train()) return kInterruptedStatus;
    if (args.training.do_eval) run.evaluate();
    if (args.training.do_predict) run.predict();
    run.end(since_start);
    return 0;
  });
}

}  // namespace

int run_task(const tasks::TaskCommand& command, std::span<const std::string> words) {
  const comm::World world = comm::world_from_environment();
  log_as(world);
  return run_as(world, [&] { return run(command, words, world); });
}

}  // namespace hearth::apps
