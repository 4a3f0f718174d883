#include <fmt/format.h>

#include <cstdlib>

#include "hearth/apps/command.h"
#include "hearth/apps/model_card.h"
#include "hearth/base/environment.h"
#include "hearth/base/error.h"
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

void check_one_process() {
  for (const char* name : {"WORLD_SIZE", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"}) {
    const std::string value = environment(name);
    check(std::strtol(value.c_str(), nullptr, 10) <= 1,
          "this version trains in one process; {} is {}: start it without mpirun or torchrun, it uses all cores", name,
          value);
  }
}

// What was asked for and means less here than its name says.
void explain(const TrainingArguments& args) {
  const bool evaluates = args.do_eval || args.do_predict;
  const auto warn_of_emulation = [](DType format) {
    if (const auto warning = ops::emulation_warning(format)) log_warning("{}", *warning);
  };
  if (args.do_train) warn_of_emulation(args.train_format());
  if (evaluates && (!args.do_train || args.eval_format() != args.train_format())) warn_of_emulation(args.eval_format());
  if (args.ddp_backend) log_info("--ddp_backend {} is not used: one process needs no backend", *args.ddp_backend);
  if (args.label_smoothing_factor > 0)
    log_info("--label_smoothing_factor has no effect on question answering, as in the Trainer");
}

void report(const std::string& folder, std::string_view split, const io::Json& metrics) {
  fmt::print("{}", metrics_block(split, metrics));
  save_metrics(folder, split, metrics);
}

}  // namespace

int run_qa(std::span<const std::string> words) {
  const tasks::RunQaArguments args = tasks::parse_qa_arguments(words);
  if (args.help) {
    fmt::print("{}", *args.help);
    return 0;
  }
  check_one_process();
  if (!args.training.max_isa.empty()) cpu::set_max_isa(args.training.max_isa);
  cpu::set_num_threads(static_cast<int>(args.training.num_threads));
  print_configuration(args);
  explain(args.training);
  const auto checkpoint = find_resume_checkpoint(args.training);
  io::create_directories(args.training.output_dir);

  const std::string cache_dir = args.model.cache_dir.value_or("");
  const auto find = [&](const std::string& name) { return io::find_model(name, cache_dir, args.model.model_revision); };
  const auto model_folder = find(args.model.model_name_or_path);
  const auto tokenizer_folder = args.model.tokenizer_name ? find(*args.model.tokenizer_name) : model_folder;
  const auto tokenizer = tokenizer::load_tokenizer(tokenizer_folder);
  models::LoadOptions load;
  load.seed = static_cast<std::uint64_t>(args.training.seed);
  load.config_overrides = args.model.config_overrides.value_or("");
  if (args.model.config_name) load.config_folder = find(*args.model.config_name);
  const auto model = models::load_pretrained(model_folder, models::Head::question_answering, load);

  tasks::QuestionAnswering task(args, tokenizer, tokenizer_folder, model->max_positions());
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
  Trainer trainer(*model, args.training, std::move(train_data), hooks);
  running = &trainer;
  const std::string& output_dir = args.training.output_dir;
  if (train) {
    io::Json metrics = trainer.train(checkpoint);
    trainer.save_model(output_dir);
    metrics["train_samples"] = trainer.train_size();
    report(output_dir, "train", metrics);
    trainer.state().save(output_dir);
  }
  io::Json evaluated = io::Json::object();
  if (args.training.do_eval) {
    io::Json metrics = evaluated = task.answer(trainer, evaluation, "eval", "eval");
    if (train) metrics["epoch"] = trainer.state().epoch;
    metrics["eval_samples"] = evaluation.features.size();
    report(output_dir, "eval", metrics);
  }
  if (args.training.do_predict) {
    io::Json metrics = task.answer(trainer, prediction, "predict", "test");
    metrics["predict_samples"] = prediction.features.size();
    report(output_dir, "predict", metrics);
  }
  if (train) io::replace_file(std::filesystem::path(output_dir) / "README.md", model_card(args, evaluated));
  return 0;
}

}  // namespace hearth::apps
