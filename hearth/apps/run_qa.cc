#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/model_card.h"
#include "hearth/apps/processes.h"
#include "hearth/base/log.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
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

void print_configuration(const tasks::RunQaArguments& args) {
  std::string section;
  for (const Arguments::Resolved& value : args.resolved) {
    if (value.section != section) fmt::print("{}\n", section = value.section);
    fmt::print("  {:<30} {}{}\n", value.name, value.text, value.is_default ? "" : "  *");
  }
  fmt::print("  (* differs from the default)\n");
  fmt::print("Machine\n  {:<30} {}\n  {:<30} {}\n  {:<30} {}\n", "processor", cpu::features().model, "instruction set",
             cpu::name_of(cpu::isa()), "threads", cpu::num_threads());
}

// The first process alone looks, before it writes anything.
std::optional<std::filesystem::path> checkpoint_for_all(const TrainingArguments& args, const parallel::Team& team) {
  std::string found;
  if (team.is_first()) found = find_resume_checkpoint(args).value_or("").string();
  found = team.broadcast(std::move(found));
  return found.empty() ? std::nullopt : std::optional<std::filesystem::path>(found);
}

parallel::Team::Facts facts_of(const models::Config& config) {
  parallel::Team::Facts facts;
  for (const auto& [key, value] : config.values().items())
    if (!key.starts_with('_'))  // where the model came from
      facts.emplace_back("config.json's " + key, io::dump_json(value, io::kOneLine));
  return facts;
}

// What was asked for and means less here than its name says.
void explain(const TrainingArguments& args, const parallel::Team& team) {
  const bool evaluates = args.do_eval || args.do_predict;
  const auto warn_of_emulation = [](DType format) {
    if (const auto warning = ops::emulation_warning(format)) log_warning("{}", *warning);
  };
  if (args.do_train) warn_of_emulation(args.train_format());
  if (evaluates && (!args.do_train || args.eval_format() != args.train_format())) warn_of_emulation(args.eval_format());
  if (args.ddp_backend && team.size() == 1)
    log_info("--ddp_backend {} is not used: one process needs no backend", *args.ddp_backend);
  if (args.label_smoothing_factor > 0)
    log_info("--label_smoothing_factor has no effect on question answering, as in the Trainer");
}

int run(std::span<const std::string> words, const comm::World& world) {
  const tasks::RunQaArguments args = tasks::parse_qa_arguments(words);
  if (args.help) {
    if (world.rank == 0) fmt::print("{}", *args.help);
    return 0;
  }
  if (!args.training.max_isa.empty()) cpu::set_max_isa(args.training.max_isa);
  const parallel::Team team = join(args.training, world);
  team.check_agreement(shared_facts(args.resolved));
  if (team.is_first()) {
    print_configuration(args);
    explain(args.training, team);
  }
  const auto checkpoint = checkpoint_for_all(args.training, team);
  if (team.is_first()) {
    io::create_directories(args.training.output_dir);
    io::check_writable(args.training.output_dir);
  }

  const std::string cache_dir = args.model.cache_dir.value_or("");
  const auto find = [&](const std::string& name) { return io::find_model(name, cache_dir, args.model.model_revision); };
  const auto model_folder = find(args.model.model_name_or_path);
  const auto tokenizer_folder = args.model.tokenizer_name ? find(*args.model.tokenizer_name) : model_folder;
  const auto tokenizer = tokenizer::load_tokenizer(tokenizer_folder);
  models::LoadOptions load;
  load.seed = static_cast<std::uint64_t>(args.training.seed);
  load.config_overrides = args.model.config_overrides.value_or("");
  if (args.model.config_name) load.config_folder = find(*args.model.config_name);
  const auto model = models::load_pretrained(model_folder, models::HeadKind::question_answering, load);

  team.check_agreement(facts_of(model->config()));

  tasks::QuestionAnswering task(args, tokenizer, tokenizer_folder,
                                {model->max_positions(), model->backbone_config().vocab_size}, team);
  const bool train = args.training.do_train;
  Dataset train_data = train ? task.train_data() : Dataset();
  tasks::QuestionAnswering::Questions evaluation, prediction;
  if (args.training.do_eval) evaluation = task.evaluation_questions();
  if (args.training.do_predict) prediction = task.prediction_questions();

  TrainerHooks hooks;
  hooks.save_beside = [&](const std::filesystem::path& folder) {
    tokenizer->save(folder);
    io::replace_file(folder / "training_args.json", io::dump_json(to_json(args.resolved), 2) + "\n");
  };
  Trainer* running = nullptr;
  if (args.training.do_eval) hooks.evaluate = [&] { return task.answer(*running, evaluation, "eval", "eval"); };
  Trainer trainer(*model, args.training, std::move(train_data), hooks, team);
  running = &trainer;
  const std::string& output_dir = args.training.output_dir;
  const auto report = [&](std::string_view split, const io::Json& metrics) {
    if (!team.is_first()) return;
    fmt::print("{}", metrics_block(split, metrics));
    save_metrics(output_dir, split, metrics);
  };
  if (train) {
    io::Json metrics = trainer.train(checkpoint);
    if (trainer.saves()) trainer.save_model(output_dir);
    metrics["train_samples"] = trainer.train_size();
    report("train", metrics);
    if (team.is_first()) trainer.state().save(output_dir);
  }
  io::Json evaluated = io::Json::object();
  if (args.training.do_eval) {
    io::Json metrics = evaluated = task.answer(trainer, evaluation, "eval", "eval");
    if (train) metrics["epoch"] = trainer.state().epoch;
    metrics["eval_samples"] = evaluation.features.size();
    report("eval", metrics);
  }
  if (args.training.do_predict) {
    io::Json metrics = task.answer(trainer, prediction, "predict", "test");
    metrics["predict_samples"] = prediction.features.size();
    report("predict", metrics);
  }
  if (train && team.is_first())
    io::replace_file(std::filesystem::path(output_dir) / "README.md", model_card(args, evaluated));
  team.barrier();
  return 0;
}

}  // namespace

int run_qa(std::span<const std::string> words) {
  const comm::World world = comm::world_from_environment();
  log_as(world);
  return run_as(world, [&] { return run(words, world); });
}

}  // namespace hearth::apps
