#pragma once

#include <string>
#include <vector>

#include "hearth/metrics/sample_prediction.h"
#include "hearth/tasks/token_classification/features.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

// Some sentences with the words that are tagged, wrong and right. The tags are those of the tokens that have a label.
std::vector<SamplePrediction> tag_samples(const TokenFeatures& features,
                                          const std::vector<std::vector<std::string>>& expected,
                                          const std::vector<std::vector<std::string>>& predicted,
                                          const tokenizer::Tokenizer& tokenizer);

}  // namespace hearth::tasks
