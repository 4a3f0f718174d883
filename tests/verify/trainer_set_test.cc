// The references of tests/fixtures/trainer, made with the Trainer, run_qa.py and the tokenizers of transformers 4.57.
#include <gtest/gtest.h>

#include "tests/verify/outcome.h"

namespace hearth::verify {
namespace {

TEST(TrainerSet, Passes) {
  const Outcome outcome = run(fixture("trainer"));
  EXPECT_EQ(outcome.failures, 0) << outcome.failed_lines;
  for (const char* part :
       {"tokenizer/uncased", "tokenizer/cased", "qa/all.json sha256_of_lines", "qa/features_48_0.json",
        "qa/features_64_24.json", "qa/postprocess.json v1 predictions", "qa/postprocess.json v2 null odds",
        "data_order n 103 batch 8 seed 42 epoch 2 rank 2 of 3", "data_order n 5 batch 4 seed 1 epoch 0 rank 0 of 2"})
    EXPECT_TRUE(contains(outcome.all_lines, std::string("ok    ") + part));
}

}  // namespace
}  // namespace hearth::verify
