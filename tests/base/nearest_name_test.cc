#include "hearth/base/nearest_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace hearth {
namespace {

using Names = std::vector<std::string>;

const Names kFlags{"cache_dir",
                   "learning_rate",
                   "lr_scheduler_type",
                   "do_train",
                   "max_seq_length",
                   "per_device_train_batch_size",
                   "gradient_accumulation_steps",
                   "num_train_epochs",
                   "max_steps",
                   "evaluation_strategy",
                   "seed",
                   "dataloader_drop_last",
                   "per_device_eval_batch_size",
                   "num_threads"};

std::string nearest(std::string_view name) { return nearest_name(name, kFlags); }

TEST(NearestName, IsTheOneWithFewMistakes) {
  EXPECT_EQ(nearest("max_stepz"), "max_steps");
  EXPECT_EQ(nearest("do_trian"), "do_train");
  EXPECT_EQ(nearest("evaluation_startegy"), "evaluation_strategy");
  EXPECT_EQ(nearest("learningrate"), "learning_rate");
  EXPECT_EQ(nearest("Learning-Rate"), "learning_rate");
  EXPECT_EQ(nearest("sede"), "seed");
}

TEST(NearestName, KnowsInitials) {
  EXPECT_EQ(nearest("lr"), "learning_rate");
  EXPECT_EQ(nearest("ms"), "max_steps");
}

TEST(NearestName, HasTheWords) {
  EXPECT_EQ(nearest("epochs"), "num_train_epochs");
  EXPECT_EQ(nearest("epoch"), "num_train_epochs");
  EXPECT_EQ(nearest("batch_size"), "per_device_train_batch_size");
  EXPECT_EQ(nearest("eval_batch_size"), "per_device_eval_batch_size");
  EXPECT_EQ(nearest("grad_accum"), "gradient_accumulation_steps");
  EXPECT_EQ(nearest("max_length"), "max_seq_length");
  EXPECT_EQ(nearest("steps"), "max_steps");  // fewer other words than gradient_accumulation_steps
  EXPECT_EQ(nearest("threads"), "num_threads");
}

TEST(NearestName, IsNoneWhereNothingIsNear) {
  for (const char* far : {"", "-", "foo", "dropout", "bs", "wandb", "x", "quantization"})
    EXPECT_EQ(nearest(far), "") << far;
  EXPECT_EQ(nearest_name("anything", Names{}), "");
}

TEST(NearestName, IsGivenAsItIsKnown) {
  EXPECT_EQ(nearest_name("--lr", Names{"--seed", "--learning_rate"}), "--learning_rate");
  EXPECT_EQ(nearest_name("estimate_memory", Names{"estimate-memory"}), "estimate-memory");
}

TEST(NearestName, DidYouMean) {
  EXPECT_EQ(did_you_mean("--seed"), "; did you mean --seed?");
  EXPECT_EQ(did_you_mean(""), "");
}

}  // namespace
}  // namespace hearth
