#include "hearth/models/memory_estimate.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/kernels/attention/attention.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/ops/linear_matmuls.h"
#include "hearth/ops/vocabulary_loss.h"

namespace hearth::models {
namespace {

// Measured: code and data of the program and its libraries, the code that oneDNN generates, the heap.
constexpr double kProgramBytes = 28 << 20;

constexpr double kFloat = sizeof(float);

constexpr double kMaskedShare = 0.15;  // of the tokens, in masked language modelling

// Bytes of a copy of one weight for a matmul in this dtype.
double bytes_per_copy(DType dtype) {
  const kernels::GemmImpl& impl = kernels::choose_gemm(dtype);
  constexpr std::int64_t kSide = 1024;
  if (impl.pack == nullptr) return static_cast<double>(size_of(dtype));
  return static_cast<double>(impl.packed_bytes(dtype, kSide, kSide)) / (kSide * kSide);
}

// Frozen weights keep the dtype of their file, which config.json names.
DType frozen_dtype(const Config& config) {
  for (const char* key : {"dtype", "torch_dtype"}) {
    const std::string name = io::get_string_or(config.values(), key, "", config.file());
    if (name == "bfloat16") return DType::bf16;
    if (name == "float16") return DType::f16;
  }
  return DType::f32;
}

// Adds up the parameters, which are in order of use: backward passes none that lies before the first trainable one.
MemoryEstimate of_parameters(const Pretrained& model, const MemoryPlan& plan) {
  const DType frozen = frozen_dtype(model.config());
  const bool packs = kernels::choose_gemm(plan.dtype).pack != nullptr;
  const double copy_bytes = bytes_per_copy(plan.dtype);
  bool in_backward = false;
  MemoryEstimate sum;
  for (const auto& parameter : model.parameters().parameters()) {
    const auto elements = static_cast<double>(parameter->shape.size());
    const DType stored = parameter->trainable ? DType::f32 : frozen;
    in_backward = in_backward || parameter->trainable;
    sum.weights += elements * static_cast<double>(size_of(stored));
    // Packed weights have one layout for forward and one for the input gradient; others have one copy at most.
    if (model.multiplies(*parameter) && (packs || stored != plan.dtype))
      sum.copies += elements * copy_bytes * (packs && in_backward ? 2 : 1);
    if (!parameter->trainable) continue;
    sum.gradients += elements * kFloat;
    sum.optimizer += elements * plan.moment_bytes / static_cast<double>(plan.shards);
  }
  return sum;
}

// Bytes of dropout's decisions that attention keeps in a layer, if every sequence is as long as the longest.
double attention_masks(const nn::TransformerConfig& config, const MemoryPlan& plan) {
  const std::int64_t starts[] = {0, plan.longest}, keys[] = {plan.longest};
  kernels::AttentionArgs args;
  args.type = plan.dtype;
  args.sequences = {starts, keys, {}};
  args.heads = config.heads;
  args.head_dim = config.hidden / config.heads;
  args.dropout.p = config.attention_dropout;
  const auto per_sequence = static_cast<double>(kernels::attention_mask_bytes(args));
  return per_sequence * static_cast<double>(plan.tokens) / static_cast<double>(plan.longest);
}

// Copies of matmuls' inputs that lie beside the inputs, per layer: attention keeps its output for itself, and gradient
// checkpointing the input of the layer. Other copies replace what they are made of.
int copies_beside_inputs(const nn::TransformerConfig& config, const MemoryPlan& plan) {
  const auto copies = [&](std::int64_t outputs) {
    return ops::copies_input(plan.dtype, plan.tokens, config.hidden, outputs) ? 1 : 0;
  };
  return copies(config.hidden) + (plan.gradient_checkpointing ? copies(3 * config.hidden) : 0);
}

// Bytes of the activations of a pass.
class Activations {
 public:
  Activations(const Pretrained& model, const MemoryPlan& plan)
      : model_(model),
        config_(model.backbone_config()),
        dtype_(plan.dtype),
        checkpointed_(plan.gradient_checkpointing),
        tokens_(static_cast<double>(plan.tokens)),
        embedded_(bytes_of(config_.embedding_width())),
        hidden_(bytes_of(config_.hidden)),
        wide_(bytes_of(config_.intermediate)),
        kept_wide_(ops::computes_activation_again(plan.tokens) ? wide_ : 2 * wide_),
        attention_masks_(attention_masks(config_, plan)),
        copies_(copies_beside_inputs(config_, plan) * hidden_) {}

  double peak() const {
    const auto layers = static_cast<double>(model_.layers_in_backward());
    const double below = layers < static_cast<double>(config_.layers) ? hidden_ : embeddings();
    const double kept =
        (checkpointed_ ? layers * hidden_ + std::min(1.0, layers) * layer() : layers * layer()) + head();
    return below + std::max(layers > 0 ? kept + first_of_backward() : head(), passing_layer()) + holes();
  }

 private:
  double bytes_of(std::int64_t columns) const {
    return tokens_ * static_cast<double>(columns) * static_cast<double>(size_of(dtype_));
  }
  double norm_statistics() const { return 2 * tokens_ * kFloat; }
  double embeddings() const {
    const double sum = embedded_, result = embedded_;
    const double projected = config_.embedding > 0 ? hidden_ : 0;
    return sum + result + projected + norm_statistics();
  }
  double layer() const {
    const double query_key_value = 3 * hidden_, mixed = hidden_, projected = hidden_, attended = hidden_;
    const double narrowed = hidden_, result = hidden_;
    const double log_sums = tokens_ * static_cast<double>(config_.heads) * kFloat;
    return query_key_value + mixed + log_sums + attention_masks_ + projected + attended + kept_wide_ + narrowed +
           result + copies_ + 2 * norm_statistics();
  }
  // A layer that backward does not reach keeps nothing. At once it holds its input, queries, keys, values and the
  // outputs of the heads, or its input, its middle, and what the feed-forward layers compute, with their result.
  double passing_layer() const { return std::max(5 * hidden_, 3 * hidden_ + wide_); }
  double head() const {
    if (model_.head() == HeadKind::masked_lm) return masked_lm_head();
    const double logits = tokens_ * static_cast<double>(model_.logits_per_token()) * kFloat;
    return 2 * logits;  // and their gradient
  }
  // The masked positions in four stages, and the logits of a block of them with their gradient (ops/vocabulary_loss.h).
  double masked_lm_head() const {
    const double masked = kMaskedShare * tokens_;
    const double rows = std::min(masked, static_cast<double>(ops::vocabulary_block_rows(config_.vocab_size)));
    const double bytes = kFloat + (dtype_ == DType::f32 ? 0 : static_cast<double>(size_of(dtype_)));
    return 4 * kMaskedShare * hidden_ + rows * static_cast<double>(config_.vocab_size) * bytes;
  }
  // Backward frees activations as it goes, so its peak is in the last layer: the gradient of the layer output (reused
  // in place for x), of the residual, and of the FFN's hidden activations.
  double first_of_backward() const { return 2 * hidden_ + wide_; }

  // Blocks that outlive a step leave holes between those of the next; a hole may be too small for a widest tensor.
  double holes() const { return wide_; }

  const Pretrained& model_;
  const nn::TransformerConfig& config_;
  DType dtype_;
  bool checkpointed_;
  double tokens_, embedded_, hidden_, wide_, kept_wide_, attention_masks_, copies_;
};

// Batches differ in size, and one of fewer than ops::kManyTokens tokens keeps more per token: the larger peak.
double peak_of_activations(const Pretrained& model, const MemoryPlan& plan) {
  MemoryPlan few = plan;
  few.tokens = std::min(plan.tokens, ops::kManyTokens - 1);
  return std::max(Activations(model, plan).peak(), Activations(model, few).peak());
}

constexpr double kTile = 256;

// A matmul that sums over the vocabulary: in 16 bits its right operand is packed, one tile wide.
double vocabulary_operand(const nn::TransformerConfig& config, DType dtype) {
  if (dtype == DType::f32) return 0;
  const double width = std::min(kTile, static_cast<double>(config.embedding_width()));
  return width * static_cast<double>(config.vocab_size) * static_cast<double>(size_of(dtype));
}

// Scratch that all threads share. In 16 bits, backward of a feed-forward layer sums the gradient of each weight there
// and, unless the update packs weights, packs a weight; with many tokens it computes both gradients at the same time.
double work_space_of_matmuls(const nn::TransformerConfig& config, const MemoryPlan& plan) {
  if (plan.dtype == DType::f32) return 0;
  const double sums = ops::computes_activation_again(plan.tokens) ? 2 * kFloat : kFloat;
  const bool packed_by_update = kernels::choose_gemm(plan.dtype).pack != nullptr;
  const double packed = packed_by_update ? 0 : static_cast<double>(size_of(plan.dtype));
  return static_cast<double>(config.hidden * config.intermediate) * (sums + packed);
}

// Scratch of one thread: one tile of a matmul, and one head of a sequence in attention.
double work_space_of_thread(const Pretrained& model, const MemoryPlan& plan) {
  const nn::TransformerConfig& config = model.backbone_config();
  const auto widest = static_cast<double>(std::max(config.hidden, config.intermediate));
  const double sums = kTile * kTile * kFloat, operands = 2 * kTile * widest * static_cast<double>(size_of(plan.dtype));
  const double query_rows = static_cast<double>(plan.longest * (config.hidden / config.heads)) * kFloat;
  const double of_head = model.head() == HeadKind::masked_lm ? vocabulary_operand(config, plan.dtype) : 0;
  return sums + operands + 3 * query_rows + of_head;
}

}  // namespace

MemoryEstimate estimate_memory(const Pretrained& model, const MemoryPlan& plan) {
  check(plan.tokens >= 1 && plan.longest >= 1 && plan.shards >= 1 && plan.threads >= 1,
        "[estimate_memory] all must be at least 1: tokens {}, longest sequence {}, shards {}, threads {}", plan.tokens,
        plan.longest, plan.shards, plan.threads);
  MemoryEstimate estimate = of_parameters(model, plan);
  estimate.activations = peak_of_activations(model, plan);
  estimate.work_space = work_space_of_matmuls(model.backbone_config(), plan) +
                        static_cast<double>(plan.threads) * work_space_of_thread(model, plan);
  estimate.program = kProgramBytes;
  return estimate;
}

}  // namespace hearth::models
