#include "hearth/autograd/tape.h"

#include "hearth/base/check.h"
#include "hearth/base/profiler.h"

namespace hearth {

void Tape::use(Parameter& parameter) {
  ++use_count_;
  const auto [use, is_first] = used_.try_emplace(&parameter);
  use->second.add_all();
  if (is_first) entries_.push_back({Var(), nullptr, &parameter});
}

void Tape::use(Parameter& embedding, std::span<const std::int32_t> rows) {
  ++use_count_;
  const auto [use, is_first] = used_.try_emplace(&embedding, RowSet::none(embedding.shape[0]));
  use->second.add(rows);
  if (is_first) entries_.push_back({Var(), nullptr, &embedding});
}

void Tape::backward(const Var& loss, float loss_grad, const GradReady& ready) {
  const Span span("backward");
  check(loss.value().size() == 1, "[Tape::backward] the loss must be one number, its shape is {}",
        loss.value().shape().to_string());
  Tensor dloss(loss.value().shape(), DType::f32);
  *dloss.data<float>() = loss_grad;
  backward_from(loss, std::move(dloss), ready);
}

void Tape::backward_from(const Var& value, Tensor dvalue, const GradReady& ready) {
  value.grad() = std::move(dvalue);
  while (!entries_.empty()) {
    Entry entry = std::move(entries_.back());
    entries_.pop_back();
    if (entry.parameter != nullptr) {
      if (ready) ready(*entry.parameter);
    } else if (entry.var.grad().defined()) {
      entry.node->backward(std::move(entry.var.grad()));
    }
  }
  used_.clear();
}

}  // namespace hearth
