#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/models/freezing.h"
#include "hearth/models/head.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"

namespace hearth::models {

// A backbone of some family with a head; its weights come from and go to a Hugging Face folder.
class Pretrained final : public nn::Model {
 public:
  // Takes no memory for weights: load_weights does, once they are known to fit, or initialise.
  Pretrained(Config config, const HeadSpec& head, const Freezing& freezing = {});

  // Loads every parameter from the folder's weights: f32, f16 or bf16, names with or without the prefix, old gamma/beta
  // names included. Missing parameters of the head are initialised, with a log line; any other missing parameter, or
  // one of the wrong shape, is an Error. `ignores_shapes`: a head of another shape is initialised, too, as
  // ignore_mismatched_sizes of transformers does it.
  void load_weights(const std::filesystem::path& folder, std::uint64_t seed, bool ignores_shapes = false);
  using nn::Model::load_weights;  // of a folder that lacks nothing

  nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override;
  Var hidden_states(ops::Context& ctx, const BatchPtr& batch);  // of the last layer, (T, H); the head does not run
  double training_flops(const Batch& batch) const override { return backbone_.training_flops(batch); }

  const Config& config() const { return config_; }
  const nn::TransformerConfig& backbone_config() const { return backbone_.config(); }
  std::int64_t max_positions() const { return backbone_.config().max_tokens(); }
  std::int64_t layers_in_backward() const { return backbone_.layers_in_backward(); }
  HeadKind head() const { return head_kind_; }
  std::int64_t logits_per_token() const;  // kept in training: 0 if the head has logits per sequence, or none
  std::int64_t tokens_at_once(const Batch& batch) const;  // of a training pass: those of its largest chunk
  // Whether matmuls read it: all matrices but embeddings, and those of words if masked language modelling ties them.
  bool multiplies(const Parameter& parameter) const;
  const std::string& architecture() const { return architecture_; }  // "BertForQuestionAnswering"
  const std::string& prefix() const { return prefix_; }  // "bert.": of the backbone's parameters; empty: embeddings

 private:
  std::string config_json() const override;
  bool is_bare() const { return head_kind_ == HeadKind::embedding; }  // parameters have no prefix, as in BertModel

  Config config_;
  HeadKind head_kind_;
  std::string prefix_, architecture_;
  nn::Encoder backbone_;
  std::unique_ptr<Head> head_;
};

// Builds a model of the folder's family with the given head and loads its weights.
struct LoadOptions {
  std::uint64_t seed = 42;                   // for parameters that are initialised
  std::string config_overrides = {};         // "field=value,..."
  std::filesystem::path config_folder = {};  // where config.json is, if not beside the weights
  bool ignore_mismatched_sizes = false;
  Freezing freezing = {};
};
// A model without memory for its weights, which load_weights() or initialise() allocates.
std::unique_ptr<Pretrained> outline(Config config, const HeadSpec& head, const Freezing& freezing = {});
// The folder's config.json with the overrides.
Config load_config(const std::filesystem::path& folder, const LoadOptions& options = {});
// The config of a new model: that of options.config_folder or, without one, the defaults of the model type, with the
// overrides. Its vocabulary grows to `tokens`, if it is smaller, as run_mlm.py does it.
Config new_config(std::string_view model_type, std::int64_t tokens, const LoadOptions& options = {});
std::unique_ptr<Pretrained> load_pretrained(const std::filesystem::path& folder, const HeadSpec& head,
                                            const LoadOptions& options = {});
// The same with every weight initialised.
std::unique_ptr<Pretrained> build_model(Config config, const HeadSpec& head, std::uint64_t seed,
                                        const Freezing& freezing = {});

}  // namespace hearth::models
