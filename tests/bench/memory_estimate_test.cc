#include "hearth/bench/memory_estimate.h"

#include <cmath>

#include "hearth/bench/model_config.h"
#include "hearth/bench/train_bench.h"
#include "hearth/bench/workload.h"
#include "hearth/cpu/parallel.h"
#include "hearth/cpu/system.h"
#include "hearth/models/pretrained.h"
#include "hearth/train/training_step.h"
#include "tests/support.h"

namespace hearth::bench {
namespace {

MemoryPlan small_plan(DType dtype) {
  MemoryPlan plan;
  plan.batch = 8;
  plan.seq = 128;
  plan.dtype = dtype;
  plan.threads = 2;
  return plan;
}

nn::TransformerConfig tiny() { return transformer_config(model_config("bert-tiny")); }

// The program and its libraries are a fifth of so small a model's peak, and of another size on another system.
constexpr double kOfTheProgram = 8 << 20;

// Peaks are those of a whole process, so each is measured in one of its own, which these end.
[[noreturn]] void exit_by_closeness(double measured, double estimated) {
  std::fprintf(stderr, "measured %.0f bytes, estimated %.0f\n", measured, estimated);
  std::exit(std::abs(estimated - measured) < 0.1 * measured + kOfTheProgram ? 0 : 1);
}

[[noreturn]] void compare_with_bench(const MemoryPlan& plan) {
  cpu::set_num_threads(static_cast<int>(plan.threads));
  TrainBenchOptions options;
  options.model = "bert-tiny";
  options.batch = plan.batch;
  options.seq = plan.seq;
  options.dtype = plan.dtype;
  options.steps = 1;
  options.warmup = 1;
  exit_by_closeness(static_cast<double>(bench_train(options).peak_resident_bytes),
                    estimate_memory(tiny(), plan).total());
}

// With more tokens, so that activations are most of it.
[[noreturn]] void compare_with_checkpointed_steps() {
  MemoryPlan plan = small_plan(DType::f32);
  plan.batch = 24;
  plan.gradient_checkpointing = true;
  cpu::set_num_threads(static_cast<int>(plan.threads));
  const auto model = models::build_model(model_config("bert-tiny"), models::HeadKind::question_answering, 42);
  parallel::DataParallel ddp(model->parameters(), {});
  optim::LossScaler scaler(false);
  Workload workload(model->backbone_config(), plan.batch, plan.seq, {});
  const BatchPtr batch = shared_batch(workload.next());
  training_step(*model, ddp, scaler, std::span(&batch, 1), 0, 3e-5,
                {.compute = plan.dtype, .gradient_checkpointing = true});
  exit_by_closeness(static_cast<double>(cpu::process_usage().peak_resident_bytes),
                    estimate_memory(tiny(), plan).total());
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
    EXPECT_EXIT(compare_with_bench(small_plan(dtype)), testing::ExitedWithCode(0), "measured");
}

TEST_F(MemoryEstimateDeathTest, IsWithinATenthWithGradientCheckpointing) {
  EXPECT_EXIT(compare_with_checkpointed_steps(), testing::ExitedWithCode(0), "measured");
}

TEST(MemoryEstimateTest, CountsTheWeightsOfTheModel) {
  const auto model = models::build_model(model_config("bert-tiny"), models::HeadKind::question_answering, 42);
  const MemoryEstimate estimate = estimate_memory(tiny(), small_plan(DType::bf16));
  EXPECT_EQ(estimate.weights, 4.0 * static_cast<double>(model->parameters().element_count()));
  EXPECT_EQ(estimate.copies, 2.0 * (2 * (4 * 128 * 128 + 2 * 128 * 512) + 2 * 128));
  EXPECT_EQ(estimate_memory(tiny(), small_plan(DType::f32)).copies, 0);
}

TEST(MemoryEstimateTest, ShardingDividesTheOptimizersState) {
  MemoryPlan plan = small_plan(DType::f32);
  const MemoryEstimate whole = estimate_memory(tiny(), plan);
  plan.shards = 4;
  const MemoryEstimate quarter = estimate_memory(tiny(), plan);
  EXPECT_EQ(whole.optimizer, 4 * quarter.optimizer);
  EXPECT_LT(quarter.total(), whole.total());
}

TEST(MemoryEstimateTest, ActivationsGrowWithTokensAndHalveWithTheFormat) {
  MemoryPlan plan = small_plan(DType::f32);
  const double once = estimate_memory(tiny(), plan).activations;
  plan.batch *= 2;
  EXPECT_EQ(estimate_memory(tiny(), plan).activations, 2 * once);
  EXPECT_NEAR(estimate_memory(tiny(), small_plan(DType::bf16)).activations, once / 2, 0.01 * once);
}

}  // namespace
}  // namespace hearth::bench
