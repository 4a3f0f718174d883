#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "hearth/apps/command.h"
#include "hearth/apps/processes.h"
#include "hearth/base/arguments.h"
#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/bench/allreduce_bench.h"
#include "hearth/bench/gemm_bench.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/ops_bench.h"
#include "hearth/bench/tokenize_bench.h"
#include "hearth/bench/train_bench.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/data/record_format.h"
#include "hearth/io/json.h"
#include "hearth/train/training_plan.h"

namespace hearth::apps {
namespace {

const std::vector<std::string> kFormats{"fp32", "bf16", "fp16"};

DType format_named(const std::string& name) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    if (name_of(type) == name) return type;
  fail("--dtype {} is not a format to compute with; choose fp32, bf16 or fp16", name);
}

std::vector<DType> formats_named(const std::vector<std::string>& names) {
  std::vector<DType> formats;
  for (const std::string& name : names) formats.push_back(format_named(name));
  return formats;
}

void drop_infos() {
  const LogSink before = set_log_sink({});
  set_log_sink([before](LogLevel level, std::string_view message) {
    if (level == LogLevel::warning) before(level, message);
  });
}

// What all benchmarks have in common.
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
    arguments.add("model", &model, names + "or a model folder, of which only the config.json is read");
  }
  void add_batch(std::int64_t& batch, std::int64_t& seq) {
    arguments.add("batch", &batch, "sequences of a batch").at_least(1);
    arguments.add("seq", &seq, "tokens of a sequence").at_least(1);
  }

  void add_communication(TrainingArguments& training) {
    arguments.section("Under a launcher: one process a rank, of which the first prints");
    arguments.add("ddp_backend", &training.ddp_backend, "gloo, mpi or ccl; chosen by the launcher otherwise");
    arguments.add("ddp_timeout", &training.ddp_timeout, "seconds to wait for other ranks").at_least(1);
  }

  // False: help was printed.
  bool begin(std::span<const std::string> words) {
    arguments.add("threads", &threads, "threads to compute with; 0: one a core")
        .alias("num_threads")
        .at_least(0)
        .at_most(cpu::kMostThreads);
    arguments.add("max_isa", &max_isa, "cap of the instruction set");
    arguments.add("json", &json, "for machines: JSON lines instead of a table");
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
  std::string dtype(name_of(options.dtype));
  bool in_turn = false;
  Run run(
      "train",
      "Times training steps of question answering on random weights and tokens. Several ranks train one model, each "
      "on batches of its own; figures are then of all of them together.");
  run.world = world;
  run.add_model(options.model);
  run.add_batch(options.batch, options.seq);
  run.arguments.add(
      "lengths", &options.lengths,
      "file with the lengths of real sequences, one a line, taken in groups of a batch; nothing is padded");
  run.arguments.add("dtype", &dtype, "number format").choices(kFormats);
  run.arguments.add("steps", &options.steps, "steps to time").at_least(1);
  run.arguments.add("warmup", &options.warmup, "steps before them").at_least(0);
  run.arguments.add("in_turn", &in_turn,
                    "before each timed step print the seconds of those before as a line of JSON, and stop until "
                    "continued (SIGSTOP, SIGCONT): for bench/in_turn.py, which compares programs step by step");
  run.add_communication(training);
  run.arguments.add("ddp_bucket_cap_mb", &training.ddp_bucket_cap_mb, "MiB of gradients sent at once; 25 otherwise")
      .at_least(1);
  run.arguments.add("ddp_wire_dtype", &training.ddp_wire_dtype, "what gradients are sent in").choices({"fp32", "bf16"});
  run.arguments.add("sharded_optimizer", &training.sharded_optimizer,
                    "each rank keeps the optimizer's state of a part of the weights");
  if (!run.begin(words)) return 0;
  options.dtype = format_named(dtype);
  options.distribution = data_parallel_options(training);
  if (in_turn) options.before_step = stop_until_continued;
  training.num_threads = run.threads;
  const bench::TrainBenchResult result = bench::bench_train(options, join(training, world));
  return run.end({result.to_json()}, result.to_text());
}

int bench_all_reduce(std::span<const std::string> words, const comm::World& world) {
  bench::AllReduceBenchOptions options;
  TrainingArguments training;
  std::vector<std::string> dtypes{"fp32"};
  Run run("allreduce", "Times messages between the processes of a job.");
  run.world = world;
  run.arguments.add("operations", &options.operations, "all_reduce, broadcast, all_gather, reduce_scatter");
  run.arguments.add("sizes", &options.sizes, "bytes of the whole buffer: 4000, 64K, 400M, 1G");
  run.arguments.add("dtype", &dtypes, "number formats: fp32, bf16, fp16");
  run.arguments.add("rounds", &options.rounds, "how often each message is timed").at_least(1);
  run.arguments.add("warmup", &options.warmup, "times before that").at_least(0);
  run.add_communication(training);
  if (!run.begin(words)) return 0;
  options.dtypes = formats_named(dtypes);
  training.num_threads = run.threads;
  const parallel::Team team = join(training, world);
  const std::string backend(team.group().backend());
  const bench::Communication by{
      backend, team.size() > 1 ? comm::load_plugin(backend, world.launcher).library : "one process", team.size()};
  const auto rows = bench::bench_all_reduce(team.group(), options);
  return run.end(bench::to_json(rows, by), bench::to_text(rows, by));
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
  std::vector<std::string> dtypes = kFormats;
  Run run("gemm", "Times the matrix products of training, by every implementation that this processor can run.");
  run.add_model(options.model);
  run.arguments.add("tokens", &options.tokens, "tokens of a batch").at_least(1);
  run.arguments.add("dtype", &dtypes, "number formats: fp32, bf16, fp16");
  run.arguments.add("rounds", &options.rounds, "how often each product is timed, in turn").at_least(1);
  if (!run.begin(words)) return 0;
  options.dtypes = formats_named(dtypes);
  const auto rows = bench::bench_gemm(options);
  return run.end(bench::to_json(rows), bench::to_text(rows));
}

int bench_ops(std::span<const std::string> words) {
  bench::OpsBenchOptions options;
  std::string dtype(name_of(options.dtype));
  Run run("ops", "Times the kernels of training beside the matrix products, against what the machine could do.");
  run.add_model(options.model);
  run.add_batch(options.batch, options.seq);
  run.arguments.add("dtype", &dtype, "number format").choices(kFormats);
  run.arguments.add("rounds", &options.rounds, "how often each kernel is timed, in turn").at_least(1);
  if (!run.begin(words)) return 0;
  options.dtype = format_named(dtype);
  const auto rows = bench::bench_ops(options);
  return run.end(bench::to_json(rows, options.dtype), bench::to_text(rows, options.dtype));
}

int bench_tokenize(std::span<const std::string> words) {
  bench::TokenizeBenchOptions options;
  Run run("tokenize", "Times the tokenizer, and the making of features where the file holds questions.");
  run.arguments.add("file", &options.file, "text, or questions as run_qa reads them (" + data::record_endings() + ")")
      .required();
  run.arguments.add("model", &options.model, "folder with a tokenizer");
  run.arguments.add("vocab", &options.vocab, "a vocab.txt, instead of --model");
  run.arguments.add("rounds", &options.rounds, "how often; the fastest counts").at_least(1);
  if (!run.begin(words)) return 0;
  const auto rows = bench::bench_tokenize(options);
  return run.end(bench::to_json(rows), bench::to_text(rows));
}

constexpr Command kBenchmarks[] = {
    {"train", "seconds a training step, its share of what the matrix product reaches, memory", in_world<bench_train>},
    {"gemm", "the matrix products of training", bench_gemm},
    {"ops", "the other kernels of training", bench_ops},
    {"tokenize", "the tokenizer", bench_tokenize},
    {"allreduce", "messages between the processes of a job", in_world<bench_all_reduce>},
};

}  // namespace

int bench(std::span<const std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    fmt::print("usage: hearth bench BENCHMARK [arguments]\n\nbenchmarks:\n");
    for (const Command& benchmark : kBenchmarks) fmt::print("  {:<16} {}\n", benchmark.name, benchmark.summary);
    return words.empty() ? 2 : 0;
  }
  const auto found = std::ranges::find(kBenchmarks, words[0], &Command::name);
  check(found != std::end(kBenchmarks), "'{}' is not a benchmark; 'hearth bench --help' lists them", words[0]);
  return found->run(words.subspan(1));
}

}  // namespace hearth::apps
