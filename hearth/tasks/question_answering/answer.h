#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/nn/model.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tasks {

struct AnswerOptions {
  std::int64_t max_seq_length = 384, doc_stride = 128;
  QaPostprocessOptions postprocess;
};

// The options that the model in `folder` was trained with, from its training_args.json; the defaults without one.
AnswerOptions trained_options(const std::filesystem::path& folder);

// Answers one question about a text.
QaPrediction answer_question(nn::Model& model, const tokenizer::Tokenizer& tokenizer, const std::string& context,
                             const std::string& question, const AnswerOptions& options);

// The predicted answer, then the others from the most probable on, at most `count`. An empty text is "no answer".
std::vector<QaCandidate> best_answers(const QaPrediction& prediction, std::size_t count);

// The keys of transformers' question-answering pipeline for the first answer (score, start, end, answer), all answers
// under n_best.
io::Json answers_json(const std::string& question, const std::vector<QaCandidate>& answers);

}  // namespace hearth::tasks
