#include "hearth/train/memory_metrics.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

#include "tests/train/toy.h"

namespace hearth {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

// Touched pages that go back to the system when freed: a block of this size is a mapping of its own.
std::vector<char> block(std::size_t mebibytes) { return std::vector<char>(mebibytes << 20, 1); }

std::set<std::string> keys(const Metrics& metrics) {
  std::set<std::string> names;
  for (const auto& [name, value] : metrics) names.insert(name);
  return names;
}

TEST(MemoryMetrics, MeasuresWhatAStageKeepsAndItsPeak) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps memory that was freed";
  MemoryMetrics metrics(true);
  Metrics results;
  std::vector<char> kept;
  {
    const MemoryStage stage(metrics, "train");
    kept = block(64);
    {
      const std::vector<char> freed = block(128);
      EXPECT_EQ(freed[freed.size() / 2], 1);
    }
    stage.add_to(results);
  }
  EXPECT_EQ(keys(results), (std::set<std::string>{"train_mem_cpu_alloc_delta", "train_mem_cpu_peaked_delta"}));
  EXPECT_NEAR(number(results, "train_mem_cpu_alloc_delta"), 64 * kMebibyte, 8 * kMebibyte);
  EXPECT_NEAR(number(results, "train_mem_cpu_peaked_delta"), 128 * kMebibyte, 8 * kMebibyte);
  EXPECT_GE(cpu::peak_resident_bytes(), static_cast<std::size_t>(192 * kMebibyte));
}

TEST(MemoryMetrics, InitIsReportedOnceWithTheFirstResults) {
  MemoryMetrics metrics(true);
  { const MemoryStage init(metrics, "init"); }
  Metrics first, second;
  MemoryStage(metrics, "eval").add_to(first);
  MemoryStage(metrics, "test").add_to(second);
  EXPECT_EQ(keys(first),
            (std::set<std::string>{"before_init_mem_cpu", "init_mem_cpu_alloc_delta", "init_mem_cpu_peaked_delta",
                                   "eval_mem_cpu_alloc_delta", "eval_mem_cpu_peaked_delta"}));
  EXPECT_EQ(keys(second), (std::set<std::string>{"test_mem_cpu_alloc_delta", "test_mem_cpu_peaked_delta"}));
}

TEST(MemoryMetrics, AStageWithinAnotherMeasuresNothing) {
  MemoryMetrics metrics(true), off(false);
  const MemoryStage train(metrics, "train");
  Metrics results;
  MemoryStage(metrics, "eval").add_to(results);
  MemoryStage(off, "eval").add_to(results);
  EXPECT_TRUE(results.empty());
}

using TrainerMemory = TrainerTest;

TEST_F(TrainerMemory, IsReportedWhereAskedFor) {
  TrainingArguments args = arguments();
  args.max_steps = 1;
  ToyModel model;
  EXPECT_FALSE(ToyTrainer(model, args, toy_dataset(24)).train().contains("train_mem_cpu_alloc_delta"));
  args.skip_memory_metrics = false;
  ToyTrainer trainer(model, args, toy_dataset(24));
  const Metrics metrics = trainer.train();
  for (const char* key : {"before_init_mem_cpu", "init_mem_cpu_alloc_delta", "init_mem_cpu_peaked_delta",
                          "train_mem_cpu_alloc_delta", "train_mem_cpu_peaked_delta"}) {
    EXPECT_TRUE(metrics.contains(key)) << key;
    EXPECT_TRUE(trainer.state().log_history.back().contains(key)) << key;
  }
  EXPECT_GT(metrics.at("before_init_mem_cpu"), 0);
}

}  // namespace
}  // namespace hearth
