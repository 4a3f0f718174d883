#include "hearth/report/tensorboard.h"

#include <fmt/chrono.h>

#include <ctime>

#include "hearth/autograd/parameter.h"
#include "hearth/comm/world.h"
#include "hearth/ops/cast.h"
#include "hearth/train/program_flags.h"

namespace hearth::report {

std::string tensorboard_tag(std::string_view metric) {
  for (const std::string_view split : {"eval", "test"})
    if (metric.starts_with(std::string(split) + "_"))
      return fmt::format("{}/{}", split, metric.substr(split.size() + 1));
  return fmt::format("train/{}", metric);
}

std::string tensorboard_folder_name() {
  return fmt::format("{:%b%d_%H-%M-%S}_{}", fmt::localtime(std::time(nullptr)), comm::host_name());
}

void TensorBoard::begin(const TrainingProgress& progress) {
  file_.emplace(facts_.logging_dir.empty() ? facts_.output_dir / "runs" / tensorboard_folder_name()
                                           : facts_.logging_dir);
  if (progress.global_step > 0) file_->add_restart(progress.global_step + 1);
  file_->add_text("args", io::dump_json(to_json(facts_.settings), 2));
  file_->add_text("model_config", io::dump_json(facts_.model_config, 2));
}

void TensorBoard::row(const TrainingProgress& progress, const Metrics& row) {
  if (!file_) return;
  std::vector<std::pair<std::string, double>> scalars;
  for (const auto& [name, value] : row)
    if (name != "step") scalars.emplace_back(tensorboard_tag(name), value.as_double());
  file_->add_scalars(progress.global_step, scalars);
  if (facts_.histograms != nullptr && row.contains("loss")) add_histograms(progress);
}

// The gradients are those of the last step, before clipping.
void TensorBoard::add_histograms(const TrainingProgress& progress) {
  const double scale = progress.steps == nullptr ? 1 : progress.steps->loss_scale;
  for (const NamedParameter& each : facts_.histograms->named()) {
    const Tensor values = ops::in_dtype(each.value, DType::f32);
    const auto add = [&](const std::string& tag, std::span<const float> numbers) {
      file_->add_histogram(progress.global_step, tag, histogram_of(numbers));
    };
    add("weights/" + each.name, {values.data<float>(), static_cast<std::size_t>(values.size())});
    if (!each.grad.defined()) continue;
    std::vector<float> gradients(each.grad.data<float>(), each.grad.data<float>() + each.grad.size());
    for (float& gradient : gradients) gradient = static_cast<float>(gradient / scale);
    add("gradients/" + each.name, gradients);
  }
}

}  // namespace hearth::report
