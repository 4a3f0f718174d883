#include "hearth/accelerate/accelerator.h"

#include <span>

#include "batch.h"
#include "bindings.h"
#include "hearth/base/profiler.h"
#include "hearth/models/pretrained.h"
#include "hearth/ops/elementwise.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"

namespace hearth::python {
namespace {

using models::Pretrained;

// A loss of a forward pass. It keeps the model whose tape recorded it.
struct Loss {
  Var value;
  PreparedModel model;
};

// The loss, or None, and the logits by name.
nb::tuple call(PreparedModel& model, const PackedBatch& packed) {
  nn::ModelOutput output;
  {
    const nb::gil_scoped_release without_gil;
    output = model(packed.batch);
  }
  nb::object loss = nb::none();
  if (output.loss.defined()) loss = nb::cast(Loss{output.loss, model});
  return nb::make_tuple(loss, logits_of(*packed.batch, output));
}

nb::bytes bytes_of(const std::vector<std::byte>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

std::vector<std::byte> vector_of(const nb::bytes& bytes) {
  const auto* const data = static_cast<const std::byte*>(bytes.data());
  return {data, data + bytes.size()};
}

}  // namespace

void bind_accelerator(nb::module_& m) {
  nb::class_<Loss>(m, "Loss")
      .def("item", [](const Loss& self) { return double{self.value.value().item()}; })
      .def("has_tape", [](const Loss& self) { return self.value.tape() != nullptr; })
      .def("scaled", [](const Loss& self, float factor) {
        return Loss{ops::scale(self.model.context(), self.value, factor), self.model};
      });

  nb::class_<PreparedModel>(m, "PreparedModel")
      .def("train", &PreparedModel::train)
      .def("eval", &PreparedModel::eval)
      .def("__call__", call);

  nb::class_<optim::Optimizer>(m, "Optimizer")
      .def_static("make",
                  [](const std::shared_ptr<Pretrained>& model, const std::string& name, double lr, double beta1,
                     double beta2, double eps, double weight_decay, bool decays_all) {
                    optim::OptimizerOptions options{.name = name,
                                                    .beta1 = beta1,
                                                    .beta2 = beta2,
                                                    .eps = eps,
                                                    .weight_decay = weight_decay,
                                                    .decays_all = decays_all,
                                                    .lr = lr};
                    return std::shared_ptr<optim::Optimizer>(optim::make_optimizer(options, model->parameters()));
                  })
      .def_prop_rw("lr", &optim::Optimizer::lr, &optim::Optimizer::set_lr);

  nb::class_<optim::LrScheduler>(m, "LrScheduler")
      .def(
          "__init__",
          [](optim::LrScheduler* self, const std::shared_ptr<optim::Optimizer>& optimizer, const std::string& name,
             std::int64_t warmup_steps, std::int64_t total_steps) {
            new (self) optim::LrScheduler(*optimizer,
                                          {.name = name, .warmup_steps = warmup_steps, .total_steps = total_steps});
          },
          nb::keep_alive<1, 2>())
      .def("step", &optim::LrScheduler::step)
      .def_prop_ro("lr", &optim::LrScheduler::lr);

  nb::class_<PreparedOptimizer>(m, "PreparedOptimizer")
      .def(
          "step",
          [](PreparedOptimizer& self) {
            const Span span("optimizer");
            self.step();
          },
          WithoutGil())
      .def("zero_grad", &PreparedOptimizer::zero_grad, WithoutGil())
      .def("clip_grad_norm", &PreparedOptimizer::clip_grad_norm, WithoutGil())
      .def_prop_ro("step_was_skipped", &PreparedOptimizer::step_was_skipped);

  nb::class_<PreparedScheduler>(m, "PreparedScheduler").def("step", &PreparedScheduler::step);

  nb::class_<Accelerator>(m, "Accelerator")
      .def(
          "__init__",
          [](Accelerator* self, std::optional<std::string> mixed_precision, std::int64_t accumulation_steps,
             std::uint64_t seed, bool alone) {
            const AcceleratorOptions options{.mixed_precision = std::move(mixed_precision),
                                             .gradient_accumulation_steps = accumulation_steps,
                                             .seed = seed};
            new (self) Accelerator(options, alone ? parallel::Team() : process_team());
          },
          nb::arg("mixed_precision").none(), nb::arg("gradient_accumulation_steps"), nb::arg("seed"), nb::arg("alone"),
          WithoutGil())
      .def(
          "prepare_model",
          [](Accelerator& self, const std::shared_ptr<Pretrained>& model) { return self.prepare(model); }, WithoutGil())
      .def(
          "prepare_optimizer",
          [](Accelerator& self, const std::shared_ptr<optim::Optimizer>& optimizer) { return self.prepare(optimizer); })
      .def("prepare_loader", [](Accelerator& self, const DataLoader& loader) { return self.prepare(loader); })
      .def(
          "prepare_scheduler",
          [](Accelerator& self, const optim::LrScheduler& schedule) { return self.prepare(schedule); },
          nb::keep_alive<0, 2>())
      .def(
          "backward",
          [](Accelerator& self, const Loss& loss) {
            const Span span("backward");
            self.backward(loss.value);
          },
          WithoutGil())
      .def_prop_ro("sync_gradients", &Accelerator::sync_gradients)
      .def("gather",
           [](const Accelerator& self, const nb::bytes& bytes, bool for_metrics) {
             const std::vector<std::byte> mine = vector_of(bytes);
             std::vector<std::byte> all;
             {
               const nb::gil_scoped_release without_gil;
               all = for_metrics ? self.gather_for_metrics(mine) : self.gather(mine);
             }
             return bytes_of(all);
           })
      .def_prop_ro("process_index", &Accelerator::process_index)
      .def_prop_ro("num_processes", &Accelerator::num_processes)
      .def_prop_ro("is_first_of_host", [](const Accelerator& self) { return self.team().is_first_of_host(); })
      .def("wait_for_everyone", &Accelerator::wait_for_everyone, WithoutGil());
}

}  // namespace hearth::python
