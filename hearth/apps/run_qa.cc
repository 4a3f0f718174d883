#include <fmt/format.h>

#include <cmath>

#include "hearth/apps/command.h"
#include "hearth/apps/model_card.h"
#include "hearth/apps/processes.h"
#include "hearth/apps/run_report.h"
#include "hearth/base/log.h"
#include "hearth/base/shell_word.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/topology.h"
#include "hearth/io/file.h"
#include "hearth/io/hub_cache.h"
#include "hearth/models/pretrained.h"
#include "hearth/ops/precision.h"
#include "hearth/tasks/qa_arguments.h"
#include "hearth/tasks/question_answering.h"
#include "hearth/train/output_dir.h"
#include "hearth/train/results.h"
#include "hearth/train/shared_facts.h"

namespace hearth::apps {
namespace {

void check_data_files(const tasks::RunQaArguments& args) {
  if (args.training.do_train) io::check_readable(*args.data.train_file);
  if (args.training.do_eval) io::check_readable(*args.data.validation_file);
  if (args.training.do_predict) io::check_readable(*args.data.test_file);
}

// Only the first process looks into --output_dir.
std::optional<std::filesystem::path> checkpoint_for_all(const TrainingArguments& args, const parallel::Team& team) {
  std::string found;
  if (team.is_first()) found = find_resume_checkpoint(args).value_or("").string();
  found = team.broadcast(std::move(found));
  return found.empty() ? std::nullopt : std::optional<std::filesystem::path>(found);
}

std::filesystem::path find_model(const tasks::ModelArguments& args, const std::string& name) {
  return io::find_model(name, args.cache_dir.value_or(""), args.model_revision);
}

std::unique_ptr<models::Pretrained> load_model(const tasks::RunQaArguments& args) {
  models::LoadOptions options;
  options.seed = static_cast<std::uint64_t>(args.training.seed);
  options.config_overrides = args.model.config_overrides.value_or("");
  if (args.model.config_name) options.config_folder = find_model(args.model, *args.model.config_name);
  return models::load_pretrained(find_model(args.model, args.model.model_name_or_path),
                                 models::HeadKind::question_answering, options);
}

parallel::Team::Facts facts_of(const models::Config& config) {
  parallel::Team::Facts facts;
  for (const auto& [key, value] : config.values().items())
    if (!key.starts_with('_'))  // _name_or_path may differ between hosts
      facts.emplace_back("config.json's " + key, io::dump_json(value, io::kOneLine));
  return facts;
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
  const auto warn_of_emulation = [](DType format) {
    if (const auto warning = ops::emulation_warning(format)) log_warning("{}", *warning);
  };
  if (args.do_train) warn_of_emulation(args.train_format());
  if (evaluates && (!args.do_train || args.eval_format() != args.train_format())) warn_of_emulation(args.eval_format());
  warn_of_too_many_threads(args.num_threads);
  if (args.ddp_backend && team.size() == 1)
    log_info("--ddp_backend {} is not used: one process needs no backend", *args.ddp_backend);
  if (args.label_smoothing_factor > 0)
    log_info("--label_smoothing_factor has no effect on question answering, as in the Trainer");
}

// One call of `hearth run_qa`, in one of its processes. The constructor checks and loads everything; the first file is
// written by begin().
class QaRun {
 public:
  QaRun(const tasks::RunQaArguments& args, const parallel::Team& team);
  QaRun(const QaRun&) = delete;
  QaRun& operator=(const QaRun&) = delete;

  void begin() const;
  void train();
  void evaluate();
  void predict();
  void end(const Timer& since_start) const;

 private:
  TrainerHooks hooks();
  void write_settings(const std::filesystem::path& folder) const;
  void report(std::string_view split, const io::Json& metrics) const;
  bool exists(const char* name) const { return std::filesystem::exists(output_dir_ / name); }
  bool has_results_of(const std::filesystem::path& checkpoint) const;

  const tasks::RunQaArguments& args_;
  const parallel::Team& team_;
  const std::filesystem::path output_dir_;
  std::optional<std::filesystem::path> checkpoint_;
  std::filesystem::path tokenizer_folder_;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::unique_ptr<models::Pretrained> model_;
  std::optional<tasks::QuestionAnswering> task_;
  tasks::QuestionAnswering::Questions evaluation_, prediction_;
  std::optional<Trainer> trainer_;
  io::Json evaluated_ = io::Json::object();
  bool trained_ = false;
};

QaRun::QaRun(const tasks::RunQaArguments& args, const parallel::Team& team)
    : args_(args), team_(team), output_dir_(args.training.output_dir) {
  check_data_files(args_);
  checkpoint_ = checkpoint_for_all(args_.training, team_);
  tokenizer_folder_ = find_model(args_.model, args_.model.tokenizer_name.value_or(args_.model.model_name_or_path));
  tokenizer_ = tokenizer::load_tokenizer(tokenizer_folder_);
  model_ = load_model(args_);
  team_.check_agreement(facts_of(model_->config()));
  if (team_.is_first()) {
    log_settings(args_.resolved, args_.training);
    explain(args_.training, team_);
  }
  const tasks::ModelLimits limits{model_->max_positions(), model_->backbone_config().vocab_size};
  task_.emplace(args_, tokenizer_, tokenizer_folder_, limits, team_);
  Dataset train_data = args_.training.do_train ? task_->train_data() : Dataset();
  if (args_.training.do_eval) evaluation_ = task_->evaluation_questions();
  if (args_.training.do_predict) prediction_ = task_->prediction_questions();
  trainer_.emplace(*model_, args_.training, std::move(train_data), hooks(), team_);
}

TrainerHooks QaRun::hooks() {
  TrainerHooks hooks;
  hooks.save_beside = [this](const std::filesystem::path& folder) {
    tokenizer_->save(folder);
    write_settings(folder);
  };
  if (args_.training.do_eval) hooks.evaluate = [this] { return task_->answer(*trainer_, evaluation_, "eval", "eval"); };
  return hooks;
}

void QaRun::write_settings(const std::filesystem::path& folder) const {
  io::replace_file(folder / "training_args.json", io::dump_json(to_json(args_.resolved), 2) + "\n");
}

void QaRun::report(std::string_view split, const io::Json& metrics) const {
  if (!team_.is_first()) return;
  fmt::print("{}", metrics_block(split, metrics));
  save_metrics(output_dir_, split, metrics);
}

// Results that are older than the checkpoint are those of an earlier run.
bool QaRun::has_results_of(const std::filesystem::path& checkpoint) const {
  using std::filesystem::last_write_time;
  return exists("model.safetensors") && exists("train_results.json") &&
         last_write_time(output_dir_ / "train_results.json") >= last_write_time(checkpoint / "trainer_state.json");
}

void QaRun::begin() const {
  if (!team_.is_first()) return;
  io::create_directories(output_dir_);
  io::check_writable(output_dir_);
  if (!exists("model.safetensors")) write_settings(output_dir_);  // else they are replaced together with the model
}

void QaRun::train() {
  io::Json metrics = trainer_->train(checkpoint_);
  if (trainer_->was_finished() && has_results_of(*checkpoint_)) return;  // model, settings and results stay as they are
  trained_ = true;
  if (trainer_->saves()) trainer_->save_model(output_dir_);
  metrics["train_samples"] = trainer_->train_size();
  report("train", metrics);
  if (team_.is_first()) trainer_->state().save(output_dir_);
}

void QaRun::evaluate() {
  io::Json metrics = evaluated_ = task_->answer(*trainer_, evaluation_, "eval", "eval");
  if (args_.training.do_train) metrics["epoch"] = trainer_->state().epoch;
  if (args_.training.include_num_input_tokens_seen)
    metrics["num_input_tokens_seen"] = trainer_->state().num_input_tokens_seen;
  metrics["eval_samples"] = evaluation_.features.size();
  report("eval", metrics);
}

void QaRun::predict() {
  io::Json metrics = task_->answer(*trainer_, prediction_, "predict", "test");
  metrics["predict_samples"] = prediction_.features.size();
  report("predict", metrics);
}

void QaRun::end(const Timer& since_start) const {
  if (team_.is_first()) {
    if (trained_) {
      const std::string remembered =
          io::get_string_or(model_->config().values(), "_name_or_path", "", model_->config().file());
      const ModelCardFacts facts{hub_id(args_.model.model_name_or_path, remembered), evaluated_,
                                 trainer_->state().log_history, team_.size()};
      io::replace_file(output_dir_ / "README.md", model_card(args_, facts));
    }
    const std::string try_it = fmt::format("hearth ask --model {} --context_text \"...\" --question \"...\"",
                                           shell_word(output_dir_.string()));
    log_summary({try_it, evaluated_, since_start.seconds()}, args_.training, *trainer_);
  }
  team_.barrier();
}

int run(std::span<const std::string> words, const comm::World& world) {
  const Timer since_start;
  const tasks::RunQaArguments args = tasks::parse_qa_arguments(words);
  if (args.help) {
    if (world.rank == 0) fmt::print("{}", *args.help);
    return 0;
  }
  if (!args.training.max_isa.empty()) cpu::set_max_isa(args.training.max_isa);
  return run_in_team(args.training, world, [&](const parallel::Team& team) {
    for (const std::string& notice : args.notices) log_info("{}", notice);
    team.check_agreement(shared_facts(args.resolved));
    QaRun run(args, team);
    run.begin();
    if (args.training.do_train) run.train();
    if (args.training.do_eval) run.evaluate();
    if (args.training.do_predict) run.predict();
    run.end(since_start);
    return 0;
  });
}

}  // namespace

int run_qa(std::span<const std::string> words) {
  const comm::World world = comm::world_from_environment();
  log_as(world);
  return run_as(world, [&] { return run(words, world); });
}

}  // namespace hearth::apps
