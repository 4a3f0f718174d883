#pragma once

#include "hearth/data/data_loader.h"
#include "hearth/data/dataset.h"

namespace hearth::python {

// The data of a Trainer or a DataLoader as Python holds it.
struct DatasetHandle {
  DatasetPtr data;
};

}  // namespace hearth::python
