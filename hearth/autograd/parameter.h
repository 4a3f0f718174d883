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

// A copy of a parameter in the format and layout that a product reads, made again when the parameter has changed.
struct Replica {
  int kind = 0;  // whoever makes replicas numbers their kinds
  std::uint64_t version = 0;
  bool was_read = false;  // since the last update
  Tensor value;
  // Makes what depends on the rows [begin, end) of the master; begin is a multiple of `row_unit`, end too or the last.
  // `soon`: it is about to be read.
  std::function<void(std::int64_t begin, std::int64_t end, bool soon)> fill;
  std::int64_t row_unit = 1;  // a power of two
};

// A trainable array: slices of the store's arenas. Mostly it has one name, the Hugging Face one; query, key and value
// are one parameter of three parts, so that they feed one product.
struct Parameter {
  struct Part {
    std::string name;
    Shape shape;
    std::int64_t offset = 0;  // elements from the parameter's first
  };

  std::vector<Part> parts;
  Shape shape;
  bool is_norm = false;       // belongs to a normalisation layer, which weight decay leaves alone
  bool is_embedding = false;  // rows are looked up, not multiplied
  std::int64_t offset = 0;    // elements from the arenas' first
  Tensor master;              // f32: what the optimizer updates and the checkpoint stores
  Tensor grad;                // f32
  bool has_grad = false;      // this step's gradient has begun: add to it; else overwrite what is there
  RowSet grad_rows;           // of an embedding: whoever writes the gradient keeps rows outside the set zero
  std::uint64_t version = 1;  // counts the changes of master
  std::vector<Replica> replicas;

  std::int64_t arena_end() const;  // where the next parameter begins, in elements from the arenas' first
  Tensor master_part(const Part& part) const;
  Tensor grad_part(const Part& part) const;
  void clear_grad();  // makes it zero, without touching rows that are
  void begin_grad();  // unless this step's has begun, it begins as zero
};

// All parameters of a model in contiguous arenas, laid out in reverse order of registration, which is the order of
// use: so gradients complete from the arena's beginning to its end while backward runs.
class ParameterStore {
 public:
  // Before allocate() only. The parts are stacked along the first axis.
  Parameter& add(std::vector<Parameter::Part> parts, bool is_norm = false);
  void allocate();  // contents are undefined: weights are loaded or initialised, gradients written

  std::int64_t size() const { return size_; }  // of an arena, gaps for alignment included
  std::int64_t element_count() const;          // without the gaps
  const Tensor& master() const { return master_; }
  const Tensor& grad() const { return grad_; }
  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }  // in order of use
  bool contains(std::string_view name) const;

  void zero_grad();  // no gradient has begun
  // Gradients that this step never began, such as those of an unused layer, become zero.
  void complete_grads();
  void mark_changed();  // every master was written

 private:
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::int64_t size_ = 0;
  Tensor master_, grad_;
};

}  // namespace hearth
