#include <algorithm>
#include <array>

#include "hearth/base/error.h"
#include "hearth/models/families.h"

namespace hearth::models {
namespace {

struct Family {
  std::string_view model_type;
  std::unique_ptr<Pretrained> (*make)(Config, Head);
  std::vector<std::string_view> fields;  // of config.json with a default
};

const std::array<Family, 3>& families() {
  static const std::vector<std::string_view> bert_fields{"type_vocab_size",
                                                         "layer_norm_eps",
                                                         "initializer_range",
                                                         "hidden_act",
                                                         "pad_token_id",
                                                         "hidden_dropout_prob",
                                                         "attention_probs_dropout_prob",
                                                         "classifier_dropout",
                                                         "num_labels"};
  static const std::array<Family, 3> all{Family{"bert", make_bert, bert_fields},
                                         Family{"distilbert",
                                                make_distilbert,
                                                {"initializer_range", "activation", "dropout", "attention_dropout",
                                                 "qa_dropout", "seq_classif_dropout", "pad_token_id", "num_labels"}},
                                         Family{"roberta", make_roberta, bert_fields}};
  return all;
}

const Family& family_of(const Config& config) {
  const std::string type = config.model_type();
  const auto found = std::ranges::find(families(), type, &Family::model_type);
  check(found != families().end(), "{}: model_type '{}' is not supported; use bert, distilbert or roberta",
        config.file(), type);
  return *found;
}

std::unique_ptr<Pretrained> make(Config config, Head head) {
  const Family& family = family_of(config);
  // Start and end logits: transformers sizes this head by the number of labels as well.
  if (head == Head::question_answering && config.num_labels() != 2) config.forget_labels();
  std::unique_ptr<Pretrained> model = family.make(std::move(config), head);
  model->parameters().allocate();
  return model;
}

}  // namespace

std::unique_ptr<Pretrained> load_pretrained(const std::filesystem::path& folder, Head head,
                                            const LoadOptions& options) {
  Config config = Config::read(options.config_folder.empty() ? folder : options.config_folder);
  config.override_fields(options.config_overrides, family_of(config).fields);
  std::unique_ptr<Pretrained> model = make(std::move(config), head);
  model->load_weights(folder, options.seed);
  return model;
}

std::unique_ptr<Pretrained> build_model(Config config, Head head, std::uint64_t seed) {
  std::unique_ptr<Pretrained> model = make(std::move(config), head);
  model->initialise_all(seed);
  return model;
}

bool is_known_family(std::string_view model_type) {
  return std::ranges::find(families(), model_type, &Family::model_type) != families().end();
}

std::optional<Head> known_head_of(const Config& config) {
  const auto architectures = config.values().find("architectures");
  check(architectures != config.values().end() && architectures->is_array() && !architectures->empty() &&
            architectures->front().is_string(),
        "{} has no \"architectures\", so its head is unknown", config.file());
  const auto name = architectures->front().get<std::string>();
  if (name.ends_with("ForQuestionAnswering")) return Head::question_answering;
  if (name.ends_with("ForSequenceClassification")) return Head::sequence_classification;
  if (name.ends_with("ForMaskedLM")) return Head::masked_lm;
  return std::nullopt;
}

Head head_of(const Config& config) {
  const std::optional<Head> head = known_head_of(config);
  check(head.has_value(), "{}: the architecture {} is not supported", config.file(),
        io::excerpt(config.values().at("architectures").front()));
  return *head;
}

}  // namespace hearth::models
