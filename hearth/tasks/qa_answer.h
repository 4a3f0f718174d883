#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/tasks/qa_postprocess.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct AnswerOptions {
  std::int64_t max_seq_length = 384, doc_stride = 128;
  QaPostprocessOptions postprocess;
};

// Answers one question about a text, best answer first.
QaPrediction answer_question(nn::Model& model, const tokenizer::Tokenizer& tokenizer, const std::string& context,
                             const std::string& question, const AnswerOptions& options);

}  // namespace hearth::tasks
