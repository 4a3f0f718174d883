#include "hearth/models/head.h"

#include <array>
#include <string>

#include "hearth/base/check.h"

namespace hearth::models {
namespace {

struct Row {
  HeadKind kind;
  std::string_view name, suffix;
};
constexpr std::array kRows{
    Row{HeadKind::question_answering, "question answering", "ForQuestionAnswering"},
    Row{HeadKind::sequence_classification, "sequence classification", "ForSequenceClassification"},
    Row{HeadKind::token_classification, "token classification", "ForTokenClassification"},
    Row{HeadKind::masked_lm, "masked language modelling", "ForMaskedLM"},
    Row{HeadKind::embedding, "embeddings", "Model"},
};

const Row& row_of(HeadKind kind) {
  for (const Row& row : kRows)
    if (row.kind == kind) return row;
  fail("[models] unknown head {}", static_cast<int>(kind));
}

}  // namespace

std::string_view name_of(HeadKind kind) { return row_of(kind).name; }
std::string_view architecture_suffix(HeadKind kind) { return row_of(kind).suffix; }

std::optional<HeadKind> known_head_of(const Config& config) {
  const auto architectures = config.values().find("architectures");
  check(architectures != config.values().end() && architectures->is_array() && !architectures->empty() &&
            architectures->front().is_string(),
        "{} has no \"architectures\", so its head is unknown", config.file());
  const auto name = architectures->front().get<std::string>();
  for (const Row& row : kRows)
    if (name.ends_with(row.suffix)) return row.kind;
  return std::nullopt;
}

HeadKind head_of(const Config& config) {
  const std::optional<HeadKind> head = known_head_of(config);
  check(head.has_value(), "{}: the architecture {} is not supported", config.file(),
        io::excerpt(config.values().at("architectures").front()));
  return *head;
}

}  // namespace hearth::models
