#include <fmt/format.h>

#include <algorithm>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/error.h"
#include "hearth/bench/gemm_bench.h"
#include "hearth/bench/model_config.h"
#include "hearth/bench/ops_bench.h"
#include "hearth/bench/tokenize_bench.h"
#include "hearth/bench/train_bench.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"

namespace hearth::apps {
namespace {

const std::vector<std::string> kFormats{"fp32", "bf16", "fp16"};

DType format_named(const std::string& name) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16})
    if (name_of(type) == name) return type;
  fail("--dtype {} is not a format to compute with; choose fp32, bf16 or fp16", name);
}

// What all benchmarks have in common.
struct Run {
  Arguments arguments;
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

  // False: help was printed.
  bool begin(std::span<const std::string> words) {
    arguments.add("threads", &threads, "threads to compute with; 0: one a core")
        .alias("num_threads")
        .at_least(0)
        .at_most(4096);
    arguments.add("max_isa", &max_isa, "cap of the instruction set");
    arguments.add("json", &json, "for machines: JSON lines instead of a table");
    arguments.parse(words);
    if (arguments.wants_help()) {
      fmt::print("{}", arguments.help());
      return false;
    }
    if (!max_isa.empty()) cpu::set_max_isa(max_isa);
    cpu::set_num_threads(static_cast<int>(threads));
    return true;
  }

  int end(const std::vector<io::Json>& lines, const std::string& text) const {
    if (!json) fmt::print("{}", text);
    if (json)
      for (const io::Json& line : lines) fmt::print("{}\n", io::dump_json(line, io::kOneLine));
    return 0;
  }
};

int bench_train(std::span<const std::string> words) {
  bench::TrainBenchOptions options;
  std::string dtype(name_of(options.dtype));
  Run run("train", "Times training steps of question answering on random weights and tokens.");
  run.add_model(options.model);
  run.add_batch(options.batch, options.seq);
  run.arguments.add(
      "lengths", &options.lengths,
      "file with the lengths of real sequences, one a line, taken in groups of a batch; nothing is padded");
  run.arguments.add("dtype", &dtype, "number format").choices(kFormats);
  run.arguments.add("steps", &options.steps, "steps to time").at_least(1);
  run.arguments.add("warmup", &options.warmup, "steps before them").at_least(0);
  if (!run.begin(words)) return 0;
  options.dtype = format_named(dtype);
  const bench::TrainBenchResult result = bench::bench_train(options);
  return run.end({result.to_json()}, result.to_text());
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
  options.dtypes.clear();
  for (const std::string& name : dtypes) options.dtypes.push_back(format_named(name));
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
  run.arguments.add("file", &options.file, "text, or questions as run_qa reads them (.json, .jsonl, .csv)").required();
  run.arguments.add("model", &options.model, "folder with a tokenizer");
  run.arguments.add("vocab", &options.vocab, "a vocab.txt, instead of --model");
  run.arguments.add("rounds", &options.rounds, "how often; the fastest counts").at_least(1);
  if (!run.begin(words)) return 0;
  const auto rows = bench::bench_tokenize(options);
  return run.end(bench::to_json(rows), bench::to_text(rows));
}

constexpr Command kBenchmarks[] = {
    {"train", "seconds a training step, its share of what the matrix product reaches, memory", bench_train},
    {"gemm", "the matrix products of training", bench_gemm},
    {"ops", "the other kernels of training", bench_ops},
    {"tokenize", "the tokenizer", bench_tokenize},
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
