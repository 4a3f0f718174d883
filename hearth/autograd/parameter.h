#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hearth/autograd/row_set.h"
#include "hearth/autograd/weight_copies.h"
#include "hearth/base/api.h"
#include "hearth/tensor/tensor.h"

namespace hearth {

// In the arenas, parameters, buckets and shards begin at multiples of this many elements: a cache line of f32.
inline constexpr std::int64_t kAlignedElements = 16;

class ParameterStore;

// An array of weights. Most parameters have one part, named as in Hugging Face. Query, key and value are one parameter
// of three parts, so that one matmul computes all three. A trainable parameter is a slice of the store's arenas. A
// frozen one has memory of its own and no gradient. Ops read the values through acquire() alone.
struct HEARTH_API Parameter {
  struct Part {
    std::string name;
    Shape shape;
    std::int64_t offset = 0;  // elements from the parameter's first
  };

  const ParameterStore* store = nullptr;  // that it belongs to
  std::vector<Part> parts;
  Shape shape;
  bool is_norm = false;       // belongs to a normalisation layer; weight decay skips it
  bool is_embedding = false;  // rows are looked up, not multiplied
  bool trainable = true;
  std::int64_t offset = 0;  // of a trainable one: first element in the arenas
  Tensor master;            // the stored values: f32, or the 16-bit dtype of the file that a frozen parameter came from
  Tensor grad;              // f32; undefined if frozen
  bool has_grad = false;    // `grad` holds a contribution of this step: add to it; otherwise overwrite it
  RowSet grad_rows;         // of an embedding: rows of `grad` that may differ from zero; all others are zero
  bool grad_is_exposed = false;  // by expose_grad(): grad_rows stays all rows
  // The sum of squares of `grad`, if the op that wrote it last computed it along the way. Ops that write a gradient ask
  // for it with ops::grad_target or begin_grad(), which forget the sum; a loop of the user's own that changes gradients
  // after backward leaves it out of date.
  std::optional<double> grad_squares;
  std::uint64_t version = 1;                     // counts the changes of master
  std::deque<WeightCopy> copies;                 // references to them last while others are added
  std::mutex copying;                            // guards `copies` while several threads run forward
  std::atomic<std::thread::id> backward_thread;  // which computes `grad` at present; none: id()

  std::int64_t arena_end() const;  // the element of the arenas at which the next parameter begins
  Tensor master_part(const Part& part) const;
  Tensor grad_part(const Part& part) const;
  void store_as(DType type);  // of a frozen parameter: gives it new memory of this dtype, contents undefined
  void clear_grad();          // zeroes the gradient; rows outside grad_rows are zero already and are not touched
  void complete_grad();       // zeroes the gradient unless it holds a contribution of this step
  void begin_grad();          // the same, for a caller that adds to the gradient; forgets grad_squares
  // To be called once before a program writes to `grad` itself: all rows of an embedding count as having a gradient
  // from then on. Without it an update leaves out the rows that have none from backward.
  void expose_grad();
};

// A parameter, or a part of a stacked one, under its Hugging Face name.
struct NamedParameter {
  std::string name;
  Parameter* parameter = nullptr;
  Tensor value;  // a view of Parameter::master
  Tensor grad;   // a view of Parameter::grad; undefined if frozen. Before writing to it: Parameter::expose_grad()
};

// All parameters of a model. The trainable ones lie in contiguous arenas. Parameters are registered in order of use and
// laid out in reverse order, so gradients complete from the arena's beginning to its end while backward runs.
class HEARTH_API ParameterStore {
 public:
  ParameterStore() = default;
  ParameterStore(const ParameterStore&) = delete;  // its parameters know where it is
  ParameterStore& operator=(const ParameterStore&) = delete;

  // Before allocate() only. The parts are stacked along the first axis.
  Parameter& add(std::vector<Parameter::Part> parts, bool is_norm = false);
  // Before allocate() only: freezes the parameters whose names are chosen. Choosing some parts of a stacked parameter
  // and not the others is an Error.
  void freeze(const std::function<bool(std::string_view name)>& chosen);
  void allocate();  // contents are undefined until weights are loaded or initialised and gradients written
  // The arenas lie in this memory from now on. The caller has copied what is still needed.
  void move_arenas(const Tensor& master, const Tensor& grad);
  bool is_allocated() const { return master_.defined(); }
  void check_allocated() const;  // an Error says how to allocate

  std::int64_t size() const { return size_; }  // elements of an arena, with the gaps for alignment
  std::int64_t element_count() const;          // elements of all parameters, without the gaps
  std::int64_t trainable_count() const;        // those of the trainable ones
  const Tensor& master() const { return master_; }
  const Tensor& grad() const { return grad_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }  // in order of use
  std::vector<Parameter*> trainable() const;                                                 // in order of use
  std::vector<Parameter*> in_arena_order() const;  // the trainable ones: the last used comes first
  std::vector<NamedParameter> named() const;       // in order of use
  bool contains(std::string_view name) const { return names_.contains(name); }

  void zero_grad();  // starts a step: the next contribution to each gradient overwrites it
  // Zeroes gradients without a contribution in this step, such as those of an unused layer.
  void complete_grads();
  // Copies in other dtypes and layouts are out of date: of all parameters, after weights were loaded; of the trainable
  // ones, after an update.
  void mark_changed();
  void mark_updated();

 private:
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::set<std::string, std::less<>> names_;  // of all parts
  std::int64_t size_ = 0;
  Tensor master_, grad_;
};

}  // namespace hearth
