#include "hearth/models/memory_estimate.h"

#include <cmath>

#include "hearth/bench/model_config.h"
#include "hearth/bench/train_bench.h"
#include "hearth/bench/workload.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/gemm/panel_gemm.h"
#include "hearth/models/pretrained.h"
#include "hearth/ops/vocabulary_loss.h"
#include "hearth/optim/optimizers.h"
#include "hearth/train/training_step.h"
#include "tests/support.h"

namespace hearth::bench {
namespace {

using models::estimate_memory;
using models::HeadKind;
using models::MemoryEstimate;
using models::MemoryPlan;

constexpr std::int64_t kSequence = 128;

MemoryPlan small_plan(DType dtype, std::int64_t batch = 8) {
  MemoryPlan plan;
  plan.tokens = batch * kSequence;
  plan.longest = kSequence;
  plan.dtype = dtype;
  plan.threads = 2;
  return plan;
}

std::unique_ptr<models::Pretrained> tiny(const models::Freezing& freezing = {},
                                         HeadKind head = HeadKind::question_answering) {
  return models::outline(model_config("bert-tiny"), head, freezing);
}

// The program and its libraries are a fifth of so small a model's peak. Their size differs between systems: pages of
// libraries that the system has in its cache count as resident.
constexpr double kOfTheProgram = 16 << 20;

// Peaks are those of a whole process, so each is measured in one of its own, which these end.
[[noreturn]] void exit_by_closeness(double measured, double estimated) {
  std::fprintf(stderr, "measured %.0f bytes, estimated %.0f\n", measured, estimated);
  std::exit(std::abs(estimated - measured) < 0.1 * measured + kOfTheProgram ? 0 : 1);
}

[[noreturn]] void compare_with_bench(DType dtype, HeadKind head = HeadKind::question_answering) {
  constexpr std::int64_t kBatch = 8;
  const MemoryPlan plan = small_plan(dtype, kBatch);
  cpu::set_num_threads(static_cast<int>(plan.threads));
  TrainBenchOptions options;
  options.model = "bert-tiny";
  options.batch = kBatch;
  options.seq = kSequence;
  options.dtype = dtype;
  options.head = head;
  options.steps = 1;
  options.warmup = 1;
  exit_by_closeness(static_cast<double>(bench_train(options).peak_resident_bytes),
                    estimate_memory(*tiny({}, head), plan).total());
}

// One step with more tokens, so that activations are most of it.
[[noreturn]] void compare_with_step(bool checkpointing, const optim::OptimizerOptions& optimizer = {},
                                    const models::Freezing& freezing = {},
                                    const models::Config& config = model_config("bert-tiny")) {
  constexpr std::int64_t kBatch = 24;
  MemoryPlan plan = small_plan(DType::f32, kBatch);
  plan.gradient_checkpointing = checkpointing;
  plan.moment_bytes = optim::moment_bytes_per_weight(optimizer);
  cpu::set_num_threads(static_cast<int>(plan.threads));
  const auto model = models::build_model(config, HeadKind::question_answering, 42, freezing);
  parallel::DistributedDataParallel ddp(model->parameters());
  parallel::ShardedOptimizer updates(optimizer, ddp);
  optim::LossScaler scaler(false);
  Workload workload(model->backbone_config(), kBatch, kSequence, {});
  const BatchPtr batch = shared_batch(workload.next());
  training_step(*model, ddp, updates, scaler, std::span(&batch, 1), 0, 3e-5,
                {.compute = plan.dtype, .gradient_checkpointing = checkpointing});
  exit_by_closeness(static_cast<double>(cpu::process_usage().peak_resident_bytes),
                    estimate_memory(*model, plan).total());
}

class MemoryEstimateDeathTest : public testing::Test {
 protected:
  MemoryEstimateDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer has memory of its own";
  }
};

TEST_F(MemoryEstimateDeathTest, IsWithinATenthOfWhatTheBenchmarkMeasures) {
  for (const DType dtype : {DType::f32, DType::bf16})
    EXPECT_EXIT(compare_with_bench(dtype), testing::ExitedWithCode(0), "measured");
}

TEST_F(MemoryEstimateDeathTest, IsWithinATenthForMaskedLanguageModelling) {
  for (const DType dtype : {DType::f32, DType::bf16})
    EXPECT_EXIT(compare_with_bench(dtype, HeadKind::masked_lm), testing::ExitedWithCode(0), "measured");
}

TEST_F(MemoryEstimateDeathTest, IsWithinATenthWithFrozenLayers) {
  for (const std::int64_t layers : {1, 2})
    EXPECT_EXIT(compare_with_step(false, {}, {{}, layers}), testing::ExitedWithCode(0), "measured");
}

TEST_F(MemoryEstimateDeathTest, IsWithinATenthWithGradientCheckpointing) {
  EXPECT_EXIT(compare_with_step(true), testing::ExitedWithCode(0), "measured");
}

// Narrow embeddings in both; the layers of ALBERT have weights once and activations six times.
TEST_F(MemoryEstimateDeathTest, IsWithinATenthForElectraAndAlbert) {
  for (const char* name : {"electra-small", "albert-base"}) {
    models::Config config = model_config(name);
    override_fields(config,
                    "hidden_size=128,num_attention_heads=2,intermediate_size=512,num_hidden_layers=6,"
                    "embedding_size=64");
    for (const bool checkpointing : {false, true})
      EXPECT_EXIT(compare_with_step(checkpointing, {}, {}, config), testing::ExitedWithCode(0), "measured") << name;
  }
}

TEST_F(MemoryEstimateDeathTest, IsWithinATenthWithOptimizersThatKeepLess) {
  for (const char* name : {"sgd", "lion", "adafactor", "adamw_16bit"})
    EXPECT_EXIT(compare_with_step(false, {.name = name, .args = {}}), testing::ExitedWithCode(0), "measured");
}

TEST(MemoryEstimateTest, CountsTheWeightsOfTheModel) {
  const auto model = models::build_model(model_config("bert-tiny"), HeadKind::question_answering, 42);
  const MemoryEstimate estimate = estimate_memory(*tiny(), small_plan(DType::bf16));
  EXPECT_EQ(estimate.weights, 4.0 * static_cast<double>(model->parameters().element_count()));
  const int copies = kernels::choose_gemm(DType::bf16).pack == nullptr ? 1 : 2;  // two packed layouts per weight
  EXPECT_EQ(estimate.copies, 2.0 * copies * (2 * (4 * 128 * 128 + 2 * 128 * 512) + 2 * 128));
  EXPECT_EQ(estimate_memory(*tiny(), small_plan(DType::f32)).copies, 0);
}

TEST(MemoryEstimateTest, FrozenLayersHaveWeightsAlone) {
  const auto frozen = tiny({{}, 1});
  const MemoryEstimate all = estimate_memory(*tiny(), small_plan(DType::f32));
  const MemoryEstimate some = estimate_memory(*frozen, small_plan(DType::f32));
  EXPECT_EQ(some.weights, all.weights);
  EXPECT_EQ(some.gradients, 4.0 * static_cast<double>(frozen->parameters().trainable_count()));
  EXPECT_EQ(some.optimizer, 2 * some.gradients);
  EXPECT_LT(some.activations, 0.7 * all.activations);
  const auto narrow = models::outline(
      [] {
        models::Config config = model_config("bert-tiny");
        config.override_fields("torch_dtype=bfloat16", std::vector<std::string_view>{"torch_dtype"});
        return config;
      }(),
      HeadKind::question_answering, {{}, 2});
  EXPECT_LT(estimate_memory(*narrow, small_plan(DType::f32)).weights, 0.51 * all.weights);
}

TEST(MemoryEstimateTest, KnowsTheHeads) {
  const auto activations = [](HeadKind head) {
    return estimate_memory(*tiny({}, head), small_plan(DType::f32, 32)).activations;
  };
  const double logits = 2 * 4.0 * 32 * kSequence;  // and their gradients, per label
  EXPECT_EQ(activations(HeadKind::question_answering) - activations(HeadKind::sequence_classification), 2 * logits);
  const nn::TransformerConfig encoder = tiny()->backbone_config();
  const double masked = 0.15 * 32 * kSequence;  // positions: four arrays of hidden states, and a block of logits
  const auto rows = static_cast<double>(ops::vocabulary_block_rows(encoder.vocab_size));
  EXPECT_NEAR(activations(HeadKind::masked_lm) - activations(HeadKind::sequence_classification),
              4.0 * (masked * static_cast<double>(4 * encoder.hidden) + rows * static_cast<double>(encoder.vocab_size)),
              1);
}

TEST(MemoryEstimateTest, CountsTheCopiesOfTiedWordEmbeddings) {
  const auto copies = [](HeadKind head) { return estimate_memory(*tiny({}, head), small_plan(DType::bf16)).copies; };
  const nn::TransformerConfig encoder = tiny()->backbone_config();
  EXPECT_GE(copies(HeadKind::masked_lm) - copies(HeadKind::question_answering),
            2.0 * static_cast<double>(encoder.vocab_size * encoder.hidden));
}

TEST(MemoryEstimateTest, CountsTheMasksThatAttentionKeeps) {
  const auto activations = [](const char* rate, DType dtype, bool checkpointing) {
    models::Config config = model_config("bert-tiny");
    override_fields(config, rate);
    MemoryPlan plan = small_plan(dtype);
    plan.gradient_checkpointing = checkpointing;
    return estimate_memory(*models::outline(config, HeadKind::question_answering, {}), plan).activations;
  };
  const double of_layer = 2 * 8 * kSequence * kSequence / 8.0;  // 2 heads, 8 sequences, one bit per query and key
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16})
    for (const bool checkpointing : {false, true}) {
      const bool keeps = dtype != DType::f32 && cpu::isa() == cpu::Isa::amx;
      EXPECT_EQ(activations("attention_probs_dropout_prob=0.1", dtype, checkpointing) -
                    activations("attention_probs_dropout_prob=0", dtype, checkpointing),
                keeps ? (checkpointing ? 1 : 2) * of_layer : 0);
    }
}

// From 1,024 tokens on, the inputs of matmuls with at least 1,152 outputs are copied. The copy replaces the input,
// except after attention, which keeps its output, too, and in a layer whose input gradient checkpointing keeps.
TEST(MemoryEstimateTest, CountsTheInputsThatAreCopied) {
  bool checkpointing = false;
  const auto activations = [&](bool copies, std::int64_t tokens, std::string_view sizes) {
    kernels::GemmImpl impl = kernels::choose_gemm(DType::bf16);
    impl.takes_bf16_blocks = copies;
    const kernels::ForcedGemm forced(DType::bf16, impl);
    models::Config config = model_config("bert-tiny");
    override_fields(config, sizes);
    MemoryPlan plan = small_plan(DType::bf16);
    plan.tokens = tokens;
    plan.gradient_checkpointing = checkpointing;
    return estimate_memory(*models::outline(config, HeadKind::question_answering, {}), plan).activations;
  };
  const auto copied = [&](std::int64_t tokens, std::string_view sizes) {
    return activations(true, tokens, sizes) - activations(false, tokens, sizes);
  };
  constexpr std::string_view kNarrow = "hidden_size=384,intermediate_size=1536",
                             kWide = "hidden_size=1152,intermediate_size=1536";
  constexpr double kNarrowInput = 2048 * 384 * 2, kWideInput = 2048 * 1152 * 2, kLayers = 2;
  EXPECT_EQ(copied(2048, kNarrow), 0);
  EXPECT_EQ(copied(2048, kWide), kLayers * kWideInput);
  EXPECT_EQ(copied(1023, kWide), 0);
  checkpointing = true;  // of one layer at a time
  EXPECT_EQ(copied(2048, kNarrow), kNarrowInput);
  EXPECT_EQ(copied(2048, kWide), 2 * kWideInput);
}

// With many tokens, the gradients of both weights of a feed-forward layer are computed together.
TEST(MemoryEstimateTest, CountsTheScratchOfMatmuls) {
  constexpr double kWeight = 128 * 512;
  const auto work_space = [](DType dtype, std::int64_t tokens, bool packs) {
    kernels::GemmImpl impl = kernels::choose_gemm(dtype);
    impl.packed_bytes = packs ? kernels::panel_bytes : nullptr;
    impl.pack = packs ? kernels::pack_panels : nullptr;
    const kernels::ForcedGemm forced(dtype, impl);
    MemoryPlan plan = small_plan(dtype);
    plan.tokens = tokens;
    return estimate_memory(*tiny(), plan).work_space;
  };
  for (const bool packs : {false, true})
    EXPECT_EQ(work_space(DType::bf16, 1024, packs) - work_space(DType::bf16, 1023, packs), 4 * kWeight);
  EXPECT_EQ(work_space(DType::bf16, 1024, false) - work_space(DType::bf16, 1024, true), 2 * kWeight);
  EXPECT_EQ(work_space(DType::f32, 1024, false), work_space(DType::f32, 1023, false));
}

TEST(MemoryEstimateTest, ShardingDividesTheOptimizersState) {
  MemoryPlan plan = small_plan(DType::f32);
  const MemoryEstimate whole = estimate_memory(*tiny(), plan);
  plan.shards = 4;
  const MemoryEstimate quarter = estimate_memory(*tiny(), plan);
  EXPECT_EQ(whole.optimizer, 4 * quarter.optimizer);
  EXPECT_LT(quarter.total(), whole.total());
}

TEST(MemoryEstimateTest, ActivationsGrowWithTokensAndHalveWithTheFormat) {
  const double once = estimate_memory(*tiny(), small_plan(DType::f32, 16)).activations;
  EXPECT_EQ(estimate_memory(*tiny(), small_plan(DType::f32, 32)).activations, 2 * once);
  EXPECT_NEAR(estimate_memory(*tiny(), small_plan(DType::bf16, 16)).activations, once / 2, 0.01 * once);
}

// Feed-forward layers keep two numbers per token and column with fewer than 1,024 tokens, otherwise one. The estimate
// covers all batches of up to so many tokens.
TEST(MemoryEstimateTest, CoversSmallerBatchesThatKeepMore) {
  const auto activations = [](std::int64_t tokens) {
    MemoryPlan plan = small_plan(DType::f32);
    plan.tokens = tokens;
    return estimate_memory(*tiny(), plan).activations;
  };
  constexpr double kKept = 2 * 512 * sizeof(float);  // per token, in both layers together
  const double with_few = activations(1000) / 1000, with_many = activations(3000) / 3000;
  EXPECT_NEAR(with_few - with_many, kKept, 1e-6);
  EXPECT_NEAR(activations(1023), 1023 * with_few, 1);
  for (const std::int64_t tokens : {1024, 1100}) EXPECT_EQ(activations(tokens), activations(1023)) << tokens;
  EXPECT_NEAR(activations(2000), 2000 * with_many, 1);
}

}  // namespace
}  // namespace hearth::bench
