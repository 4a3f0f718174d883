#pragma once

#include <filesystem>
#include <string>

#include "hearth/base/api.h"
#include "hearth/nn/model_output.h"
#include "hearth/nn/parameter_scope.h"
#include "hearth/ops/context.h"
#include "hearth/tensor/batch.h"

namespace hearth::nn {

// The interface between the trainer and a model. A model of one's own derives from it, has layers as members, which it
// constructs below root() in the order in which forward uses them, and implements forward:
//
//   class Tagger final : public nn::Model {
//    public:
//     Tagger() : words_(root() / "words", 30000, 64), output_(root() / "output", 64, 9) {}
//     nn::ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) override {
//       ctx.begin(batch);
//       const Var words = words_(ctx, batch->input_ids);
//       return nn::classified(ctx, *batch, output_.logits(ctx, words));
//     }
//
//    private:
//     nn::Embedding words_;
//     nn::Linear output_;
//   };
class HEARTH_API Model {
 public:
  virtual ~Model() = default;

  // Begins with ctx.begin(batch).
  virtual ModelOutput forward(ops::Context& ctx, const BatchPtr& batch) = 0;

  // FLOPs of a forward and backward pass: 6 per token and weight outside embeddings; 4 where the weight is frozen, and
  // 2 where no trainable parameter comes before it. Attention and rows that are not tokens are not counted.
  virtual double training_flops(const Batch& batch) const;
  // Writes model.safetensors and, unless config_json() is empty, config.json: a folder for load_weights().
  virtual void save_pretrained(const std::filesystem::path& folder) const;

  // The parameters get memory, if they have none yet, and their initial values, which depend on (seed, name) alone.
  void initialise(std::uint64_t seed);
  // The same with the weights of a folder. An Error lists the parameters that the folder lacks or has in other shapes.
  void load_weights(const std::filesystem::path& folder);

  ParameterStore& parameters() { return builder_.parameters; }
  const ParameterStore& parameters() const { return builder_.parameters; }
  const ModelBuilder& builder() const { return builder_; }

 protected:
  ParameterScope root() { return ParameterScope(builder_); }
  virtual std::string config_json() const { return ""; }  // the text of config.json

  ModelBuilder builder_;
};

}  // namespace hearth::nn
