#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/autograd/tape.h"
#include "hearth/base/api.h"
#include "hearth/ops/grad.h"

namespace hearth::ops {

// An op and what it reads; its backward writes the gradients of those that need one. Inputs may be undefined and
// parameters null.
struct Op {
  std::string_view name;
  std::vector<Var> inputs = {};
  std::vector<Parameter*> parameters = {};
};

// Looks at the numbers that ops compute, and remembers the first op that makes a NaN or an infinity.
class HEARTH_API FiniteCheck {
 public:
  enum class Scope { values, values_and_gradients };

  explicit FiniteCheck(Scope scope = Scope::values_and_gradients) : scope_(scope) {}

  void look_at(const Op& op, const Tensor& output);
  // `backward` of the op, which it then looks at.
  template <class Backward>
  auto checked(const Op& op, Backward backward) {
    return [this, inputs = edges_of(op.inputs), parameters = op.parameters, place = place_of(op),
            backward = std::move(backward)](Tensor dy) mutable {
      backward(std::move(dy));
      look_at_gradients(inputs, parameters, place);
    };
  }

  // Such as "NaN in the output of attention after bert.encoder.layer.3.attention.self.query"; empty: all is finite.
  const std::string& found() const { return found_; }

 private:
  void look_at_gradients(const std::vector<GradientEdge>& inputs, const std::vector<Parameter*>& parameters,
                         const std::string& place);
  // The op with the layer that it belongs to: that of its parameters, or of the last parameters before it.
  std::string place_of(const Op& op) const;

  Scope scope_;
  std::string layer_;
  std::string found_;
};

}  // namespace hearth::ops
