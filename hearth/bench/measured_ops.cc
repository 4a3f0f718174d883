#include "hearth/bench/measured_ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hearth/bench/random_numbers.h"
#include "hearth/kernels/attention/attention.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/rows/embedding.h"
#include "hearth/kernels/rows/layer_norm.h"
#include "hearth/kernels/update/optimizer.h"
#include "hearth/ops/context.h"

namespace hearth::bench {
namespace {

Tensor random_tensor(Shape shape, DType type) {
  Tensor tensor(shape, type);
  fill_randomly(tensor);
  return tensor;
}

// The inputs that all ops share, and the list that they are added to.
struct Maker {
  const nn::TransformerConfig& config;
  const Batch& batch;
  DType type;
  std::vector<MeasuredOp> ops;

  std::int64_t tokens() const { return batch.tokens(); }
  kernels::Dropout dropout() const { return {0.1f, philox_key(42, 0, 0)}; }

  // Bytes and operations are per element of `count`.
  void add(std::string name, std::int64_t count, double bytes, double flops, std::function<void()> run) {
    const auto elements = static_cast<double>(count);
    ops.push_back({std::move(name), bytes * elements, flops * elements, std::move(run)});
  }
};

void add_activation(Maker& make) {
  const Tensor x = random_tensor({make.tokens(), make.config.intermediate}, make.type);
  const Tensor dy = random_tensor(x.shape(), make.type), y(x.shape(), make.type);
  const double size = static_cast<double>(size_of(make.type));
  const auto kind = make.config.activation;
  make.add("activation forward", x.size(), 2 * size, 5,
           [=] { kernels::activation_forward(kind, x.type(), x.size(), x.raw(), y.raw()); });
  make.add("activation backward", x.size(), 3 * size, 9,
           [=] { kernels::activation_backward(kind, x.type(), x.size(), x.raw(), dy.raw(), y.raw()); });
}

void add_rows(Maker& make) {
  const Tensor x = random_tensor({make.tokens(), make.config.hidden}, make.type);
  const Tensor y = random_tensor(x.shape(), make.type), sums({make.config.hidden}, DType::f32);
  const double size = static_cast<double>(size_of(make.type));
  const kernels::Sequences sequences = ops::tokens_of(make.batch);
  const kernels::Dropout dropout = make.dropout();
  make.add("dropout", x.size(), 2 * size, 1,
           [=] { kernels::dropout_rows(x.type(), sequences, x.row_size(), dropout, x.raw(), y.raw()); });
  make.add("gradient addition", x.size(), 3 * size, 1,
           [=] { kernels::add_into(x.type(), x.size(), x.raw(), y.raw()); });
  make.add("bias gradient", x.size(), size, 1, [=] {
    kernels::column_sums(x.type(), x.rows(), x.row_size(), x.raw(), x.row_size(), sums.data<float>(), false);
  });
}

void add_layer_norm(Maker& make) {
  const Shape shape{make.tokens(), make.config.hidden};
  const Tensor x = random_tensor(shape, make.type), residual = random_tensor(shape, make.type);
  const Tensor z(shape, make.type), y(shape, make.type), dy = random_tensor(shape, make.type), dx(shape, make.type);
  const Tensor gamma = random_tensor({make.config.hidden}, DType::f32), dgamma(gamma.shape(), DType::f32),
               dbeta(gamma.shape(), DType::f32), mean({make.tokens()}, DType::f32), rstd(mean.shape(), DType::f32);
  kernels::LayerNormArgs args;
  args.type = make.type;
  args.sequences = ops::tokens_of(make.batch);
  args.cols = make.config.hidden;
  args.eps = make.config.eps;
  args.dropout = make.dropout();
  args.x = x.raw();
  args.residual = residual.raw();
  args.gamma = args.beta = gamma.data<float>();
  args.z = z.raw();
  args.y = y.raw();
  args.mean = mean.data<float>();
  args.rstd = rstd.data<float>();
  kernels::LayerNormGradArgs grads;
  grads.dy = dy.raw();
  grads.dx = dx.raw();
  grads.dresidual = residual.raw();
  grads.dgamma = dgamma.data<float>();
  grads.dbeta = dbeta.data<float>();
  const double size = static_cast<double>(size_of(make.type));
  const auto kept =
      std::make_shared<std::vector<Tensor>>(std::vector{x, residual, z, y, dy, dx, gamma, dgamma, dbeta, mean, rstd});
  make.add("layer norm forward", x.size(), 4 * size, 9, [args, kept] { kernels::layer_norm_forward(args); });
  make.add("layer norm backward", x.size(), 4 * size, 14,
           [args, grads, kept] { kernels::layer_norm_backward(args, grads); });
}

void add_embedding(Maker& make) {
  const std::int64_t width = make.config.embedding_width();
  const Tensor table = random_tensor({make.config.vocab_size, width}, DType::f32);
  const Tensor dtable = Tensor::zeros(table.shape(), DType::f32), y({make.tokens(), width}, make.type);
  fill_randomly(y);
  const double size = static_cast<double>(size_of(make.type));
  const std::int32_t* const ids = make.batch.input_ids.data();
  make.add("embedding forward", y.size(), 4 + size, 0, [=] {
    kernels::embedding_forward(y.type(), y.rows(), y.row_size(), ids, table.data<float>(), y.raw(), false);
  });
  make.add("embedding backward", y.size(), 8 + size, 1, [=, padding = make.config.padding_id] {
    kernels::embedding_backward(y.type(), y.rows(), y.row_size(), ids, y.raw(), dtable.rows(), padding,
                                dtable.data<float>());
  });
}

void add_attention(Maker& make) {
  const std::int64_t hidden = make.config.hidden;
  const Tensor qkv = random_tensor({make.tokens(), 3 * hidden}, make.type), dqkv(qkv.shape(), make.type);
  const Tensor out({make.tokens(), hidden}, make.type), dout = random_tensor(out.shape(), make.type);
  const Tensor lse({make.config.heads, make.tokens()}, DType::f32);
  const auto column = [hidden](const Tensor& x, std::int64_t third) {
    return static_cast<std::byte*>(x.raw()) + static_cast<std::size_t>(third * hidden) * size_of(x.type());
  };
  kernels::AttentionArgs args;
  args.type = make.type;
  args.sequences = ops::tokens_of(make.batch);
  args.heads = make.config.heads;
  args.head_dim = hidden / make.config.heads;
  args.stride = 3 * hidden;
  args.q = column(qkv, 0);
  args.k = column(qkv, 1);
  args.v = column(qkv, 2);
  args.scale = 1.0f / std::sqrt(static_cast<float>(args.head_dim));
  args.dropout = make.dropout();
  args.out = out.raw();
  args.lse = lse.data<float>();
  const kernels::AttentionGradArgs grads{dout.raw(), column(dqkv, 0), column(dqkv, 1), column(dqkv, 2), 3 * hidden};
  double pairs = 0;  // (query, key) pairs
  for (std::size_t s = 0; s < make.batch.key_counts.size(); ++s)
    pairs += static_cast<double>((make.batch.starts[s + 1] - make.batch.starts[s]) * make.batch.key_counts[s]);
  const double size = static_cast<double>(size_of(make.type)), pair_size = pairs / static_cast<double>(make.tokens());
  const Tensor masks({kernels::attention_mask_bytes(args)}, DType::u8);
  if (masks.size() > 0) args.masks = static_cast<std::uint16_t*>(masks.raw());
  const auto kept = std::make_shared<std::vector<Tensor>>(std::vector{qkv, dqkv, out, dout, lse, masks});
  make.add("attention forward", out.size(), 4 * size, 4 * pair_size,
           [args, kept] { kernels::attention_forward(args); });
  make.add("attention backward", out.size(), 8 * size, 10 * pair_size,
           [args, grads, kept] { kernels::attention_backward(args, grads); });
}

void add_loss(Maker& make) {
  const Tensor logits = random_tensor({make.tokens(), 2}, DType::f32), dlogits(logits.shape(), DType::f32);
  const kernels::Sequences sequences = ops::tokens_of(make.batch);
  const std::int64_t* const starts = make.batch.labels.at("start_positions").data();
  const std::int64_t* const ends = make.batch.labels.at("end_positions").data();
  make.add("loss", logits.size(), 8, 6,
           [=] { kernels::span_loss(sequences, logits.data<float>(), starts, ends, dlogits.data<float>()); });
}

void add_weights(Maker& make) {
  const std::int64_t hidden = make.config.hidden, count = hidden * (4 * hidden + 2 * make.config.intermediate);
  const Tensor p = random_tensor({count}, DType::f32), g = random_tensor({count}, DType::f32);
  const Tensor m = Tensor::zeros({count}, DType::f32), v = Tensor::zeros({count}, DType::f32);
  if (make.type != DType::f32) {
    const Tensor copy({count}, make.type);
    make.add("weight conversion", count, 4.0 + static_cast<double>(size_of(make.type)), 1,
             [=] { kernels::convert(DType::f32, p.raw(), copy.type(), copy.raw(), p.size()); });
  }
  make.add("gradient norm", count, 4, 2, [=] { kernels::sum_of_squares(g.size(), g.data<float>()); });
  kernels::AdamWStep step;
  step.lr = 3e-5;
  const auto add_adamw = [&](std::string name, const Tensor& gradient, const Tensor& first, const Tensor& second) {
    make.add(std::move(name), count, 28, 15, [=] {
      kernels::adamw(step, p.size(), p.data<float>(), gradient.data<float>(), first.data<float>(),
                     second.data<float>());
    });
  };
  add_adamw("AdamW", g, m, v);
  // Embedding rows that no batch has used for some 800 steps. Their first moments have decayed to 4 * 2^-149, where
  // rounding stops the decay; Intel processors are slow at arithmetic on such subnormal numbers.
  const Tensor zero = Tensor::zeros({count}, DType::f32), decayed({count}, DType::f32), second({count}, DType::f32);
  std::fill_n(decayed.data<float>(), count, 4 * std::numeric_limits<float>::denorm_min());
  std::fill_n(second.data<float>(), count, 1e-12f);
  add_adamw("AdamW, unused rows", zero, decayed, second);
  const Tensor narrow_m = Tensor::zeros({count}, DType::bf16), narrow_v = Tensor::zeros({count}, DType::bf16);
  make.add("AdamW, 16-bit moments", count, 20, 15, [=] {
    kernels::adamw_16bit(step, 0, p.size(), p.data<float>(), g.data<float>(), narrow_m.data<BFloat16>(),
                         narrow_v.data<BFloat16>());
  });
}

}  // namespace

std::vector<MeasuredOp> measured_ops(const nn::TransformerConfig& config, const Batch& batch, DType type) {
  Maker make{config, batch, type, {}};
  add_attention(make);
  add_layer_norm(make);
  add_activation(make);
  add_rows(make);
  add_embedding(make);
  add_loss(make);
  add_weights(make);
  return std::move(make.ops);
}

}  // namespace hearth::bench
