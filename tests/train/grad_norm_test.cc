// The norm that a step takes from the sums of squares which backward has made, against a pass over all gradients.
#include <gtest/gtest.h>

#include <cmath>

#include "hearth/train/training_step.h"
#include "tests/parallel/toy_team.h"
#include "tests/train/toy.h"

namespace hearth {
namespace {

using parallel::DistributedDataParallel;

BatchPtr batch_of(std::vector<std::int64_t> items) { return toy_dataset(24)->collate(items, 0); }

Var loss_on(ToyModel& model, Tape& tape, const BatchPtr& batch, DType compute = DType::f32) {
  ops::Context ctx = training_context(tape, 0, {.compute = compute});
  return loss_of(model, ctx, batch);
}

void backward(ToyModel& model, DistributedDataParallel& ddp, const BatchPtr& batch, DType compute = DType::f32) {
  Tape tape;
  ddp.backward(loss_on(model, tape, batch, compute));
}

std::int64_t known(const ToyModel& model) {
  return std::ranges::count_if(model.parameters().trainable(),
                               [](const Parameter* parameter) { return parameter->grad_squares.has_value(); });
}

void expect_same_norm(const DistributedDataParallel& ddp) {
  const double norm = ddp.grad_norm();
  EXPECT_GT(norm, 0);
  EXPECT_NEAR(ddp.grad_norm_after_backward(), norm, 1e-12 * norm);
}

TEST(GradNorm, IsThatOfAPassOverTheGradients) {
  for (const DType compute : {DType::f32, DType::bf16, DType::f16}) {
    ToyModel model;
    DistributedDataParallel ddp(model.parameters());
    for (int step = 0; step < 2; ++step) {
      model.parameters().zero_grad();
      backward(model, ddp, batch_of({0, 1, 2}), compute);
      EXPECT_EQ(known(model), 9);  // 4 weights per layer and the classifier's
      expect_same_norm(ddp);
    }
  }
}

TEST(GradNorm, OfMicroBatchesAndFrozenLayers) {
  ToyModel model(0, 1, [](std::string_view name) { return name.starts_with("layer.0."); });
  DistributedDataParallel ddp(model.parameters());
  Tape tape;
  ddp.backward_without_sync(loss_on(model, tape, batch_of({0, 1, 2})));
  backward(model, ddp, batch_of({3, 4, 5, 6}));
  EXPECT_EQ(known(model), 5);
  expect_same_norm(ddp);
}

TEST(GradNorm, SeesGradientsThatAreNotFinite) {
  ToyModel model;
  DistributedDataParallel ddp(model.parameters());
  for (const auto& parameter : model.parameters().parameters())
    if (parameter->parts[0].name == "classifier.weight")
      parameter->master.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  model.parameters().mark_changed();
  backward(model, ddp, batch_of({0, 1, 2}));
  EXPECT_FALSE(std::isfinite(ddp.grad_norm_after_backward()));
}

// A loop of the user's own may change gradients through a view.
TEST(GradNorm, ReadsGradientsThatMayHaveChanged) {
  ToyModel model;
  DistributedDataParallel ddp(model.parameters());
  backward(model, ddp, batch_of({0, 1, 2}));
  const double norm = ddp.grad_norm();
  float* const grads = model.parameters().grad().data<float>();
  for (std::int64_t i = 0; i < model.parameters().size(); ++i) grads[i] *= 2;
  EXPECT_NEAR(ddp.grad_norm(), 2 * norm, 1e-12 * norm);
  EXPECT_NEAR(optim::grad_norm(model.parameters()), 2 * norm, 1e-12 * norm);
}

TEST(GradNorm, OfSeveralRanksIsThatOfTheMean) {
  for (const bool sharded : {false, true})
    for (const int ranks : {1, 2, 3})
      parallel::run_team(ranks, [&](const parallel::Team& team) {
        ToyModel model;
        parallel::DataParallelOptions options;
        options.partition.sharded = sharded;
        DistributedDataParallel ddp(model.parameters(), team, options);
        backward(model, ddp, batch_of({team.rank(), team.rank() + 5}));
        expect_same_norm(ddp);
      });
}

}  // namespace
}  // namespace hearth
