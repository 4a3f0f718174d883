#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/models/embedding_head.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"

namespace hearth::models {

enum class HeadKind { question_answering, sequence_classification, token_classification, masked_lm, embedding };
std::string_view name_of(HeadKind);              // "question answering"
std::string_view architecture_suffix(HeadKind);  // "ForQuestionAnswering": Hugging Face's class is FAMILY + suffix
// The head that config.json's "architectures" names; nothing if it names another head than these.
std::optional<HeadKind> known_head_of(const Config& config);
HeadKind head_of(const Config& config);  // the same, but another head is an Error

// The head that a task needs, known once its data is.
struct HeadSpec {
  HeadSpec(HeadKind head) : kind(head) {}  // NOLINT(google-explicit-constructor): with the labels of config.json

  HeadKind kind;
  std::vector<std::string> labels = {};  // their names, by id; empty: those of config.json
  std::optional<ProblemType> problem = {};
  std::optional<std::string> finetuning_task = {};  // config.json's field of that name; empty: as it is
  EmbeddingSpec embedding = {};                     // of HeadKind::embedding
};

// The layers behind the backbone: hidden states (T, H) in, logits and, where the batch has labels, the loss out. Masked
// language modelling gives one of the two: logits (T, V) without labels; with them the loss and, in a pass without a
// tape, "predictions" (T), the most likely token at each labelled position and -1 elsewhere.
class Head {
 public:
  virtual ~Head() = default;
  // What operator() reads: the hidden states, or a row that the head makes of each sequence for itself.
  virtual Var features(ops::Context& /*ctx*/, const Var& hidden) const { return hidden; }
  virtual nn::ModelOutput operator()(ops::Context& ctx, const Batch& batch, const Var& features) const = 0;
  // Above 0: backbone and features() run over so many sequences at a time (ops/chunks.h).
  virtual std::int64_t sequences_per_chunk() const { return 0; }
};

struct Family;
// Adds the head's parameters below `root`.
std::unique_ptr<Head> make_head(const HeadSpec& spec, const Family& family, const Config& config,
                                const nn::ParameterScope& root, const nn::Encoder& backbone);

}  // namespace hearth::models
