#include "hearth/bench/train_bench.h"

#include <array>
#include <cstdio>

#include "hearth/bench/gemm_ceiling.h"
#include "hearth/comm/thread_world.h"
#include "hearth/io/json.h"
#include "tests/bench/small_model.h"
#include "tests/paths.h"

namespace hearth::bench {
namespace {

TrainBenchOptions one_step(const std::filesystem::path& model) {
  TrainBenchOptions options;
  options.model = model.string();
  options.batch = 2;
  options.seq = 20;
  options.steps = 1;
  options.warmup = 1;
  return options;
}

TEST_F(SmallModel, ReportsWhatMachinesRead) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    TrainBenchOptions options = one_step(folder_);
    options.dtype = type;
    const io::Json json = bench_train(options).to_json();
    for (const char* key : {"seconds_per_step", "seconds_per_step_median", "seconds_per_step_min",
                            "seconds_per_step_max", "tokens_per_second", "sequences_per_second", "model_gflops",
                            "gemm_ceiling_gflops", "share_of_ceiling", "peak_rss_bytes"})
      EXPECT_GT(json.at(key).get<double>(), 0) << key;
    for (const char* key : {"allocations_per_step", "page_faults_per_step", "skipped_steps"})
      EXPECT_GE(json.at(key).get<double>(), 0) << key;
    EXPECT_EQ(json.at("model"), folder_.string());
    EXPECT_EQ(json.at("dtype"), name_of(type));
    EXPECT_EQ(json.at("optim"), "adamw_torch");
    EXPECT_EQ(json.at("batch"), 2);
    EXPECT_EQ(json.at("seq"), 20);
    EXPECT_EQ(json.at("steps"), 1);
    EXPECT_EQ(json.at("tokens_per_step"), 40);
    EXPECT_TRUE(json.contains("threads") && json.contains("isa"));
  }
}

TEST_F(SmallModel, TrainsWithTheOptimizerAskedFor) {
  TrainBenchOptions options = one_step(folder_);
  options.optim = "adamw_16bit";
  const TrainBenchResult result = bench_train(options);
  EXPECT_EQ(result.to_json().at("optim"), "adamw_16bit");
  EXPECT_TRUE(contains(result.to_text(), "bf16, adamw_16bit, "));
  options.optim = "adamw_8bit";
  EXPECT_TRUE(contains(error_of([&] { bench_train(options); }), "the optimizer 'adamw_8bit' is not known"));
}

TEST_F(SmallModel, RealLengthsCountTheirTokensAlone) {
  TrainBenchOptions options = one_step(folder_);
  options.lengths = write("lengths.txt", "20\n20\n5\n9\n6\n8\n");
  options.steps = 2;
  const TrainBenchResult result = bench_train(options);
  EXPECT_EQ(result.seconds.size(), 2u);
  EXPECT_EQ(result.tokens, 5 + 9 + 6 + 8);  // the first two are the warm-up's
  // 6 a weight and token, 12 x hidden a pair of query and key, of 2 layers.
  const double weights = 4 * 32 * 32 + 2 * 32 * 64, pairs = 5 * 5 + 9 * 9 + 6 * 6 + 8 * 8;
  EXPECT_EQ(result.flops, 2 * (6 * weights * 28 + 12 * 32 * pairs));
  EXPECT_TRUE(contains(result.to_text(), "nothing padded"));
}

TEST_F(SmallModel, ProfilesTheTimedSteps) {
  TrainBenchOptions options = one_step(folder_);
  options.steps = 2;
  options.profile = (folder_ / "profile").string();
  bench_train(options);
  const io::Json profile = io::read_json(folder_ / "profile" / "profile.json");
  EXPECT_EQ(profile.at("steps"), 2);
  for (const io::Json& op : profile.at("ops"))
    if (op.at("op") == "attention backward") {
      EXPECT_EQ(op.at("calls"), 2 * 2);
    }
}

TEST_F(SmallModel, RanksCountTogether) {
  TrainBenchOptions options = one_step(folder_);
  options.lengths = write("lengths.txt", "20\n20\n20\n20\n5\n9\n6\n8\n");
  for (const bool sharded : {false, true}) {
    options.distribution.partition.sharded = sharded;
    TrainBenchResult results[2];
    comm::run_threads(2, [&](comm::ProcessGroup& group) {
      const parallel::Team team(std::shared_ptr<comm::ProcessGroup>(&group, [](auto*) {}), group.rank());
      results[group.rank()] = bench_train(options, team);
    });
    const io::Json json = results[0].to_json();
    EXPECT_EQ(json.at("ranks"), 2);
    EXPECT_EQ(json.at("backend"), "threads");
    EXPECT_EQ(json.at("sharded_optimizer"), sharded);
    EXPECT_EQ(json.at("tokens_per_step"), 5 + 9 + 6 + 8);  // the first four are the warm-up's
    const double waited = json.at("seconds_waited_per_step"), exposed = json.at("seconds_exposed_per_step");
    EXPECT_GT(exposed, 0);
    EXPECT_LE(exposed, waited);
    EXPECT_GT(json.at("bytes_sent_per_step").get<double>(), 0);
    EXPECT_GT(json.at("peak_rss_bytes_of_all_ranks").get<double>(), 1.5 * json.at("peak_rss_bytes").get<double>());
    EXPECT_EQ(results[0].flops, results[1].flops);
    EXPECT_EQ(results[0].seconds, results[1].seconds);  // until the last was done
    EXPECT_EQ(results[0].waited, results[1].waited);
    EXPECT_TRUE(contains(results[0].to_text(), "2 over threads"));
  }
}

TEST_F(SmallModel, RefusesSequencesThatTheModelCannotRead) {
  TrainBenchOptions options = one_step(folder_);
  options.seq = 41;
  EXPECT_TRUE(contains(error_of([&] { bench_train(options); }), "--seq 41 is longer than"));
  options.seq = 20;
  options.lengths = write("lengths.txt", "21\n");
  EXPECT_TRUE(contains(error_of([&] { bench_train(options); }), "longer than --seq 20"));
}

TEST(GemmCeilingTest, ProductsAreThoseOfTheModelsOperationCount) {
  nn::TransformerConfig config;
  config.hidden = 32;
  config.intermediate = 96;
  double flops = 0;
  for (const Product& product : training_products(config, 10, DType::bf16)) flops += product.flops();
  EXPECT_EQ(flops, 6.0 * 10 * (4 * 32 * 32 + 2 * 32 * 96));
  GemmCeiling ceiling(config, DType::f32);
  EXPECT_GT(ceiling.measure(10).gflops(), 0);
  EXPECT_GT(ceiling.measure(7).gflops(), 0);
  EXPECT_FALSE(ceiling.impl_names().empty());
  EXPECT_FALSE(contains(ceiling.impl_names(), "reference"));
}

std::pair<int, std::string> run_program(const std::string& words) {
  std::FILE* pipe = popen((std::string(kProgram) + " bench " + words + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer;
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  return {pclose(pipe), output};
}

TEST_F(SmallModel, TheProgramPrintsOneJsonLineOrATable) {
  const std::string words =
      "train --batch 1 --seq 8 --steps 1 --warmup 0 --threads 1 --dtype fp32 --model " + folder_.string();
  const auto [status, line] = run_program(words + " --json");
  ASSERT_EQ(status, 0) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const io::Json json = io::parse_json(line, "the output");
  EXPECT_EQ(json.at("threads"), 1);
  EXPECT_EQ(json.at("dtype"), "fp32");
  EXPECT_TRUE(contains(run_program(words).second, "share of the ceiling"));
  EXPECT_TRUE(contains(run_program("train --dtype int8").second, "int8"));
  EXPECT_TRUE(contains(run_program("allreduce --sizes 1K --rounds 1").second, "all_reduce"));
  EXPECT_TRUE(contains(run_program("trian").second, "'trian' is not a benchmark"));
}

}  // namespace
}  // namespace hearth::bench
