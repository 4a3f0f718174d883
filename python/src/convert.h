#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "hearth/base/argument_value.h"
#include "hearth/io/json_fwd.h"
#include "hearth/metrics/metrics.h"
#include "hearth/tensor/tensor.h"

// Values of Hearth as Python objects, and back. The caller has the GIL.
namespace hearth::python {

nanobind::object to_python(const io::Json& json);
nanobind::object to_python(const ArgumentValue& value);
nanobind::dict to_python(const Metrics& metrics);
Metrics to_metrics(const nanobind::dict& values);

// A NumPy array that shares the tensor's memory; bf16, which NumPy does not have, as an object for DLPack alone.
nanobind::object array_of(const Tensor& tensor);
// A NumPy array of its own.
nanobind::object array_of(std::vector<std::int64_t> values, std::vector<std::size_t> shape);
nanobind::object array_of(std::vector<float> values, std::vector<std::size_t> shape);

}  // namespace hearth::python
