#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/table.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"
#include "hearth/models/memory_estimate.h"
#include "hearth/optim/optimizers.h"

namespace hearth::apps {
namespace {

constexpr struct {
  const char* name;
  double models::MemoryEstimate::*bytes;
} kItems[] = {
    {"weights", &models::MemoryEstimate::weights},         {"copies", &models::MemoryEstimate::copies},
    {"gradients", &models::MemoryEstimate::gradients},     {"optimizer", &models::MemoryEstimate::optimizer},
    {"activations", &models::MemoryEstimate::activations}, {"work_space", &models::MemoryEstimate::work_space},
    {"program", &models::MemoryEstimate::program}};

struct Sizes {
  std::int64_t batch = 12, seq = 384, processes = 1;
};

io::Json to_json(const Sizes& sizes, const models::MemoryPlan& plan, const models::MemoryEstimate& estimate) {
  io::Json json{{"dtype", name_of(plan.dtype)},
                {"batch", sizes.batch},
                {"seq", sizes.seq},
                {"gradient_checkpointing", plan.gradient_checkpointing},
                {"shards", plan.shards},
                {"threads", plan.threads}};
  for (const auto& [name, bytes] : kItems)
    json[fmt::format("{}_bytes", name)] = static_cast<std::int64_t>(estimate.*bytes);
  json["total_bytes"] = static_cast<std::int64_t>(estimate.total());
  return json;
}

std::string gib(double bytes) { return fmt::format("{:.2f}", bytes / (1 << 30)); }

std::vector<std::string> to_row(const models::MemoryPlan& plan, const models::MemoryEstimate& estimate) {
  std::vector<std::string> row{std::string(name_of(plan.dtype)), plan.gradient_checkpointing ? "yes" : "no",
                               std::to_string(plan.shards)};
  for (const auto& [name, bytes] : kItems) row.push_back(gib(estimate.*bytes));
  row.push_back(gib(estimate.total()));
  return row;
}

// Every dtype with and without gradient checkpointing and, for several processes, with the optimizer state whole and
// sharded.
std::vector<models::MemoryPlan> plans(const Sizes& sizes, const std::vector<std::string>& dtypes, int moment_bytes) {
  std::vector<models::MemoryPlan> all;
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (std::ranges::find(dtypes, name_of(dtype)) == dtypes.end()) continue;
    for (const bool checkpointing : {false, true})
      for (std::int64_t shards = 1; shards <= sizes.processes; shards += std::max<std::int64_t>(1, sizes.processes - 1))
        all.push_back(
            {sizes.batch * sizes.seq, sizes.seq, dtype, checkpointing, moment_bytes, shards, cpu::num_threads()});
  }
  return all;
}

// Takes Accelerate's names of dtypes too.
std::string short_name(const std::string& format) {
  if (format == "float32" || format == "fp32") return "fp32";
  if (format == "bfloat16" || format == "bf16") return "bf16";
  if (format == "float16" || format == "fp16") return "fp16";
  fail("--dtypes: '{}' is none of fp32, bf16, fp16", format);
}

models::HeadKind head_named(std::string_view name) {
  if (name == "classification") return models::HeadKind::sequence_classification;
  if (name == "mlm") return models::HeadKind::masked_lm;
  return name == "ner" ? models::HeadKind::token_classification : models::HeadKind::question_answering;
}

}  // namespace

int estimate_memory(std::span<const std::string> words) {
  Sizes sizes;
  std::string model = "bert-base", overrides;
  optim::OptimizerOptions optimizer;
  std::string optimizer_args;
  models::Freezing freezing;
  std::string head = "qa";
  std::vector<std::string> dtypes{"fp32", "bf16", "fp16"};
  std::int64_t threads = 0;
  bool json = false;
  Arguments arguments("hearth estimate-memory",
                      "Estimates the memory that training a model needs per process, from its config.json alone.");
  arguments.positional("MODEL", &model,
                       fmt::format("model folder, model name in the Hugging Face cache, or one of {}",
                                   fmt::join(bench::built_in_models(), ", ")));
  arguments.add("config_overrides", &overrides, "fields of config.json to change: hidden_size=512,num_hidden_layers=6");
  arguments
      .add("head", &head, "question answering, classification of sequences, or of tokens, or masked language modelling")
      .choices({"qa", "classification", "ner", "mlm"});
  arguments.add("batch", &sizes.batch, "batch size per process").at_least(1);
  arguments.add("seq", &sizes.seq, "tokens per sequence").at_least(1);
  arguments.add("dtypes", &dtypes, "dtypes: fp32, bf16, fp16; also float32, bfloat16, float16");
  arguments.add("optim", &optimizer.name, "optimizer, as --optim of training").choices(optim::optimizer_names());
  arguments.add("optim_args", &optimizer_args, "its settings, as --optim_args of training");
  arguments.add("freeze", &freezing.patterns, "frozen parameters, as --freeze of training");
  arguments.add("freeze_layers", &freezing.layers, "frozen layers, as --freeze_layers of training").at_least(0);
  arguments
      .add("num_processes", &sizes.processes,
           "number of ranks that --sharded_optimizer would spread the optimizer state over")
      .at_least(1);
  arguments.add("threads", &threads, "threads per process; 0: one per core").at_least(0).at_most(cpu::kMostThreads);
  arguments.add("json", &json, "print JSON lines instead of a table");
  arguments.ignored({"library_name"}, "config.json names the architecture");
  arguments.ignored_switches({"trust_remote_code"}, "Hearth never runs code from a model folder");
  arguments.examples({"hearth estimate-memory bert-base --batch 16 --seq 384",
                      "hearth estimate-memory my_model --dtypes bf16 --num_processes 4",
                      "hearth estimate-memory bert-large --freeze_layers 12 --optim lion"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  cpu::set_num_threads(static_cast<int>(threads));
  optimizer.args = optim::parse_optimizer_args(optimizer_args);
  models::Config config = bench::model_config(model);
  override_fields(config, overrides);
  const auto outline = models::outline(std::move(config), head_named(head), freezing);
  check(sizes.seq <= outline->max_positions(), "--seq {} must be at most {}, the number of positions of {}", sizes.seq,
        outline->max_positions(), model);
  for (std::string& name : dtypes) name = short_name(name);
  std::vector<std::string> header{"dtype", "checkpointing", "shards"};
  for (const auto& [name, bytes] : kItems) header.emplace_back(name);
  header.emplace_back("total");
  bench::Table table(std::move(header));
  for (const models::MemoryPlan& plan : plans(sizes, dtypes, optim::moment_bytes_per_weight(optimizer))) {
    const models::MemoryEstimate estimate = models::estimate_memory(*outline, plan);
    if (json) fmt::print("{}\n", io::dump_json(to_json(sizes, plan, estimate), io::kOneLine));
    table.add(to_row(plan, estimate));
  }
  if (!json)
    fmt::print("{}, batch {}, {} tokens per sequence, GiB per process\n\n{}", model, sizes.batch, sizes.seq,
               table.to_string());
  return 0;
}

}  // namespace hearth::apps
