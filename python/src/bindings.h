#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hearth/parallel/team.h"
#include "hearth/train/training_arguments.h"

// The Python module: each file binds the classes of one noun. What Python users see is made of them in python/hearth.
namespace hearth::python {

namespace nb = nanobind;

// Everything that computes, waits or logs runs without the GIL.
using WithoutGil = nb::call_guard<nb::gil_scoped_release>;

void bind_arguments(nb::module_& m);
void bind_batch(nb::module_& m);
void bind_model(nb::module_& m);
void bind_tokenizer(nb::module_& m);
void bind_datasets(nb::module_& m);
void bind_trainer(nb::module_& m);
void bind_accelerator(nb::module_& m);
void bind_pipelines(nb::module_& m);

// A Python object that C++ threads without the GIL may hold and let go.
class Held {
 public:
  explicit Held(nb::object object) : object_(std::move(object)) {}
  ~Held() {
    const nb::gil_scoped_acquire gil;
    object_.reset();
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  const nb::object& get() const { return object_; }  // with the GIL

 private:
  nb::object object_;
};

// The processes of this job, joined at the first call; the arguments of later calls do not count.
const parallel::Team& process_team(const TrainingArguments& args = {});

}  // namespace hearth::python
