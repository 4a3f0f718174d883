// A model of one's own: embeddings, a transformer layer and a classifier, trained with the Trainer. The task: does the
// sequence contain more even than odd numbers?
#include <hearth/hearth.h>

#include <cstdio>
#include <random>

class Parity final : public hearth::Model {
 public:
  explicit Parity(const hearth::nn::TransformerConfig& config)
      : numbers_(root() / "numbers", config.vocab_size, config.hidden),
        layer_(root() / "layer", config),
        output_(root() / "output", config.hidden, 2) {}

  hearth::ModelOutput forward(hearth::Context& ctx, const hearth::BatchPtr& batch) override {
    ctx.begin(batch);
    const hearth::Var x = layer_(ctx, numbers_(ctx, batch->input_ids));
    return hearth::nn::classified(ctx, *batch, output_.logits(ctx, hearth::ops::mean_tokens(ctx, x)));
  }

 private:
  hearth::nn::Embedding numbers_;
  hearth::nn::TransformerEncoderLayer layer_;
  hearth::nn::Linear output_;
};

hearth::DatasetPtr sequences(int count, unsigned seed) {
  std::mt19937 random(seed);
  auto dataset = std::make_shared<hearth::TokenDataset>();
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> numbers(5 + 2 * (random() % 5));
    int even = 0;
    for (std::int32_t& number : numbers) even += (number = static_cast<std::int32_t>(random() % 20)) % 2 == 0;
    dataset->add(numbers, {}, 2 * even > static_cast<int>(numbers.size()));
  }
  return dataset;
}

hearth::Metrics accuracy(const hearth::EvalPrediction& prediction) {
  double right = 0;
  for (std::int64_t item = 0; item < prediction.size(); ++item) {
    const auto logits = prediction.logits()[item];
    right += (logits[1] > logits[0]) == (prediction.labels()[item][0] == 1);
  }
  return {{"accuracy", right / static_cast<double>(prediction.size())}};
}

void run() {
  const auto model = std::make_shared<Parity>(
      hearth::nn::TransformerConfig{.vocab_size = 20, .hidden = 64, .heads = 4, .intermediate = 128});
  hearth::TrainingArguments args;
  args.output_dir = "own_model";
  args.overwrite_output_dir = true;
  args.num_train_epochs = 4;
  args.learning_rate = 1e-3;
  args.save_strategy = hearth::Strategy::no;
  hearth::Trainer trainer(
      model, args,
      {.train_dataset = sequences(2000, 1), .eval_dataset = sequences(200, 2), .compute_metrics = accuracy});
  trainer.train();
  std::printf("accuracy %.3f\n", trainer.evaluate().at("eval_accuracy"));
  trainer.save_model("own_model");
}

int main() { return hearth::run_program("own_model", run); }
