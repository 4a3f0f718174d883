#include "hearth/autograd/parameter.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hearth/base/check.h"
#include "hearth/base/rounding.h"
#include "hearth/cpu/parallel.h"

namespace hearth {
namespace {

Tensor part_of(const Tensor& whole, const Parameter::Part& part) {
  return whole.reshape({whole.size()}).slice(part.offset, part.offset + part.shape.size()).reshape(part.shape);
}

std::vector<std::string_view> names_of(const Parameter& parameter) {
  std::vector<std::string_view> names;
  for (const Parameter::Part& part : parameter.parts) names.push_back(part.name);
  return names;
}

}  // namespace

std::int64_t Parameter::arena_end() const { return offset + round_up(shape.size(), kAlignedElements); }

Tensor Parameter::master_part(const Part& part) const { return part_of(master, part); }
Tensor Parameter::grad_part(const Part& part) const { return part_of(grad, part); }

void Parameter::store_as(DType type) {
  check(!trainable, "[Parameter] {} is trainable, so it is stored in fp32", parts.front().name);
  master = Tensor(shape, type);
}

void Parameter::clear_grad() {
  grad_squares.reset();
  if (grad_rows.is_all()) {
    grad.fill_zero();
  } else {
    constexpr std::int64_t kRowsOfTask = 64;
    const std::vector<std::int32_t> rows = grad_rows.list();
    cpu::parallel_chunks(std::ssize(rows), kRowsOfTask, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        std::fill_n(grad.data<float>() + rows[static_cast<std::size_t>(i)] * grad.row_size(), grad.row_size(), 0.0f);
    });
  }
  if (is_embedding && !grad_is_exposed) grad_rows = RowSet::none(shape[0]);
}

void Parameter::complete_grad() {
  if (!has_grad) clear_grad();
  has_grad = true;
}

void Parameter::begin_grad() {
  complete_grad();
  grad_squares.reset();
}

void Parameter::expose_grad() {
  grad_is_exposed = true;
  grad_rows.add_all();
}

Parameter& ParameterStore::add(std::vector<Parameter::Part> parts, bool is_norm) {
  check(!is_allocated(), "[ParameterStore] {} added after the arenas were allocated", parts.front().name);
  auto parameter = std::make_unique<Parameter>();
  parameter->store = this;
  std::int64_t rows = 0, offset = 0;
  for (Parameter::Part& part : parts) {
    check(names_.insert(part.name).second, "[ParameterStore] two parameters are named {}", part.name);
    check(part.shape.with_first(1) == parts.front().shape.with_first(1),
          "[ParameterStore] {} {} does not stack with {} {}", part.name, part.shape.to_string(), parts.front().name,
          parts.front().shape.to_string());
    part.offset = offset;
    offset += part.shape.size();
    rows += part.shape[0];
  }
  parameter->shape = parts.front().shape.with_first(rows);
  parameter->parts = std::move(parts);
  parameter->is_norm = is_norm;
  return *parameters_.emplace_back(std::move(parameter));
}

void ParameterStore::freeze(const std::function<bool(std::string_view name)>& chosen) {
  check(!is_allocated(), "[ParameterStore] parameters are frozen before the arenas are allocated");
  for (const auto& parameter : parameters_) {
    const auto is_chosen = [&](const Parameter::Part& part) { return chosen(part.name); };
    const auto count = std::ranges::count_if(parameter->parts, is_chosen);
    check(count == 0 || count == std::ssize(parameter->parts),
          "only a part of {} would be frozen: the weights of query, key and value are one matrix here, so freeze all "
          "three or none",
          fmt::join(names_of(*parameter), ", "));
    if (count > 0) parameter->trainable = false;
  }
}

void ParameterStore::allocate() {
  size_ = 0;
  for (Parameter* parameter : in_arena_order()) {
    parameter->offset = size_;
    size_ = parameter->arena_end();
  }
  move_arenas(Tensor({size_}, DType::f32), Tensor({size_}, DType::f32));
  for (const auto& parameter : parameters_) {
    if (!parameter->trainable) {
      parameter->store_as(DType::f32);
      continue;
    }
    // Optimizers and norms run over whole arenas, so the gaps between parameters must be zero.
    const std::int64_t end = parameter->offset + parameter->shape.size();
    master_.slice(end, parameter->arena_end()).fill_zero();
    grad_.slice(end, parameter->arena_end()).fill_zero();
  }
}

void ParameterStore::move_arenas(const Tensor& master, const Tensor& grad) {
  master_ = master;
  grad_ = grad;
  for (Parameter* parameter : trainable()) {
    const std::int64_t begin = parameter->offset, end = begin + parameter->shape.size();
    parameter->master = master_.slice(begin, end).reshape(parameter->shape);
    parameter->grad = grad_.slice(begin, end).reshape(parameter->shape);
    parameter->grad_squares.reset();
  }
}

void ParameterStore::check_allocated() const {
  check(is_allocated(),
        "[ParameterStore] the parameters have no memory yet: call initialise(seed) or load_weights(folder) of the "
        "model first");
}

std::int64_t ParameterStore::element_count() const {
  std::int64_t count = 0;
  for (const auto& parameter : parameters_) count += parameter->shape.size();
  return count;
}

std::int64_t ParameterStore::trainable_count() const {
  std::int64_t count = 0;
  for (const Parameter* parameter : trainable()) count += parameter->shape.size();
  return count;
}

std::vector<Parameter*> ParameterStore::trainable() const {
  std::vector<Parameter*> result;
  for (const auto& parameter : parameters_)
    if (parameter->trainable) result.push_back(parameter.get());
  return result;
}

std::vector<Parameter*> ParameterStore::in_arena_order() const {
  std::vector<Parameter*> result = trainable();
  std::ranges::reverse(result);
  return result;
}

std::vector<NamedParameter> ParameterStore::named() const {
  check_allocated();
  std::vector<NamedParameter> result;
  for (const auto& parameter : parameters_)
    for (const Parameter::Part& part : parameter->parts)
      result.push_back({part.name, parameter.get(), parameter->master_part(part),
                        parameter->trainable ? parameter->grad_part(part) : Tensor()});
  return result;
}

void ParameterStore::zero_grad() {
  for (Parameter* parameter : trainable()) {
    parameter->has_grad = false;
    parameter->grad_squares.reset();
  }
}

void ParameterStore::complete_grads() {
  check_allocated();
  for (Parameter* parameter : trainable()) parameter->complete_grad();
}

void ParameterStore::mark_changed() {
  for (const auto& parameter : parameters_) ++parameter->version;
}

void ParameterStore::mark_updated() {
  for (Parameter* parameter : trainable()) ++parameter->version;
}

}  // namespace hearth
