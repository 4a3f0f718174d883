#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "hearth/base/error.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/models/pretrained.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {
namespace {

constexpr double kLogits = 2e-5, kGradient = 2e-5, kZeroGradient = 1e-5, kTrajectory = 1e-4, kAfter = 1e-4;
constexpr double kZeroShare = 1e-6;  // a gradient under this share of the largest is zero in exact arithmetic

std::span<const float> floats(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.size())};
}

double largest(std::span<const float> values) {
  double result = 0;
  for (const float value : values) result = std::max(result, std::abs(double{value}));
  return result;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(double{a[i]} - b[i]);
    if (!(difference <= result)) result = difference;  // a NaN stays
  }
  return result;
}

double relative(double value, double expected) { return std::abs(value - expected) / std::abs(expected); }

// The padded batch of transformers, its padding computed as queries, as transformers does.
Batch read_batch(const io::Safetensors& file) {
  const Tensor ids = file.tensor("input_ids"), mask = file.tensor("attention_mask");
  const std::int64_t rows = ids.shape()[0], length = ids.shape()[1];
  Batch batch;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto row_of = [&](const Tensor& tensor) {
      const std::int64_t* begin = tensor.data<std::int64_t>() + row * length;
      return std::vector<std::int32_t>(begin, begin + length);
    };
    const std::vector<std::int32_t> mask_row = row_of(mask);
    batch.append(row_of(ids),
                 file.contains("token_type_ids") ? row_of(file.tensor("token_type_ids"))
                                                 : std::vector<std::int32_t>(mask_row.size()),
                 static_cast<std::uint32_t>(row));
    batch.keys.back() = std::ranges::count(mask_row, 1);
  }
  for (const char* name : {"start_positions", "end_positions", "labels"})
    if (file.contains(name)) {
      const Tensor values = file.tensor(name);
      batch.labels[name].assign(values.data<std::int64_t>(), values.data<std::int64_t>() + values.size());
    }
  return batch;
}

class ModelCheck {
 public:
  ModelCheck(const std::filesystem::path& folder, Report& report)
      : folder_(folder),
        name_("models/" + folder.filename().string()),
        report_(report),
        expected_(io::Safetensors::open(folder / "expected.safetensors")),
        batch_(read_batch(io::Safetensors::open(folder / "batch.safetensors"))),
        model_(models::load_pretrained(folder, models::head_of(models::Config::read(folder)))) {}

  void run() {
    check_forward_and_gradients();
    check_trajectory();
  }

 private:
  nn::ModelOutput forward(Tape& tape) {
    ops::Context ctx;
    ctx.tape = &tape;
    model_->parameters().zero_grad();
    return model_->forward(ctx, batch_);
  }

  void check_forward_and_gradients() {
    Tape tape;
    const nn::ModelOutput output = forward(tape);
    for (const auto& [logits_name, logits] : output.logits) {
      const Tensor expected = expected_.tensor(logits_name);
      check(expected.size() == logits.value().size(), "{}: {} has {} values, the model gives {}", name_, logits_name,
            expected.size(), logits.value().size());
      const double error = largest_difference(floats(logits.value()), floats(expected));
      report_.check(name_ + " " + logits_name, error / largest(floats(expected)), kLogits);
    }
    report_.check(name_ + " loss", relative(output.loss.value().item(), expected_.tensor("loss").item()), kLogits);
    tape.backward(output.loss, 1.0f);
    model_->parameters().complete_grads();
    check_gradients();
  }

  void check_gradients() {
    double largest_of_all = 0;
    std::size_t expected_count = 0;
    for (const std::string& entry : expected_.names())
      if (entry.starts_with("grad.")) {
        ++expected_count;
        largest_of_all = std::max(largest_of_all, largest(floats(expected_.tensor(entry))));
      }
    std::size_t checked = 0;
    for_each_part([&](const Parameter& parameter, const Parameter::Part& part) {
      const std::string key = "grad." + part.name;
      if (!expected_.contains(key)) return;
      ++checked;
      const Tensor expected = expected_.tensor(key), grad = parameter.grad_part(part);
      const double scale = largest(floats(expected));
      if (scale <= kZeroShare * largest_of_all) {
        report_.check(name_ + " " + key + " (zero)", largest(floats(grad)) / largest_of_all, kZeroGradient);
      } else {
        report_.check(name_ + " " + key, largest_difference(floats(grad), floats(expected)) / scale, kGradient);
      }
    });
    report_.check_exact(name_ + " gradients", checked == expected_count,
                        fmt::format("{} of {} compared", checked, expected_count));
  }

  void check_trajectory() {
    const std::string file = (folder_ / "trajectory.json").string();
    const io::Json trajectory = io::read_json(file);
    const io::Json& settings = trajectory.at("optimizer");
    optim::OptimizerOptions options;
    options.beta1 = settings.at("betas").at(0).get<double>();
    options.beta2 = settings.at("betas").at(1).get<double>();
    options.eps = settings.at("eps").get<double>();
    options.weight_decay = settings.at("weight_decay").get<double>();
    const auto optimizer = optim::make_optimizer(options, model_->parameters());
    optim::ScheduleOptions schedule;
    schedule.name = io::get_string(settings, "schedule", file);
    schedule.warmup_steps = io::get_int(settings, "warmup_steps", file);
    schedule.total_steps = io::get_int(settings, "total_steps", file);
    const double lr = io::get_double(settings, "lr", file), max_norm = io::get_double(settings, "max_grad_norm", file);

    double lr_sum = 0;
    for (const io::Json& expected : trajectory.at("steps")) {
      const std::string at = fmt::format("{} step {}", name_, expected.at("step").get<int>());
      const double factor = optim::schedule_factor(schedule, optimizer->steps(), lr);
      report_.check(at + " learning rate", std::abs(lr * factor - expected.at("lr").get<double>()) / lr, 1e-6);
      Tape tape;
      const nn::ModelOutput output = forward(tape);
      report_.check(at + " loss", relative(output.loss.value().item(), expected.at("loss").get<double>()), kTrajectory);
      tape.backward(output.loss, 1.0f);
      model_->parameters().complete_grads();
      const double norm = optim::grad_norm(model_->parameters());
      report_.check(at + " gradient norm", relative(norm, expected.at("grad_norm").get<double>()), kTrajectory);
      optimizer->step(lr * factor, optim::clip_scale(norm, max_norm));
      lr_sum += lr * factor;
    }
    check_after(trajectory.at("steps").at(0).at("grad_norm").get<double>(), lr_sum);
  }

  // Adam makes steps of full size out of the noise in gradients that are zero in exact arithmetic: such elements are
  // held only to the sum of the learning rates.
  void check_after(double norm, double lr_sum) {
    const io::Safetensors after = io::Safetensors::open(folder_ / "after10.safetensors");
    std::size_t checked = 0;
    for_each_part([&](const Parameter& parameter, const Parameter::Part& part) {
      if (!after.contains(part.name)) return;
      ++checked;
      const Tensor expected = after.tensor(part.name), values = parameter.master_part(part);
      const std::string key = "grad." + part.name;
      const Tensor grad = expected_.contains(key) ? expected_.tensor(key) : Tensor();
      double error = 0, noise_error = 0;
      std::int64_t noise = 0;
      for (std::int64_t i = 0; i < values.size(); ++i) {
        const double difference = std::abs(double{values.data<float>()[i]} - expected.data<float>()[i]);
        const bool is_noise = grad.defined() && std::abs(grad.data<float>()[i]) < kZeroShare * norm;
        double& slot = is_noise ? noise_error : error;
        if (!(difference <= slot)) slot = difference;
        noise += is_noise;
      }
      report_.check(fmt::format("{} after 10 steps {}", name_, part.name), error / largest(floats(expected)), kAfter);
      if (noise > 0)
        report_.check(fmt::format("{} after 10 steps {} ({} elements of no gradient)", name_, part.name, noise),
                      noise_error, lr_sum);
    });
    report_.check_exact(name_ + " parameters after 10 steps", checked == after.names().size(),
                        fmt::format("{} of {} compared", checked, after.names().size()));
  }

  template <class Visit>
  void for_each_part(Visit&& visit) const {
    for (const auto& parameter : model_->parameters().parameters())
      for (const Parameter::Part& part : parameter->parts) visit(*parameter, part);
  }

  std::filesystem::path folder_;
  std::string name_;
  Report& report_;
  io::Safetensors expected_;
  Batch batch_;
  std::unique_ptr<models::Pretrained> model_;
};

}  // namespace

void verify_model(const std::filesystem::path& folder, Report& report) { ModelCheck(folder, report).run(); }

}  // namespace hearth::verify
