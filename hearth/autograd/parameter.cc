#include "hearth/autograd/parameter.h"

#include <algorithm>
#include <iterator>
#include <ranges>

#include "hearth/cpu/parallel.h"

namespace hearth {
namespace {

constexpr std::int64_t kAlignedElements = 16;  // a cache line of f32

Tensor part_of(const Tensor& whole, const Parameter::Part& part) {
  return whole.reshape({whole.size()}).slice(part.offset, part.offset + part.shape.size()).reshape(part.shape);
}

}  // namespace

std::int64_t Parameter::arena_end() const {
  return offset + (shape.size() + kAlignedElements - 1) / kAlignedElements * kAlignedElements;
}

Tensor Parameter::master_part(const Part& part) const { return part_of(master, part); }
Tensor Parameter::grad_part(const Part& part) const { return part_of(grad, part); }

void Parameter::clear_grad() {
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
  if (is_embedding) grad_rows = RowSet::none(shape[0]);
}

void Parameter::begin_grad() {
  if (!has_grad) clear_grad();
  has_grad = true;
}

Parameter& ParameterStore::add(std::vector<Parameter::Part> parts, bool is_norm) {
  check(!master_.defined(), "[ParameterStore] {} added after the arenas were allocated", parts.front().name);
  auto parameter = std::make_unique<Parameter>();
  std::int64_t rows = 0, offset = 0;
  for (Parameter::Part& part : parts) {
    check(!contains(part.name) && std::ranges::count(parts, part.name, &Parameter::Part::name) == 1,
          "[ParameterStore] two parameters are named {}", part.name);
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

void ParameterStore::allocate() {
  size_ = 0;
  for (const auto& parameter : parameters_ | std::views::reverse) {
    parameter->offset = size_;
    size_ = parameter->arena_end();
  }
  master_ = Tensor({size_}, DType::f32);
  grad_ = Tensor({size_}, DType::f32);
  for (const auto& parameter : parameters_) {
    const std::int64_t begin = parameter->offset, end = begin + parameter->shape.size();
    // Optimizers and norms run over whole arenas, so the gaps between parameters must be zero.
    master_.slice(end, parameter->arena_end()).fill_zero();
    grad_.slice(end, parameter->arena_end()).fill_zero();
    parameter->master = master_.slice(begin, end).reshape(parameter->shape);
    parameter->grad = grad_.slice(begin, end).reshape(parameter->shape);
  }
}

std::int64_t ParameterStore::element_count() const {
  std::int64_t count = 0;
  for (const auto& parameter : parameters_) count += parameter->shape.size();
  return count;
}

bool ParameterStore::contains(std::string_view name) const {
  return std::ranges::any_of(parameters_, [&](const auto& parameter) {
    return std::ranges::any_of(parameter->parts, [&](const auto& part) { return part.name == name; });
  });
}

void ParameterStore::zero_grad() {
  for (const auto& parameter : parameters_) parameter->has_grad = false;
}

void ParameterStore::complete_grads() {
  for (const auto& parameter : parameters_) parameter->begin_grad();
}

void ParameterStore::mark_changed() {
  for (const auto& parameter : parameters_) ++parameter->version;
}

}  // namespace hearth
