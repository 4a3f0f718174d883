#include "hearth/accelerate/prepared.h"

#include "hearth/accelerate/accelerator_state.h"

namespace hearth {

void PreparedModel::train() { state_->training = true; }
void PreparedModel::eval() { state_->training = false; }
ops::Context& PreparedModel::context() const { return state_->context; }
nn::Model& PreparedModel::unwrap() const { return *state_->model; }

nn::ModelOutput PreparedModel::operator()(const BatchPtr& batch) {
  AcceleratorState& accelerator = *state_->accelerator;
  state_->tape = state_->training ? std::make_unique<Tape>() : nullptr;
  ops::Context& ctx = state_->context;
  ctx = {};
  ctx.tape = state_->tape.get();
  ctx.compute = accelerator.compute;
  ctx.training = state_->training;
  ctx.seed = accelerator.seed;
  ctx.step = accelerator.passes++;
  return state_->model->forward(ctx, batch);
}

void PreparedOptimizer::step() {
  if (!state_->sync_gradients) return;
  const float scale = state_->scaler.scale();
  const bool accepted =
      !state_->scaler.enabled() || state_->scaler.accept(optim::grad_norm(optimizer_->parameters()) / scale);
  if (accepted) optimizer_->step(optimizer_->lr(), static_cast<float>(clip_) / scale);
  state_->step_was_skipped = !accepted;
  clip_ = 1;
}

void PreparedOptimizer::zero_grad() {
  if (state_->sync_gradients) optimizer_->zero_grad();
}

double PreparedOptimizer::clip_grad_norm(double max_norm) {
  if (!state_->sync_gradients) return 0;
  const double norm = optim::grad_norm(optimizer_->parameters()) / state_->scaler.scale();
  clip_ = optim::clip_scale(norm, max_norm);
  return norm;
}

bool PreparedOptimizer::step_was_skipped() const { return state_->step_was_skipped; }

void PreparedScheduler::step() {
  if (!state_->sync_gradients || state_->step_was_skipped) return;
  for (int rank = 0; rank < state_->team.size(); ++rank) schedule_.step();
}

}  // namespace hearth
