#pragma once

#include <nanobind/nanobind.h>

#include "hearth/nn/model_output.h"
#include "hearth/tensor/batch.h"

namespace hearth::python {

// A packed batch as Python holds it.
struct PackedBatch {
  BatchPtr batch;
};

// Logits as NumPy arrays by name: (S, ...), or (S, L, ...) with zeros behind the tokens of shorter sequences.
nanobind::dict logits_of(const Batch& batch, const nn::ModelOutput& output);

}  // namespace hearth::python
