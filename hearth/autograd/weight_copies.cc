#include "hearth/autograd/weight_copies.h"

#include <algorithm>

#include "hearth/autograd/parameter.h"
#include "hearth/base/check.h"
#include "hearth/base/profiler.h"
#include "hearth/kernels/gemm/gemm.h"
#include "hearth/kernels/rows/elementwise.h"

namespace hearth {
namespace {

using Layout = WeightForm::Layout;

// A matmul's right operand B (k, n) is W itself, or W^T if the layout is packed_transposed.
kernels::PackArgs pack_args(const Parameter& parameter, const WeightForm& form) {
  const bool transposed = form.layout == Layout::packed_transposed;
  kernels::PackArgs args;
  args.k = parameter.shape[transposed ? 1 : 0];
  args.n = parameter.shape[transposed ? 0 : 1];
  args.type = form.type;
  args.ldb = parameter.shape[1];
  args.b_transposed = transposed;
  return args;
}

Tensor space_for(const Parameter& parameter, const WeightForm& form) {
  if (form.layout == Layout::plain) return Tensor(parameter.shape, form.type);
  const kernels::PackArgs args = pack_args(parameter, form);
  return Tensor({kernels::choose_gemm(form.type).packed_bytes(form.type, args.k, args.n)}, DType::u8);
}

// The parameter's values in f32; a temporary array if they are stored in 16 bits.
Tensor f32_values(const Parameter& parameter) {
  const Tensor& stored = parameter.master;
  if (stored.type() == DType::f32) return stored;
  Tensor values(stored.shape(), DType::f32);
  kernels::convert(stored.type(), stored.raw(), DType::f32, values.raw(), values.size());
  return values;
}

}  // namespace

std::int64_t WeightCopy::row_unit() const { return form.layout == Layout::plain ? 1 : kernels::kPackedRows; }

const Tensor& acquire(Parameter& parameter, WeightForm form) {
  check(parameter.master.defined(),
        "{} has no memory yet: call initialise(seed) or load_weights(folder) of its model before forward",
        parameter.parts.front().name);
  if (form.layout == Layout::plain && form.type == parameter.master.type()) return parameter.master;
  const std::lock_guard lock(parameter.copying);
  auto copy = std::ranges::find(parameter.copies, form, &WeightCopy::form);
  if (copy == parameter.copies.end())
    copy = parameter.copies.insert(copy, {.form = form, .value = space_for(parameter, form)});
  if (copy->version != parameter.version) {
    const Span span("weight conversion");
    rebuild(parameter, *copy, 0, parameter.shape[0], true);
    copy->version = parameter.version;
  }
  copy->was_read = true;
  return copy->value;
}

void rebuild(const Parameter& parameter, const WeightCopy& copy, std::int64_t begin, std::int64_t end, bool read_soon) {
  if (copy.form.layout == Layout::plain) {
    const Tensor from = parameter.master.slice(begin, end), to = copy.value.slice(begin, end);
    kernels::convert(from.type(), from.raw(), to.type(), to.raw(), to.size());
    return;
  }
  const Tensor values = f32_values(parameter);
  kernels::PackArgs args = pack_args(parameter, copy.form);
  args.b = values.data<float>();
  args.packed = copy.value.raw();
  args.row_begin = begin;
  args.row_end = end;
  args.non_temporal = !read_soon && copy.value.bytes() >= kernels::kLargeBytes;
  kernels::choose_gemm(copy.form.type).pack(args);
}

void drop_unread_copies(Parameter& parameter) {
  std::erase_if(parameter.copies, [](const WeightCopy& copy) { return !copy.was_read; });
}

void mark_copies_unread(Parameter& parameter) {
  for (WeightCopy& copy : parameter.copies) copy.was_read = false;
}

}  // namespace hearth
