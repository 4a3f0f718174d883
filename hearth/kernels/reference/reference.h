#pragma once

#include <cstdint>

#include "hearth/base/dtype.h"
#include "hearth/kernels/loss/loss.h"
#include "hearth/kernels/rows/activation.h"
#include "hearth/kernels/rows/dropout.h"
#include "hearth/kernels/rows/elementwise.h"
#include "hearth/kernels/rows/layer_norm.h"
#include "hearth/kernels/rows/sequences.h"
#include "hearth/kernels/rows/softmax.h"
#include "hearth/kernels/update/optimizer.h"

// The kernels as plain loops, which the fast ones are tested against. The headers of the fast ones state the contracts.
namespace hearth::kernels::reference {

void activation_forward(Activation kind, DType type, std::int64_t n, const void* x, void* y);
void activation_backward(Activation kind, DType type, std::int64_t n, const void* x, const void* dy, void* dx);
void finish_tile(const TileEnd& end, std::int64_t rows, std::int64_t cols, const float* tile, std::int64_t ld);

void dropout_rows(DType type, const Sequences& sequences, std::int64_t cols, const Dropout& dropout, const void* x,
                  void* y);

void layer_norm_forward(const LayerNormArgs& args);
void layer_norm_backward(const LayerNormArgs& args, const LayerNormGradArgs& grads);

void convert(DType from, const void* x, DType to, void* y, std::int64_t n);
void add_into(DType type, std::int64_t n, const void* x, void* y);
void pairwise(Pairwise kind, DType type, std::int64_t n, const void* a, const void* b, void* y);
void scale(DType type, std::int64_t n, float factor, const void* x, void* y);
void fill(DType type, std::int64_t n, float value, void* y);
double total(DType type, std::int64_t n, const void* x);
void softmax_forward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* x, void* y);
void softmax_backward(SoftmaxKind kind, DType type, std::int64_t rows, std::int64_t cols, const void* y, const void* dy,
                      void* dx);
bool all_finite(DType type, std::int64_t n, const void* x);
void column_sums(DType type, std::int64_t rows, std::int64_t cols, const void* x, std::int64_t ldx, float* sums,
                 bool accumulate);

void embedding_forward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const float* table,
                       void* y, bool accumulate);
void embedding_backward(DType type, std::int64_t tokens, std::int64_t cols, const std::int32_t* ids, const void* dy,
                        std::int64_t rows, std::int32_t padding_id, float* dtable);

float cross_entropy(std::int64_t rows, std::int64_t classes, const float* logits, const std::int64_t* labels,
                    const CrossEntropyOptions& options, float* dlogits);
float binary_cross_entropy(std::int64_t rows, std::int64_t labels, const float* logits, const float* targets,
                           const BinaryCrossEntropyOptions& options, float* dlogits);
float mean_squared_error(std::int64_t n, const float* logits, const float* targets, float* dlogits);
float span_loss(const Sequences& sequences, const float* logits, const std::int64_t* starts, const std::int64_t* ends,
                float* dlogits);

double sum_of_squares(std::int64_t n, const float* x);
void adamw(const AdamWStep& step, std::int64_t n, float* p, const float* g, float* m, float* v);
void adamw_16bit(const AdamWStep& step, std::int64_t first, std::int64_t n, float* p, const float* g, BFloat16* m,
                 BFloat16* v);
void sgd(const SgdStep& step, std::int64_t n, float* p, const float* g, float* buffer);
void adagrad(const AdagradStep& step, std::int64_t n, float* p, const float* g, float* sum);
void rmsprop(const RmsPropStep& step, std::int64_t n, float* p, const float* g, float* v, float* buffer);
void lion(const LionStep& step, std::int64_t n, float* p, const float* g, float* m);

}  // namespace hearth::kernels::reference
