#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "hearth/apps/command.h"
#include "hearth/apps/processes.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/usage_error.h"
#include "hearth/bench/allreduce_bench.h"
#include "hearth/bench/gemm_bench.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/ops_bench.h"
#include "hearth/bench/tokenize_bench.h"
#include "hearth/bench/train_bench.h"
#include "hearth/comm/plugin_files.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/data/record_format.h"
#include "hearth/io/json.h"
#include "hearth/optim/optimizers.h"
#include "hearth/train/training_plan.h"

namespace hearth::apps {
namespace {

constexpr std::initializer_list<DType> kMatmulDtypes{DType::f32, DType::bf16, DType::f16};

std::vector<DType> dtypes_named(const std::vector<std::string>& names) {
  std::vector<DType> dtypes;
  for (const std::string& name : names) assign(choice(&dtypes.emplace_back(), kMatmulDtypes), {name}, "--dtype");
  return dtypes;
}

void drop_infos() {
  const LogSink before = set_log_sink({});
  set_log_sink([before](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) before(level, message);
  });
}

// The options that all benchmarks share.
struct Run {
  Arguments arguments;
  comm::World world;  // this process alone, unless the benchmark is one for several
  std::string max_isa;
  std::int64_t threads = 0;
  bool json = false;

  Run(const std::string& name, std::string summary) : arguments("hearth bench " + name, std::move(summary)) {}

  void add_model(std::string& model) {
    std::string names;
    for (const std::string& name : bench::built_in_models()) names += name + ", ";
    arguments.add("model", &model, names + "or a model folder (only its config.json is read)");
  }
  void add_batch(std::int64_t& batch, std::int64_t& seq) {
    arguments.add("batch", &batch, "sequences per batch").at_least(1);
    arguments.add("seq", &seq, "tokens per sequence").at_least(1);
  }

  void add_communication(TrainingArguments& training) {
    arguments.section("Several ranks (under `hearth launch` or mpirun; rank 0 prints)");
    arguments.add("ddp_backend", &training.ddp_backend, "communication backend; if not given, chosen by the launcher")
        .choices(comm::backend_names());
    arguments.add("ddp_timeout", &training.ddp_timeout, "seconds to wait for other ranks").at_least(1);
  }

  // False: help was printed.
  bool begin(std::span<const std::string> words) {
    arguments.section("Options");
    arguments.add("threads", &threads, "number of compute threads; 0: one per core")
        .alias("num_threads")
        .at_least(0)
        .at_most(cpu::kMostThreads);
    arguments.add("max_isa", &max_isa, "highest instruction set to use");
    arguments.add("json", &json, "print JSON lines instead of a table");
    arguments.parse(words);
    if (arguments.wants_help()) {
      if (world.rank == 0) fmt::print("{}", arguments.help());
      return false;
    }
    if (json) drop_infos();
    if (!max_isa.empty()) cpu::set_max_isa(max_isa);
    cpu::set_num_threads(static_cast<int>(threads));
    return true;
  }

  int end(const std::vector<io::Json>& lines, const std::string& text) const {
    if (world.rank > 0) return 0;
    if (!json) fmt::print("{}", text);
    if (json)
      for (const io::Json& line : lines) fmt::print("{}\n", io::dump_json(line, io::kOneLine));
    return 0;
  }
};

void stop_until_continued(const bench::TrainBenchResult& so_far) {
  const io::Json line{{"bench", "train, in turn"},
                      {"seconds", so_far.seconds},
                      {"seconds_waited", so_far.waited},
                      {"seconds_exposed", so_far.exposed}};
  fmt::print("{}\n", io::dump_json(line, io::kOneLine));
  std::fflush(stdout);
  std::raise(SIGSTOP);
}

int bench_train(std::span<const std::string> words, const comm::World& world) {
  bench::TrainBenchOptions options;
  TrainingArguments training;
  std::string head = "qa";
  bool in_turn = false;
  Run run("train",
          "Times training steps of a model with random weights and tokens. Several ranks train one model, each on its "
          "own batches; throughput is the sum over all ranks.");
  run.world = world;
  run.add_model(options.model);
  run.add_batch(options.batch, options.seq);
  run.arguments.add(
      "lengths", &options.lengths,
      "file of sequence lengths, one per line, used instead of --seq; batches are packed without padding");
  run.arguments
      .add("head", &head,
           "question answering, classification of sequences, or masked language modelling of 15 % of "
           "the tokens")
      .choices({"qa", "classification", "mlm"});
  run.arguments.add("freeze_layers", &options.freeze_layers, "freeze the embeddings and the first N layers")
      .at_least(0);
  run.arguments.add("dtype", choice(&options.dtype, kMatmulDtypes), "dtype of matmuls");
  run.arguments.add("optim", &training.optim, "optimizer, as --optim of training").choices(optim::optimizer_names());
  run.arguments.add("steps", &options.steps, "steps to time").at_least(1);
  run.arguments.add("warmup", &options.warmup, "steps to run before timing").at_least(0);
  run.arguments.add("in_turn", &in_turn,
                    "before each timed step print the times so far as a JSON line and stop until SIGCONT; for "
                    "bench/in_turn.py, which compares programs step by step");
  run.arguments.add("profile", &options.profile,
                    "folder for profile.json and trace.json: where the time of the timed steps goes");
  run.add_communication(training);
  run.arguments
      .add("ddp_bucket_cap_mb", &training.ddp_bucket_cap_mb,
           "bucket size for gradient all-reduce in MiB; 25 if not given")
      .at_least(1);
  run.arguments.add("ddp_wire_dtype", choice(&training.ddp_wire_dtype, {DType::f32, DType::bf16}),
                    "dtype in which gradients are sent");
  run.arguments.add("sharded_optimizer", &training.sharded_optimizer, "shard the optimizer state over the ranks");
  run.arguments.examples({"hearth bench train --model bert-base --dtype bf16 --batch 16 --seq 384",
                          "hearth launch --num_processes 2 bench train --model bert-base"});
  if (!run.begin(words)) return 0;
  if (head == "classification") options.head = models::HeadKind::sequence_classification;
  if (head == "mlm") options.head = models::HeadKind::masked_lm;
  if (in_turn) options.before_step = stop_until_continued;
  training.num_threads = run.threads;
  options.optim = training.optim;
  return run_in_team(training, world, [&](const parallel::Team& team) {
    options.distribution = data_parallel_options(training, team);
    const bench::TrainBenchResult result = bench::bench_train(options, team);
    return run.end({result.to_json()}, result.to_text());
  });
}

int bench_all_reduce(std::span<const std::string> words, const comm::World& world) {
  bench::AllReduceBenchOptions options;
  TrainingArguments training;
  std::vector<std::string> dtypes{"fp32"};
  Run run("allreduce", "Times collective operations between the processes of a job.");
  run.world = world;
  run.arguments.add("operations", &options.operations,
                    "operations to time: all_reduce, broadcast, all_gather, reduce_scatter");
  run.arguments.add("sizes", &options.sizes, "message sizes in bytes: 4000, 64K, 400M, 1G");
  run.arguments.add("dtype", &dtypes, "dtypes: fp32, bf16, fp16");
  run.arguments.add("rounds", &options.rounds, "timed repetitions per message").at_least(1);
  run.arguments.add("warmup", &options.warmup, "repetitions before timing").at_least(0);
  run.arguments.examples({"hearth launch --num_processes 2 bench allreduce",
                          "mpirun -n 4 hearth bench allreduce --operations all_reduce --sizes 25M --dtype fp32 bf16"});
  run.add_communication(training);
  if (!run.begin(words)) return 0;
  options.dtypes = dtypes_named(dtypes);
  training.num_threads = run.threads;
  return run_in_team(training, world, [&](const parallel::Team& team) {
    const std::string backend(team.group().backend());
    const bench::Communication by{backend, team.size() > 1 ? comm::load_plugin(backend, world).library : "one process",
                                  team.size()};
    const auto rows = bench::bench_all_reduce(team.group(), options);
    return run.end(bench::to_json(rows, by), bench::to_text(rows, by));
  });
}

// For benchmarks that several processes run together.
template <int (*benchmark)(std::span<const std::string>, const comm::World&)>
int in_world(std::span<const std::string> words) {
  const comm::World world = comm::world_from_environment();
  log_as(world);
  return run_as(world, [&] { return benchmark(words, world); });
}

int bench_gemm(std::span<const std::string> words) {
  bench::GemmBenchOptions options;
  std::vector<std::string> dtypes{"fp32", "bf16", "fp16"};
  Run run("gemm", "Times the matmuls of training with every implementation that this processor supports.");
  run.add_model(options.model);
  run.arguments.add("tokens", &options.tokens, "tokens per batch").at_least(1);
  run.arguments.add("dtype", &dtypes, "dtypes: fp32, bf16, fp16");
  run.arguments.add("rounds", &options.rounds, "timed repetitions per matmul").at_least(1);
  run.arguments.examples({"hearth bench gemm", "hearth bench gemm --model bert-large --tokens 4096 --dtype bf16"});
  if (!run.begin(words)) return 0;
  options.dtypes = dtypes_named(dtypes);
  const auto rows = bench::bench_gemm(options);
  return run.end(bench::to_json(rows), bench::to_text(rows));
}

int bench_ops(std::span<const std::string> words) {
  bench::OpsBenchOptions options;
  Run run("ops", "Times the kernels of training other than matmuls, and compares them with the limits of the machine.");
  run.add_model(options.model);
  run.add_batch(options.batch, options.seq);
  run.arguments.add("dtype", choice(&options.dtype, kMatmulDtypes), "dtype of matmuls");
  run.arguments.add("rounds", &options.rounds, "timed repetitions per kernel").at_least(1);
  run.arguments.examples({"hearth bench ops", "hearth bench ops --dtype bf16 --batch 8 --seq 128"});
  if (!run.begin(words)) return 0;
  const auto rows = bench::bench_ops(options);
  return run.end(bench::to_json(rows, options.dtype), bench::to_text(rows, options.dtype));
}

int bench_tokenize(std::span<const std::string> words) {
  bench::TokenizeBenchOptions options;
  Run run("tokenize", "Times the tokenizer and, for question files, the preparation of features.");
  run.arguments.add("file", &options.file, "text file, or question file as for run_qa (" + data::record_endings() + ")")
      .required();
  run.arguments.add("model", &options.model, "folder of the tokenizer");
  run.arguments.add("vocab", &options.vocab, "vocab.txt, instead of --model");
  run.arguments.add("rounds", &options.rounds, "repetitions; the fastest counts").at_least(1);
  run.arguments.examples({"hearth bench tokenize --file train.json --model my_model",
                          "hearth bench tokenize --file train.json --model bert-base-uncased --json"});
  if (!run.begin(words)) return 0;
  const auto rows = bench::bench_tokenize(options);
  return run.end(bench::to_json(rows), bench::to_text(rows));
}

constexpr std::string_view kBenchmark = "benchmark";
const Command kBenchmarks[] = {
    {kBenchmark, "train", "seconds per training step, efficiency relative to matmul speed, memory",
     in_world<bench_train>},
    {kBenchmark, "gemm", "matmuls of training", bench_gemm},
    {kBenchmark, "ops", "other kernels of training", bench_ops},
    {kBenchmark, "tokenize", "the tokenizer", bench_tokenize},
    {kBenchmark, "allreduce", "collective operations between processes", in_world<bench_all_reduce>},
};

}  // namespace

std::span<const Command> benchmarks() { return kBenchmarks; }

int bench(std::span<const std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print("usage: hearth bench BENCHMARK [arguments]\n\nbenchmarks:\n");
    for (const Command& benchmark : kBenchmarks) fmt::print("  {:<16} {}\n", benchmark.name, benchmark.summary);
    fmt::print("\n'hearth bench BENCHMARK --help' lists the arguments of a benchmark, with examples.\n");
    return words.empty() ? 2 : 0;
  }
  const auto found = std::ranges::find(kBenchmarks, words[0], &Command::name);
  if (found == std::end(kBenchmarks))
    throw UsageError(fmt::format("'{}' is not a benchmark: give train, gemm, ops, tokenize or allreduce", words[0]));
  return found->run(words.subspan(1));
}

}  // namespace hearth::apps
