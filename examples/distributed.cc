// Data-parallel training without Trainer and Accelerator. Start it with `hearth launch --num_processes 2 distributed`,
// with mpirun, srun or torchrun, or alone. The task: does a sequence have more ones than zeros?
#include <hearth/hearth.h>

#include <cstdio>
#include <numeric>
#include <random>

class Majority final : public hearth::Model {
 public:
  Majority()
      : numbers_(root() / "numbers", 2, 32), hidden_(root() / "hidden", 32, 64), output_(root() / "output", 64, 2) {}

  hearth::ModelOutput forward(hearth::Context& ctx, const hearth::BatchPtr& batch) override {
    ctx.begin(batch);
    const hearth::Var x = hearth::ops::mean_tokens(ctx, numbers_(ctx, batch->input_ids));
    return hearth::nn::classified(ctx, *batch, output_.logits(ctx, hidden_(ctx, x, hearth::Activation::gelu)));
  }

 private:
  hearth::nn::Embedding numbers_;
  hearth::nn::Linear hidden_, output_;
};

hearth::DatasetPtr sequences(int count) {
  std::mt19937 random(1);
  auto dataset = std::make_shared<hearth::TokenDataset>();
  for (int i = 0; i < count; ++i) {
    std::vector<std::int32_t> bits(3 + 2 * (random() % 3));
    for (std::int32_t& bit : bits) bit = static_cast<std::int32_t>(random() % 2);
    dataset->add(bits, {}, 2 * std::accumulate(bits.begin(), bits.end(), 0) > static_cast<int>(bits.size()));
  }
  return dataset;
}

void run() {
  const hearth::Team team =
      hearth::init_process_group();  // the backend that fits the launcher best; or {.backend = "gloo"}
  Majority model;
  model.initialise(42);
  hearth::DistributedDataParallel ddp(model.parameters(), team);
  ddp.broadcast_weights();
  const auto optimizer = hearth::optim::adamw(model.parameters(), {.lr = 1e-2});
  hearth::DataLoader loader(
      sequences(1024), {.batch_size = 64 / team.size(), .shuffle = true, .rank = team.rank(), .world = team.size()});
  std::uint64_t step = 0;
  for (int epoch = 0; epoch < 20; ++epoch) {
    double loss_sum = 0;
    for (const hearth::BatchPtr& batch : loader) {
      hearth::Tape tape;
      hearth::Context ctx = hearth::ops::training_context(tape, step++);
      const hearth::Var loss = model.forward(ctx, batch).loss;
      ddp.backward(loss);  // gradients are averaged over the ranks while it runs
      optimizer->step();
      optimizer->zero_grad();
      loss_sum += loss.value().item();
    }
    team.group().all_reduce(&loss_sum, 1, hearth::DType::f64)->wait();
    if (team.is_first() && epoch % 5 == 4)
      std::printf("epoch %d loss %.4f\n", epoch, loss_sum / static_cast<double>(loader.size() * team.size()));
  }
}

int main() { return hearth::run_program("distributed", run); }
