#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/models/config.h"
#include "hearth/nn/encoder.h"
#include "hearth/nn/model.h"

namespace hearth::models {

enum class Head { question_answering, sequence_classification, masked_lm };
std::string_view name_of(Head);

// The base of all model families: an encoder whose parameter names have a prefix, a head, and weights that are loaded
// from and saved to a folder.
class Pretrained : public nn::Model {
 public:
  Pretrained(Config config, std::string prefix, std::string architecture)
      : config_(std::move(config)), prefix_(std::move(prefix)), architecture_(std::move(architecture)) {}

  // Loads every parameter from the folder's weights: f32, f16 or bf16, names with or without the prefix, old gamma/beta
  // names included. Missing parameters of the head are initialised, with a log line; any other missing parameter, or
  // one of the wrong shape, is an Error.
  void load_weights(const std::filesystem::path& folder, std::uint64_t seed);
  void initialise_all(std::uint64_t seed);

  nn::ModelOutput forward(ops::Context& ctx, const Batch& batch) final;
  std::int64_t max_positions() const override;
  double training_flops(const Batch& batch) const override { return encoder().training_flops(batch); }
  void set_gradient_checkpointing(bool on) override { encoder().gradient_checkpointing = on; }
  void set_label_smoothing(float factor) override { label_smoothing_ = factor; }
  void save_pretrained(const std::filesystem::path& folder) const override;

  const Config& config() const { return config_; }
  const std::string& architecture() const { return architecture_; }
  virtual nn::Encoder& encoder() = 0;
  virtual const nn::Encoder& encoder() const = 0;

 protected:
  // From the encoder's last hidden states (T, H) to logits and, if the batch has labels, the loss.
  virtual nn::ModelOutput head(ops::Context& ctx, const Batch& batch, const Var& hidden) = 0;

  Config config_;
  float label_smoothing_ = 0;

 private:
  bool belongs_to_head(std::string_view name) const;

  std::string prefix_, architecture_;
};

// Builds a model of the folder's family with the given head and loads its weights.
struct LoadOptions {
  std::uint64_t seed = 42;                   // for parameters that are initialised
  std::string config_overrides = {};         // "field=value,..."
  std::filesystem::path config_folder = {};  // where config.json is, if not beside the weights
};
std::unique_ptr<Pretrained> load_pretrained(const std::filesystem::path& folder, Head head,
                                            const LoadOptions& options = {});
// The same with every weight initialised.
std::unique_ptr<Pretrained> build_model(Config config, Head head, std::uint64_t seed);
// The head that config.json's "architectures" names; nothing if it names another head than these.
std::optional<Head> known_head_of(const Config& config);
Head head_of(const Config& config);  // the same, but another head is an Error
bool is_known_family(std::string_view model_type);

}  // namespace hearth::models
