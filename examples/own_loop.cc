// A training loop of one's own with a loss and an op of one's own: the steps that the Trainer makes, one by one. The
// task: does the sequence begin and end with the same number?
#include <hearth/hearth.h>

#include <cstdio>
#include <random>

class SameEnds final : public hearth::Model {
 public:
  SameEnds()
      : encoder_(root() / "encoder", {.vocab_size = 8,
                                      .hidden = 64,
                                      .layers = 2,
                                      .heads = 4,
                                      .intermediate = 128,
                                      .positions = 16,
                                      .token_types = 1}),
        output_(root() / "output", 64, 2) {}

  hearth::ModelOutput forward(hearth::Context& ctx, const hearth::BatchPtr& batch) override {
    ctx.begin(batch);
    const hearth::Var first = hearth::ops::first_tokens(ctx, encoder_(ctx, *batch));
    return {hearth::Var(), output_.logits(ctx, first)};
  }

 private:
  hearth::nn::Encoder encoder_;
  hearth::nn::Linear output_;
};

// An op of one's own: the mean of (x - target)^2. Its backward captures the errors, which it reads, and of x only the
// edge, through which x receives its gradient.
hearth::Var mean_squared_error(hearth::Context& ctx, const hearth::Var& x, const hearth::Tensor& targets) {
  const hearth::Tensor errors(targets.shape(), hearth::DType::f32), mean({}, hearth::DType::f32);
  double sum = 0;
  for (std::int64_t i = 0; i < errors.size(); ++i) {
    const float error = x.value().data<float>()[i] - targets.data<float>()[i];
    errors.data<float>()[i] = error;
    sum += error * error;
  }
  *mean.data<float>() = static_cast<float>(sum / static_cast<double>(errors.size()));
  return ctx.record({"mean squared error", {x}}, mean, [x = x.edge(), errors](const hearth::Tensor& dmean) {
    const float slope = 2 * dmean.item() / static_cast<float>(errors.size());
    for (std::int64_t i = 0; i < errors.size(); ++i) errors.data<float>()[i] *= slope;
    hearth::ops::add_grad(x, errors);
  });
}

// The Brier score: the mean of (probability - target)^2 over rows and classes.
hearth::Var brier_score(hearth::Context& ctx, const hearth::Var& logits, const std::vector<std::int64_t>& labels) {
  const hearth::Tensor targets = hearth::Tensor::zeros(logits.value().shape(), hearth::DType::f32);
  for (std::size_t row = 0; row < labels.size(); ++row) targets.data<float>()[2 * row + labels[row]] = 1;
  return mean_squared_error(ctx, hearth::ops::softmax(ctx, logits), targets);
}

hearth::DatasetPtr sequences(int count) {
  std::mt19937 random(1);
  auto dataset = std::make_shared<hearth::TokenDataset>();
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> numbers(4 + random() % 12);
    for (std::int32_t& number : numbers) number = static_cast<std::int32_t>(random() % 8);
    if (random() % 2 == 0) numbers.back() = numbers.front();
    dataset->add(numbers, {}, numbers.front() == numbers.back());
  }
  return dataset;
}

constexpr int kEpochs = 10;

void run() {
  SameEnds model;
  model.initialise(42);
  const auto optimizer = hearth::optim::adamw(model.parameters(), {.lr = 2e-3});
  hearth::DataLoader loader(sequences(4096), {.batch_size = 64, .shuffle = true});
  auto schedule = hearth::optim::linear_schedule_with_warmup(*optimizer, 10, kEpochs * loader.size());
  hearth::optimize(model, *optimizer, hearth::DType::bf16);

  std::uint64_t step = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    double sum = 0;
    for (const hearth::BatchPtr& batch : loader) {
      hearth::Tape tape;
      hearth::Context ctx = hearth::ops::training_context(tape, step++);
      const hearth::Autocast autocast(ctx, hearth::DType::bf16);
      const hearth::Var logits = model.forward(ctx, batch).logits.front().second;
      const hearth::Var loss = brier_score(ctx, logits, batch->labels.at("labels"));
      loss.backward();
      optimizer->step();
      optimizer->zero_grad();
      schedule.step();
      sum += loss.value().item();
    }
    std::printf("epoch %d loss %.4f\n", epoch, sum / static_cast<double>(loader.size()));
  }
  model.save_pretrained("own_loop");
}

int main() { return hearth::run_program("own_loop", run); }
