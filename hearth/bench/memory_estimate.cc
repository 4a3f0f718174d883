#include "hearth/bench/memory_estimate.h"

#include <algorithm>

#include "hearth/base/error.h"
#include "hearth/kernels/gemm/gemm.h"

namespace hearth::bench {
namespace {

// Measured: code and data of the program and its libraries, the code that oneDNN generates, the heap.
constexpr double kProgramBytes = 22 << 20;

constexpr double kFloat = sizeof(float);

struct WeightCounts {
  double all = 0, of_products = 0;
};

// Counts the parameters that the layers register, without allocating them.
WeightCounts count_weights(const nn::TransformerConfig& config) {
  nn::ModelBuilder builder;
  const nn::ParameterScope top(builder);
  const nn::Encoder encoder(top, config, {"layer", "q", "k", "v", "attention", "norm1", "wide", "narrow", "norm2"});
  const nn::Linear head(top / "head", config.hidden, 2, config.init_range);
  WeightCounts counts;
  for (const auto& parameter : builder.parameters.parameters()) {
    const auto elements = static_cast<double>(parameter->shape.size());
    counts.all += elements;
    if (parameter->shape.rank() == 2 && !parameter->is_embedding) counts.of_products += elements;
  }
  return counts;
}

// Bytes of 16-bit copies per weight: one plain copy, or two packed ones, for forward and for the input gradient.
double copied_bytes(DType format) {
  if (format == DType::f32) return 0;
  const kernels::GemmImpl& impl = kernels::choose_gemm(format);
  constexpr std::int64_t kSide = 1024;
  if (impl.pack == nullptr) return static_cast<double>(size_of(format));
  return 2 * static_cast<double>(impl.packed_bytes(format, kSide, kSide)) / (kSide * kSide);
}

// Bytes of the activations of a pass.
class Activations {
 public:
  Activations(const nn::TransformerConfig& config, const MemoryPlan& plan)
      : config_(config),
        checkpointed_(plan.gradient_checkpointing),
        tokens_(static_cast<double>(plan.batch * plan.seq)),
        hidden_(tokens_ * static_cast<double>(config.hidden) * static_cast<double>(size_of(plan.dtype))),
        wide_(tokens_ * static_cast<double>(config.intermediate) * static_cast<double>(size_of(plan.dtype))) {}

  double peak() const {
    const auto layers = static_cast<double>(config_.layers);
    const double between_layers = embeddings() + (checkpointed_ ? layers * hidden_ : 0);
    return between_layers + (checkpointed_ ? 1 : layers) * layer() + head() + first_of_backward() + holes();
  }

 private:
  double norm_statistics() const { return 2 * tokens_ * kFloat; }
  double embeddings() const {
    const double sum_and_normed = 2 * hidden_, dropped = config_.hidden_dropout > 0 ? hidden_ : 0;
    return sum_and_normed + dropped + norm_statistics();
  }
  double layer() const {
    const double query_key_value = 3 * hidden_, mixed = hidden_, projected = hidden_, attended = hidden_;
    const double widened = 2 * wide_;  // before and after the activation
    const double narrowed = hidden_, result = hidden_;
    const double log_sums = tokens_ * static_cast<double>(config_.heads) * kFloat;
    return query_key_value + mixed + log_sums + projected + attended + widened + narrowed + result +
           2 * norm_statistics();
  }
  double head() const {
    const double logits = 2 * tokens_ * kFloat;
    return 2 * logits;  // and their gradient
  }
  // Backward frees activations as it goes, so its peak is in the last layer: the gradient of the layer output (reused
  // in place for x), of the residual, and of the FFN's hidden activations.
  double first_of_backward() const { return 2 * hidden_ + wide_; }

  // Blocks that outlive a step leave holes between those of the next; a hole may be too small for a widest tensor.
  double holes() const { return wide_; }

  const nn::TransformerConfig& config_;
  bool checkpointed_;
  double tokens_, hidden_, wide_;
};

// Scratch of one thread: one tile of a matmul, and one head of a sequence in attention.
double work_space_of_thread(const nn::TransformerConfig& config, const MemoryPlan& plan) {
  constexpr double kTile = 256;
  const auto widest = static_cast<double>(std::max(config.hidden, config.intermediate));
  const double sums = kTile * kTile * kFloat, operands = 2 * kTile * widest * static_cast<double>(size_of(plan.dtype));
  const double query_rows = static_cast<double>(plan.seq * (config.hidden / config.heads)) * kFloat;
  return sums + operands + 3 * query_rows;
}

}  // namespace

MemoryEstimate estimate_memory(const nn::TransformerConfig& config, const MemoryPlan& plan) {
  check(plan.batch >= 1 && plan.seq >= 1 && plan.shards >= 1 && plan.threads >= 1,
        "[estimate_memory] all must be at least 1: batch {}, sequence length {}, shards {}, threads {}", plan.batch,
        plan.seq, plan.shards, plan.threads);
  const WeightCounts counts = count_weights(config);
  const auto shards = static_cast<double>(plan.shards);
  MemoryEstimate estimate;
  estimate.weights = counts.all * kFloat;
  estimate.copies = counts.of_products * copied_bytes(plan.dtype);
  estimate.gradients = counts.all * kFloat;
  estimate.optimizer = 2 * counts.all * kFloat / shards;
  estimate.activations = Activations(config, plan).peak();
  estimate.work_space = static_cast<double>(plan.threads) * work_space_of_thread(config, plan);
  estimate.program = kProgramBytes;
  return estimate;
}

}  // namespace hearth::bench
