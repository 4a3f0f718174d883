#include <algorithm>
#include <cmath>
#include <span>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/safetensors.h"
#include "hearth/models/pretrained.h"
#include "hearth/nn/model.h"
#include "hearth/ops/context.h"
#include "hearth/ops/pooling.h"
#include "hearth/optim/optimizer.h"
#include "hearth/optim/schedule.h"
#include "hearth/verify/compare.h"
#include "hearth/verify/golden.h"
#include "hearth/verify/verify.h"

namespace hearth::verify {
namespace {

constexpr double kLogits = 2e-5, kTrajectory = 1e-4, kAfter = 1e-4;

std::span<const float> floats(const Tensor& tensor) {
  return {tensor.data<float>(), static_cast<std::size_t>(tensor.size())};
}

// Whole numbers, one per row or token; or floats, one or several per row.
void add_labels(Batch& batch, const io::Safetensors& file, const std::string& name, const Shape& tokens) {
  const Tensor values = file.tensor(name);
  const bool is_float = values.type() == DType::f32;
  check(is_float ? values.rows() == tokens[0] : values.shape() == tokens || values.shape() == Shape{tokens[0]},
        "{}: {} has the shape {}, it must have a value for each row or token of {}", file.path().string(), name,
        values.shape().to_string(), tokens.to_string());
  if (is_float) {
    batch.float_labels[name].assign(values.data<float>(), values.data<float>() + values.size());
  } else {
    const Tensor labels = tensor_of(file, name, DType::i64);
    batch.labels[name].assign(labels.data<std::int64_t>(), labels.data<std::int64_t>() + labels.size());
  }
}

// A padded batch. As in transformers, padded positions are computed as queries and never serve as keys.
Batch read_batch(const io::Safetensors& file, const std::string& prefix = "") {
  const Tensor ids = tensor_of(file, prefix + "input_ids", DType::i64);
  const Shape& shape = ids.shape();
  check(shape.rank() == 2, "{}: input_ids has the shape {}, it must have rows of tokens", file.path().string(),
        shape.to_string());
  const Tensor mask = tensor_of(file, prefix + "attention_mask", DType::i64, shape);
  const Tensor types = file.contains(prefix + "token_type_ids")
                           ? tensor_of(file, prefix + "token_type_ids", DType::i64, shape)
                           : Tensor::zeros(shape, DType::i64);
  Batch batch;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    const auto row_of = [&](const Tensor& tensor) {
      const std::int64_t* begin = tensor.data<std::int64_t>() + row * shape[1];
      return std::vector<std::int32_t>(begin, begin + shape[1]);
    };
    batch.append(row_of(ids), row_of(types), static_cast<std::uint32_t>(row));
    batch.key_counts.back() = std::ranges::count(row_of(mask), 1);
  }
  for (const char* name : {"start_positions", "end_positions", "labels"})
    if (file.contains(name)) add_labels(batch, file, name, shape);
  return batch;
}

void append(Batch& batch, const Batch& more) {
  for (std::int64_t s = 0; s < more.sequences(); ++s) {
    const Batch one = more.part(s, s + 1);
    batch.append(one.input_ids, one.token_type_ids, static_cast<std::uint32_t>(batch.sequences()));
    batch.key_counts.back() = one.key_counts.front();
  }
}

// Where golden.json describes embeddings: the batch has anchors and positives, the head pools and ranks.
bool has_embeddings(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / "golden.json") &&
         io::get_string_or(io::read_json(folder / "golden.json"), "kind", "", (folder / "golden.json").string()) ==
             "embedding";
}

models::HeadSpec head_of(const std::filesystem::path& folder) {
  if (!has_embeddings(folder)) return models::head_of(models::Config::read(folder));
  const std::string file = (folder / "golden.json").string();
  const io::Json golden = io::read_json(file);
  const std::string pooling = io::get_string(golden, "pooling", file);
  const auto mode = value_named<ops::Pooling>(pooling.substr(0, pooling.find(' ')));
  check(mode.has_value(), "{}: the pooling '{}' is not known", file, pooling);
  models::HeadSpec spec(models::HeadKind::embedding);
  spec.embedding.pooling = {*mode};
  spec.embedding.normalize = io::get_bool(golden, "normalize", file);
  spec.embedding.loss.scale = static_cast<float>(io::get_double(golden, "scale", file));
  return spec;
}

Batch batch_of(const std::filesystem::path& folder) {
  const io::Safetensors file = io::Safetensors::open(folder / "batch.safetensors");
  if (!has_embeddings(folder)) return read_batch(file);
  Batch batch = read_batch(file, "anchor.");
  append(batch, read_batch(file, "positive."));
  batch.texts_per_item = 2;
  return batch;
}

class ModelCheck {
 public:
  ModelCheck(const std::filesystem::path& folder, Report& report)
      : folder_(folder),
        name_("models/" + folder.filename().string()),
        report_(report),
        expected_(io::Safetensors::open(folder / "expected.safetensors")),
        batch_(shared_batch(batch_of(folder))),
        model_(models::load_pretrained(folder, head_of(folder))) {}

  void run() {
    check_logits();
    check_loss_and_gradients();
    check_trajectory();
  }

 private:
  nn::ModelOutput forward(Tape& tape) {
    ops::Context ctx;
    ctx.tape = &tape;
    model_->parameters().zero_grad();
    nn::ModelOutput output = model_->forward(ctx, batch_);
    check(output.loss.defined(), "{}: a {} computes no loss from these labels",
          (folder_ / "batch.safetensors").string(), model_->architecture());
    return output;
  }

  // Of the batch without its labels: masked language models compute no logits for a loss.
  void check_logits() {
    Batch unlabelled = *batch_;
    unlabelled.labels.clear();
    unlabelled.float_labels.clear();
    ops::Context ctx;
    const nn::ModelOutput output = model_->forward(ctx, shared_batch(std::move(unlabelled)));
    for (const auto& [logits_name, logits] : output.logits) {
      if (batch_->texts_per_item == 1) {
        check_values(logits_name, logits.value());
      } else {  // embeddings of anchors, then of positives
        const std::int64_t items = logits.value().rows() / 2;
        check_values("anchor", logits.value().slice(0, items));
        check_values("positive", logits.value().slice(items, 2 * items));
      }
    }
  }

  void check_loss_and_gradients() {
    Tape tape;
    const nn::ModelOutput output = forward(tape);
    const Tensor loss = tensor_of(expected_, "loss", DType::f32, {});
    report_.check(name_ + " loss", relative(output.loss.value().item(), loss.item()), kLogits);
    tape.backward(output.loss, 1.0f);
    model_->parameters().complete_grads();
    check_gradients();
  }

  void check_values(const std::string& what, const Tensor& values) {
    const Tensor expected = tensor_of(expected_, what, DType::f32);
    check(expected.size() == values.size(), "{}: {} has {} values, the model gives {}", expected_.path().string(), what,
          expected.size(), values.size());
    const double error = largest_difference(floats(values), floats(expected));
    report_.check(name_ + " " + what, share(error, largest(floats(expected))), kLogits);
  }

  void check_gradients() {
    double largest_of_model = 0;  // a NaN fails the check of its own gradient
    std::size_t expected_count = 0;
    for (const std::string& entry : expected_.names())
      if (entry.starts_with("grad.")) {
        ++expected_count;
        const double scale = largest(floats(tensor_of(expected_, entry, DType::f32)));
        if (scale > largest_of_model) largest_of_model = scale;
      }
    std::size_t checked = 0;
    for (const NamedParameter& parameter : model_->parameters().named()) {
      const std::string key = "grad." + parameter.name;
      if (!expected_.contains(key)) continue;
      ++checked;
      const Tensor expected = tensor_of(expected_, key, DType::f32, parameter.grad.shape());
      const GradientError result = gradient_error(floats(parameter.grad), floats(expected), largest_of_model);
      report_.check(name_ + " " + key + (result.is_zero ? " (zero)" : ""), result.error, result.tolerance);
    }
    report_.check_exact(name_ + " gradients", checked == expected_count,
                        fmt::format("{} of {} compared", checked, expected_count));
  }

  void check_trajectory() {
    const std::string file = (folder_ / "trajectory.json").string();
    const io::Json trajectory = io::read_json(file);
    const io::Json& settings = object_at(trajectory, "optimizer", file);
    const io::Json& betas = list_at(settings, "betas", file);
    check(betas.size() == 2 && betas[0].is_number() && betas[1].is_number(),
          "{}: \"betas\" must be two numbers, found {}", file, io::excerpt(betas));
    optim::OptimizerOptions options;
    options.beta1 = betas[0].get<double>();
    options.beta2 = betas[1].get<double>();
    options.eps = io::get_double(settings, "eps", file);
    options.weight_decay = io::get_double(settings, "weight_decay", file);
    const auto optimizer = optim::make_optimizer(options, model_->parameters());
    optim::ScheduleOptions schedule;
    schedule.name = io::get_string(settings, "schedule", file);
    schedule.warmup_steps = io::get_int(settings, "warmup_steps", file);
    schedule.total_steps = io::get_int(settings, "total_steps", file);
    const double lr = io::get_double(settings, "lr", file), max_norm = io::get_double(settings, "max_grad_norm", file);

    const io::Json& steps = list_at(trajectory, "steps", file);
    check(!steps.empty(), "{}: \"steps\" is empty, there is nothing to compare", file);
    double lr_sum = 0;
    for (const io::Json& expected : steps) {
      const std::string at = fmt::format("{} step {}", name_, io::get_int(expected, "step", file));
      const double factor = optim::schedule_factor(schedule, optimizer->steps(), lr);
      report_.check(at + " learning rate", share(std::abs(lr * factor - io::get_double(expected, "lr", file)), lr),
                    1e-6);
      Tape tape;
      const nn::ModelOutput output = forward(tape);
      report_.check(at + " loss", relative(output.loss.value().item(), io::get_double(expected, "loss", file)),
                    kTrajectory);
      tape.backward(output.loss, 1.0f);
      model_->parameters().complete_grads();
      const double norm = optim::grad_norm(model_->parameters());
      report_.check(at + " gradient norm", relative(norm, io::get_double(expected, "grad_norm", file)), kTrajectory);
      optimizer->step(lr * factor, optim::clip_scale(norm, max_norm));
      lr_sum += lr * factor;
    }
    check_after(io::get_double(steps[0], "grad_norm", file), lr_sum);
  }

  // Adam turns the rounding noise of gradients that are zero in exact arithmetic into steps of full size. Such an
  // element moves by up to the sum of the learning rates, here and in the reference, perhaps in opposite directions.
  void check_after(double norm, double lr_sum) {
    const io::Safetensors after = io::Safetensors::open(folder_ / "after10.safetensors");
    std::size_t checked = 0;
    for (const auto& [name, parameter, values, own_grad] : model_->parameters().named()) {
      if (!after.contains(name)) continue;
      ++checked;
      const Tensor expected = tensor_of(after, name, DType::f32, values.shape());
      const std::string key = "grad." + name;
      const Tensor grad = expected_.contains(key) ? tensor_of(expected_, key, DType::f32, values.shape()) : Tensor();
      LargestError error, noise_error;
      std::int64_t noise = 0;
      for (std::int64_t i = 0; i < values.size(); ++i) {
        const double difference = std::abs(double{values.data<float>()[i]} - expected.data<float>()[i]);
        const bool is_noise = grad.defined() && std::abs(grad.data<float>()[i]) < kZeroShare * norm;
        (is_noise ? noise_error : error).take(difference);
        noise += is_noise;
      }
      report_.check(fmt::format("{} after 10 steps {}", name_, name), share(error.value(), largest(floats(expected))),
                    kAfter);
      if (noise > 0)
        report_.check(fmt::format("{} after 10 steps {} ({} elements of no gradient)", name_, name, noise),
                      noise_error.value(), 2 * lr_sum);
    }
    report_.check_exact(name_ + " parameters after 10 steps", checked == after.names().size(),
                        fmt::format("{} of {} compared", checked, after.names().size()));
  }

  std::filesystem::path folder_;
  std::string name_;
  Report& report_;
  io::Safetensors expected_;
  BatchPtr batch_;
  std::unique_ptr<models::Pretrained> model_;
};

}  // namespace

void verify_model(const std::filesystem::path& folder, Report& report) { ModelCheck(folder, report).run(); }

}  // namespace hearth::verify
