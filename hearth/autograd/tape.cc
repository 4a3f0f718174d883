#include "hearth/autograd/tape.h"

#include "hearth/autograd/backward_claim.h"
#include "hearth/base/check.h"
#include "hearth/base/profiler.h"

namespace hearth {

void GradientEdge::throw_undefined() {
  fail("[Var] read before it has a value; a model's loss has none if the batch has no labels");
}

Tape& Var::require_tape() const {
  const std::shared_ptr<const TapePass>& pass = state().pass;
  check(pass != nullptr,
        "[backward] no tape recorded this value: it was computed without Context::tape, or from frozen parameters "
        "alone");
  check(pass->stage == TapePass::Stage::forward,
        "[backward] backward ran already over the pass that computed this value: run forward again, or add the losses "
        "of one pass before backward");
  check(pass->tape != nullptr,
        "[backward] the tape that recorded this value is gone: keep the Tape alive until backward has run");
  return *pass->tape;
}

void Var::backward(float loss_grad) const { require_tape().backward(*this, loss_grad); }

void Tape::use(Parameter& parameter) {
  ++use_count_;
  const auto [use, is_first] = used_.try_emplace(&parameter);
  use->second.add_all();
  if (is_first) entries_.push_back({GradientEdge(), nullptr, &parameter});
}

void Tape::use(Parameter& embedding, std::span<const std::int32_t> rows) {
  ++use_count_;
  const auto [use, is_first] = used_.try_emplace(&embedding, RowSet::none(embedding.shape[0]));
  use->second.add(rows);
  if (is_first) entries_.push_back({GradientEdge(), nullptr, &embedding});
}

void Tape::check_belongs(const ParameterStore& store) const {
  for (const auto& [parameter, rows] : used_)
    check(parameter->store == &store,
          "[backward] the loss depends on {}, a parameter of another model than the one that is trained: freeze it, or "
          "compute its part of the loss on a tape of its own",
          parameter->parts.front().name);
}

void Tape::check_input(std::string_view op, const Var& x) const {
  if (!x.defined() || !x.needs_grad() || x.state().pass == nullptr) return;
  const TapePass& pass = *x.state().pass;
  if (pass.tape == this || pass.stage == TapePass::Stage::backward) return;
  fail(
      "[{}] another tape recorded an input, or the pass that computed it is over, so its gradient would be lost: run "
      "all "
      "passes that a loss depends on with one Tape, or give Var(x.value()) where no gradient is needed",
      op);
}

void Tape::backward(const Var& loss, float loss_grad, const GradReady& ready) {
  const Span span("backward");
  check(loss.value().size() == 1, "[backward] the loss must be one number, its shape is {}",
        loss.value().shape().to_string());
  check(&loss.require_tape() == this, "[backward] another tape recorded the loss: call backward of that tape");
  Tensor dloss(loss.value().shape(), DType::f32);
  *dloss.data<float>() = loss_grad;
  backward_from(loss, std::move(dloss), ready);
}

void Tape::backward_from(const GradientEdge& value, Tensor dvalue, const GradReady& ready) {
  check(dvalue.shape() == value.shape() && dvalue.type() == value.type(),
        "[backward_from] a gradient {} {} of a value {} {}", name_of(dvalue.type()), dvalue.shape().to_string(),
        name_of(value.type()), value.shape().to_string());
  BackwardClaim claim;
  for (const auto& [parameter, rows] : used_) claim.add(*parameter);
  const auto pass = std::exchange(pass_, std::make_shared<TapePass>(TapePass{this}));
  *pass = {.tape = nullptr, .stage = TapePass::Stage::backward};
  used_.clear();
  std::vector<Entry> entries = std::exchange(entries_, {});
  const auto kept = std::exchange(kept_, {});  // until the walk is done
  value.grad() = std::move(dvalue);
  while (!entries.empty()) {
    Entry entry = std::move(entries.back());
    entries.pop_back();
    if (entry.parameter != nullptr) {
      if (ready) ready(*entry.parameter);
    } else if (entry.output.grad().defined()) {
      entry.node->backward(std::move(entry.output.grad()));
    }
  }
  pass->stage = TapePass::Stage::over;
}

}  // namespace hearth
