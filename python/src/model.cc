#include "hearth/hub/model.h"

#include <nanobind/ndarray.h>

#include <algorithm>

#include "batch.h"
#include "bindings.h"
#include "convert.h"
#include "hearth/base/check.h"
#include "hearth/models/pretrained.h"
#include "hearth/ops/cast.h"
#include "hearth/optim/optimizer.h"

namespace hearth::python {
namespace {

using models::HeadKind, models::Pretrained, models::ProblemType;

constexpr HeadKind kHeads[] = {HeadKind::question_answering, HeadKind::sequence_classification,
                               HeadKind::token_classification, HeadKind::masked_lm, HeadKind::embedding};

template <class Value, std::size_t N>
Value named(const Value (&values)[N], const std::string& name, const char* what) {
  const auto found = std::ranges::find_if(values, [&](Value value) { return models::name_of(value) == name; });
  check(found != std::end(values), "there is no {} '{}'", what, name);
  return *found;
}

constexpr ProblemType kProblems[] = {ProblemType::regression, ProblemType::single_label_classification,
                                     ProblemType::multi_label_classification};

struct LoadSettings {
  std::vector<std::string> labels;
  std::optional<std::string> problem_type;
  models::LoadOptions loading;
};

models::HeadSpec head_of(const std::string& head, const LoadSettings& settings) {
  models::HeadSpec spec(named(kHeads, head, "head"));
  spec.labels = settings.labels;
  if (settings.problem_type) spec.problem = named(kProblems, *settings.problem_type, "problem_type");
  return spec;
}

std::shared_ptr<Pretrained> load(const std::string& folder, const std::string& head, const LoadSettings& settings) {
  return models::load_pretrained(folder, head_of(head, settings), settings.loading);
}

std::shared_ptr<Pretrained> initialised(const std::string& folder, const std::string& head,
                                        const LoadSettings& settings) {
  return models::build_model(models::load_config(folder, settings.loading), head_of(head, settings),
                             settings.loading.seed, settings.loading.freezing);
}

void copy_values(const NamedParameter& to, const Tensor& values) {
  check(values.shape() == to.value.shape(), "{}: the values have the shape {}, the parameter {}", to.name,
        values.shape().to_string(), to.value.shape().to_string());
  to.value.copy_from(values.type() == to.value.type() ? values : ops::in_dtype(values, to.value.type()));
}

nb::list named_parameters(const Pretrained& model) {
  nb::list list;
  for (const NamedParameter& each : model.parameters().named())
    list.append(
        nb::make_tuple(each.name, array_of(each.value), each.parameter->trainable, optim::decays(*each.parameter)));
  return list;
}

// None if the parameter is frozen. The program may write to the array.
nb::object gradient(const Pretrained& model, const std::string& name) {
  for (const NamedParameter& each : model.parameters().named()) {
    if (each.name != name || !each.grad.defined()) continue;
    each.parameter->expose_grad();
    return array_of(each.grad);
  }
  return nb::none();
}

}  // namespace

void bind_model(nb::module_& m) {
  m.def(
      "find_model",
      [](const std::string& name, bool tokenizer_alone, const std::string& cache_dir, const std::string& token,
         const std::string& revision) {
        return hub::find_model(name, tokenizer_alone ? hub::ModelParts::tokenizer : hub::ModelParts::all,
                               {cache_dir, token}, revision.empty() ? std::string(hub::kMainRevision) : revision)
            .string();
      },
      nb::arg("name"), nb::arg("tokenizer_alone") = false, nb::arg("cache_dir") = "", nb::arg("token") = "",
      nb::arg("revision") = "", WithoutGil());
  m.def("config_of", [](const std::string& folder) { return to_python(models::load_config(folder).values()); });

  nb::class_<LoadSettings>(m, "LoadSettings")
      .def(nb::init<>())
      .def_rw("labels", &LoadSettings::labels)
      .def_rw("problem_type", &LoadSettings::problem_type, nb::arg().none())
      .def_prop_rw(
          "seed", [](const LoadSettings& self) { return self.loading.seed; },
          [](LoadSettings& self, std::uint64_t seed) { self.loading.seed = seed; })
      .def_prop_rw(
          "config_overrides", [](const LoadSettings& self) { return self.loading.config_overrides; },
          [](LoadSettings& self, const std::string& text) { self.loading.config_overrides = text; })
      .def_prop_rw(
          "ignore_mismatched_sizes", [](const LoadSettings& self) { return self.loading.ignore_mismatched_sizes; },
          [](LoadSettings& self, bool ignores) { self.loading.ignore_mismatched_sizes = ignores; })
      .def(
          "freeze",
          [](LoadSettings& self, const std::vector<std::string>& names, std::optional<std::int64_t> layers) {
            self.loading.freezing = {names, layers};
          },
          nb::arg("names"), nb::arg("layers").none());

  nb::class_<Pretrained>(m, "Model")
      .def_static("load", load, WithoutGil())
      .def_static("initialised", initialised, WithoutGil())
      .def("config", [](const Pretrained& self) { return to_python(self.config().values()); })
      .def_prop_ro("architecture", &Pretrained::architecture)
      .def_prop_ro("head", [](const Pretrained& self) { return std::string(models::name_of(self.head())); })
      .def_prop_ro("label_names", [](const Pretrained& self) { return self.config().label_names(); })
      .def_prop_ro("max_positions", &Pretrained::max_positions)
      .def("named_parameters", named_parameters)
      .def("gradient", gradient)
      .def("set_parameter",
           [](Pretrained& self, const std::string& name, const nb::ndarray<const float, nb::c_contig>& values) {
             for (const NamedParameter& each : self.parameters().named()) {
               if (each.name != name) continue;
               std::vector<std::int64_t> dims;
               for (std::size_t axis = 0; axis < values.ndim(); ++axis)
                 dims.push_back(static_cast<std::int64_t>(values.shape(axis)));
               copy_values(each, Tensor::of({values.data(), values.size()}, Shape(dims)));
               return self.parameters().mark_changed();
             }
             fail("there is no parameter {}", name);
           })
      .def("mark_changed", [](Pretrained& self) { self.parameters().mark_changed(); })
      .def("element_count",
           [](const Pretrained& self, bool only_trainable) {
             return only_trainable ? self.parameters().trainable_count() : self.parameters().element_count();
           })
      .def(
          "save", [](const Pretrained& self, const std::string& folder) { self.save_pretrained(folder); },
          WithoutGil());
}

}  // namespace hearth::python
