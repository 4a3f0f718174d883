#include "batch.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>

#include "bindings.h"
#include "convert.h"
#include "hearth/base/check.h"

namespace hearth::python {
namespace {

using Ids = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntLabels = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;
using FloatLabels = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

std::int64_t longest(const Batch& batch) {
  std::int64_t longest = 0;
  for (std::int64_t s = 0; s < batch.sequences(); ++s)
    longest =
        std::max(longest, batch.starts[static_cast<std::size_t>(s) + 1] - batch.starts[static_cast<std::size_t>(s)]);
  return longest;
}

// Values per token, `width` of them, as rows of the longest sequence.
template <class To, class From>
std::vector<To> padded(const From* values, const Batch& batch, std::int64_t width, To padding) {
  const std::int64_t row = longest(batch) * width;
  std::vector<To> result(static_cast<std::size_t>(batch.sequences() * row), padding);
  for (std::int64_t s = 0; s < batch.sequences(); ++s)
    std::copy(values + batch.starts[static_cast<std::size_t>(s)] * width,
              values + batch.starts[static_cast<std::size_t>(s) + 1] * width, result.begin() + s * row);
  return result;
}

std::vector<std::size_t> shape_of(const Batch& batch) {
  return {static_cast<std::size_t>(batch.sequences()), static_cast<std::size_t>(longest(batch))};
}

// The arrays that a batch of transformers has.
nb::dict arrays_of(const PackedBatch& packed, std::int64_t pad_id) {
  const Batch& batch = *packed.batch;
  const auto sequences = static_cast<std::size_t>(batch.sequences());
  nb::dict arrays;
  arrays["input_ids"] = array_of(padded<std::int64_t>(batch.input_ids.data(), batch, 1, pad_id), shape_of(batch));
  arrays["token_type_ids"] = array_of(padded<std::int64_t>(batch.token_type_ids.data(), batch, 1, 0), shape_of(batch));
  const std::vector<std::int32_t> ones(batch.input_ids.size(), 1);
  arrays["attention_mask"] = array_of(padded<std::int64_t>(ones.data(), batch, 1, 0), shape_of(batch));
  for (const auto& [name, values] : batch.labels) {
    const bool per_token = values.size() != sequences;
    arrays[name.c_str()] = per_token ? array_of(padded<std::int64_t>(values.data(), batch, 1, -100), shape_of(batch))
                                     : array_of(values, {values.size()});
  }
  for (const auto& [name, values] : batch.float_labels) {
    const std::size_t width = values.size() / sequences;
    arrays[name.c_str()] = array_of(values, width == 1 ? std::vector{sequences} : std::vector{sequences, width});
  }
  return arrays;
}

// The number of tokens of a row: ones of the mask, which stand in front.
std::int64_t length_of(const std::int64_t* mask, std::int64_t columns, std::int64_t row) {
  const auto end = std::find(mask, mask + columns, 0);
  check(std::find_if(end, mask + columns, [](std::int64_t value) { return value != 0; }) == mask + columns,
        "attention_mask: row {} has a 0 in front of a 1; Hearth reads texts that are padded at their end", row);
  return end - mask;
}

template <class Labels>
void check_rows(const Labels& labels, const std::string& name, std::size_t rows) {
  check(labels.ndim() >= 1 && labels.shape(0) == rows, "{} has {} rows, but input_ids has {}", name,
        labels.ndim() == 0 ? 0 : labels.shape(0), rows);
}

PackedBatch pack(const Ids& ids, const std::optional<Ids>& mask, const std::optional<Ids>& types,
                 const std::map<std::string, IntLabels>& labels, const std::map<std::string, FloatLabels>& float_labels,
                 std::uint32_t first_sample) {
  const auto rows = ids.shape(0), columns = ids.shape(1);
  for (const auto* other : {&mask, &types})
    check(!*other || ((*other)->shape(0) == rows && (*other)->shape(1) == columns),
          "attention_mask and token_type_ids need the shape of input_ids, ({}, {})", rows, columns);
  Batch batch;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int64_t* const from = ids.data() + row * columns;
    const std::int64_t length = mask ? length_of(mask->data() + row * columns, static_cast<std::int64_t>(columns),
                                                 static_cast<std::int64_t>(row))
                                     : static_cast<std::int64_t>(columns);
    check(length > 0, "row {} of the batch has no tokens", row);
    const std::vector<std::int32_t> tokens(from, from + length);
    std::vector<std::int32_t> type_ids(tokens.size());
    if (types) std::copy_n(types->data() + row * columns, length, type_ids.begin());
    batch.append(tokens, type_ids, first_sample++);
  }
  for (const auto& [name, values] : labels) {
    check_rows(values, name, rows);
    std::vector<std::int64_t>& to = batch.labels[name];
    const bool per_token = values.ndim() == 2 && values.shape(1) == columns && columns > 1;
    check(per_token || values.size() == rows,
          "{} needs one label per text, or one per token: the shape ({}) or ({}, {})", name, rows, rows, columns);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int64_t* const from = values.data() + row * (per_token ? columns : 1);
      const std::int64_t count = per_token ? batch.key_counts[row] : 1;
      to.insert(to.end(), from, from + count);
    }
  }
  for (const auto& [name, values] : float_labels) {
    check_rows(values, name, rows);
    batch.float_labels[name].assign(values.data(), values.data() + values.size());
  }
  return {shared_batch(std::move(batch))};
}

}  // namespace

nb::dict logits_of(const Batch& batch, const nn::ModelOutput& output) {
  nb::dict arrays;
  for (const auto& [name, var] : output.logits) {
    const Tensor& logits = var.value();
    if (logits.rows() == batch.sequences()) {
      arrays[name.c_str()] = array_of(logits);
      continue;
    }
    const std::int64_t length = longest(batch), width = logits.row_size();
    std::vector<std::int64_t> dims{batch.sequences(), length};
    for (const std::int64_t size : logits.shape().dims().subspan(1)) dims.push_back(size);
    if (batch.sequences() * length == batch.tokens()) {
      arrays[name.c_str()] = array_of(logits.reshape(Shape(dims)));
    } else {
      arrays[name.c_str()] = array_of(padded<float>(logits.data<float>(), batch, width, 0.0f),
                                      std::vector<std::size_t>(dims.begin(), dims.end()));
    }
  }
  return arrays;
}

void bind_batch(nb::module_& m) {
  nb::class_<PackedBatch>(m, "PackedBatch")
      .def("__len__", [](const PackedBatch& self) { return self.batch->sequences(); })
      .def("array_names",
           [](const PackedBatch& self) {
             std::vector<std::string> names{"input_ids", "token_type_ids", "attention_mask"};
             for (const auto& [name, values] : self.batch->labels) names.push_back(name);
             for (const auto& [name, values] : self.batch->float_labels) names.push_back(name);
             return names;
           })
      .def("arrays", arrays_of, nb::arg("pad_id") = 0);
  m.def("pack", pack, nb::arg("input_ids"), nb::arg("attention_mask").none(), nb::arg("token_type_ids").none(),
        nb::arg("labels"), nb::arg("float_labels"), nb::arg("first_sample") = 0);
}

}  // namespace hearth::python
