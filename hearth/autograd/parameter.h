#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/autograd/row_set.h"
#include "hearth/tensor/tensor.h"

namespace hearth {

// A 16-bit copy of a weight in the dtype and layout that a matmul reads. It is rebuilt when the weight has changed.
struct Replica {
  int kind = 0;               // distinguishes the copies of one weight; numbered in ops/weights.cc
  std::uint64_t version = 0;  // the Parameter::version that `value` was built from
  bool was_read = false;      // since the last update
  Tensor value;
  // Rebuilds the part of `value` derived from master rows [begin, end). Both bounds are multiples of `row_unit`; `end`
  // may also be the row count. `read_soon` keeps the result in cache; otherwise large copies are written with
  // non-temporal stores.
  std::function<void(std::int64_t begin, std::int64_t end, bool read_soon)> fill;
  std::int64_t row_unit = 1;  // a power of two
};

// A trainable array: slices of the store's arenas. Most parameters have one part, named as in Hugging Face. Query, key
// and value are one parameter of three parts, so that one matmul computes all three.
struct Parameter {
  struct Part {
    std::string name;
    Shape shape;
    std::int64_t offset = 0;  // elements from the parameter's first
  };

  std::vector<Part> parts;
  Shape shape;
  bool is_norm = false;       // belongs to a normalisation layer; weight decay skips it
  bool is_embedding = false;  // rows are looked up, not multiplied
  std::int64_t offset = 0;    // first element in the arenas
  Tensor master;              // f32: what the optimizer updates and the checkpoint stores
  Tensor grad;                // f32
  bool has_grad = false;      // `grad` holds a contribution of this step: add to it; otherwise overwrite it
  RowSet grad_rows;           // of an embedding: rows of `grad` that may differ from zero; all others are zero
  std::uint64_t version = 1;  // counts the changes of master
  std::vector<Replica> replicas;

  std::int64_t arena_end() const;  // the element of the arenas at which the next parameter begins
  Tensor master_part(const Part& part) const;
  Tensor grad_part(const Part& part) const;
  void clear_grad();  // zeroes the gradient; rows outside grad_rows are zero already and are not touched
  void begin_grad();  // zeroes the gradient unless it holds a contribution of this step
};

// All parameters of a model in contiguous arenas. Parameters are registered in order of use and laid out in reverse
// order, so gradients complete from the arena's beginning to its end while backward runs.
class ParameterStore {
 public:
  // Before allocate() only. The parts are stacked along the first axis.
  Parameter& add(std::vector<Parameter::Part> parts, bool is_norm = false);
  void allocate();  // contents are undefined until weights are loaded or initialised and gradients written

  std::int64_t size() const { return size_; }  // elements of an arena, with the gaps for alignment
  std::int64_t element_count() const;          // elements without the gaps
  const Tensor& master() const { return master_; }
  const Tensor& grad() const { return grad_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }  // in order of use
  bool contains(std::string_view name) const;

  void zero_grad();  // starts a step: the next contribution to each gradient overwrites it
  // Zeroes gradients without a contribution in this step, such as those of an unused layer.
  void complete_grads();
  void mark_changed();  // call after masters were written: 16-bit copies are out of date

 private:
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::int64_t size_ = 0;
  Tensor master_, grad_;
};

}  // namespace hearth
