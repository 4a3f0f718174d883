#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hearth/autograd/parameter.h"
#include "hearth/base/api.h"
#include "hearth/tensor/tensor.h"

namespace hearth {

class Tape;

// What a tape has recorded since it began or since its last backward. The values of the pass share it, so that they
// know their tape without owning it.
struct TapePass {
  enum class Stage { forward, backward, over };

  Tape* tape = nullptr;  // null once the tape is gone or backward has begun
  Stage stage = Stage::forward;
};

// Where backward adds up the gradient of a value. It knows the shape and dtype of the value but does not keep it alive:
// an op's backward captures the edges of its inputs and, of the values, only those Tensors that it reads.
class HEARTH_API GradientEdge {
 public:
  GradientEdge() = default;

  bool defined() const { return state_ != nullptr; }
  bool needs_grad() const { return state().needs_grad; }
  const Shape& shape() const { return state().shape; }
  DType type() const { return state().type; }
  // Undefined until the first contribution. No two edges share the memory of a gradient, so a node may work in place.
  Tensor& grad() const { return state().grad; }

 private:
  friend class Tape;
  friend class Var;
  struct State {
    Shape shape;
    DType type = DType::f32;
    bool needs_grad = false;
    std::shared_ptr<const TapePass> pass;  // null if no tape recorded the value
    Tensor grad = {};
  };

  State& state() const {
    if (state_ == nullptr) [[unlikely]]
      throw_undefined();
    return *state_;
  }
  [[noreturn]] static void throw_undefined();

  std::shared_ptr<State> state_;
};

// A value of a forward pass and its edge. Copies share both.
class HEARTH_API Var : public GradientEdge {
 public:
  Var() = default;
  explicit Var(Tensor value, bool needs_grad = false) : Var(std::move(value), needs_grad, nullptr) {}

  const Tensor& value() const {
    if (!defined()) [[unlikely]]
      throw_undefined();
    return value_;
  }
  const GradientEdge& edge() const { return *this; }

  // The tape that backward of this value will run; null where there is none.
  Tape* tape() const { return defined() && state().pass != nullptr ? state().pass->tape : nullptr; }
  // The same; where there is none, an Error says why.
  Tape& require_tape() const;
  // Computes the gradients of this value, one number, by every parameter that it depends on, times `loss_grad`.
  void backward(float loss_grad = 1) const;

  // Whether nobody but this Var will read the value, so that an op may overwrite its memory. A backward that reads a
  // value captures its Tensor, which counts; a bare pointer does not.
  bool is_last_holder() const { return value().is_only_view(); }

 private:
  friend class Tape;

  Var(Tensor value, bool needs_grad, std::shared_ptr<const TapePass> pass) : value_(std::move(value)) {
    state_ = std::make_shared<State>(State{value_.shape(), value_.type(), needs_grad, std::move(pass)});
  }

  Tensor value_;
};

// One operation of a forward pass. It holds what backward needs and adds to the gradients of its inputs.
class HEARTH_API Node {
 public:
  virtual ~Node() = default;
  virtual void backward(Tensor dy) = 0;
};

using GradReady = std::function<void(Parameter&)>;

// A forward pass in the order it ran. A parameter is noted at its first use. Backward walks the entries from last to
// first: when it reaches that note, every use of the parameter is done, its gradient is complete and `ready` is called.
// The tape itself keeps no values: a recorded backward keeps what it captured, until the walk has passed it. Only
// operations that lie between a trainable parameter and the loss are recorded: ops ask Context::needs_grad, so backward
// ends where nothing below needs a gradient. After backward the tape is good for another pass.
class HEARTH_API Tape {
 public:
  Tape() = default;
  ~Tape() { pass_->tape = nullptr; }
  Tape(const Tape&) = delete;  // its values know where it is
  Tape& operator=(const Tape&) = delete;

  // Notes the use of a trainable parameter. With rows: backward will write only these rows of an embedding's gradient.
  void use(Parameter& parameter);
  void use(Parameter& embedding, std::span<const std::int32_t> rows);
  bool uses(Parameter& parameter) const { return used_.contains(&parameter); }
  const RowSet& used_rows(Parameter& parameter) const { return used_.at(&parameter); }
  std::size_t use_count() const { return use_count_; }  // calls of use() so far
  // An Error names a parameter of another store that this pass would compute the gradient of.
  void check_belongs(const ParameterStore& store) const;
  // An Error names the op that reads a value whose gradient this tape could not hand on, because another tape recorded
  // the value or because its pass is over. Gradient checkpointing may read values of a pass that is in its backward.
  void check_input(std::string_view op, const Var& x) const;

  // Keeps an object alive as long as the tape: what the recorded operations refer to, such as the batch.
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }

  // Backward calls `backward` with the gradient of the value, which may be gone by then unless `backward` captured it.
  // While the tape is paused nothing is recorded.
  template <class Backward>
  Var record(Tensor value, Backward backward) {
    if (paused_) return Var(std::move(value));
    Var var(std::move(value), true, pass_);
    entries_.push_back({var.edge(), std::make_unique<NodeOf<Backward>>(std::move(backward)), nullptr});
    return var;
  }

  // Starts from d(loss)/d(loss) = `loss_grad`, for the scalar `loss` that this tape recorded since its last backward.
  void backward(const Var& loss, float loss_grad, const GradReady& ready = {});
  // The same from any value whose gradient is known, recorded or not.
  void backward_from(const GradientEdge& value, Tensor dvalue, const GradReady& ready = {});

  // While it lives, the tape notes uses of parameters but records no values: gradient checkpointing recomputes them.
  class Pause {
   public:
    explicit Pause(Tape* tape) : tape_(tape), before_(tape != nullptr && tape->paused_) {
      if (tape_ != nullptr) tape_->paused_ = true;
    }
    ~Pause() {
      if (tape_ != nullptr) tape_->paused_ = before_;
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Tape* tape_;
    bool before_;
  };

 private:
  template <class Backward>
  struct NodeOf final : Node {
    explicit NodeOf(Backward function) : function_(std::move(function)) {}
    void backward(Tensor dy) override { function_(std::move(dy)); }
    Backward function_;
  };
  struct Entry {
    GradientEdge output;
    std::unique_ptr<Node> node;
    Parameter* parameter = nullptr;  // a note of first use, without a node
  };

  std::shared_ptr<TapePass> pass_ = std::make_shared<TapePass>(TapePass{this});
  std::vector<Entry> entries_;
  std::unordered_map<Parameter*, RowSet> used_;
  std::size_t use_count_ = 0;
  std::vector<std::shared_ptr<const void>> kept_;
  bool paused_ = false;
};

}  // namespace hearth
