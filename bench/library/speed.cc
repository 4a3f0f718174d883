// How fast an own model and an own loop are: speed MODEL [flags], where MODEL is a folder with BERT's config.json,
// whose sizes both models have. In each round the built-in model and the same model made of layers train some steps
// each in the own loop, and then the Trainer trains the built-in model. Prints seconds per step and ratios of each
// round.
#include <hearth/hearth.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

namespace {

struct Options {
  std::string model;
  std::int64_t batch_size = 32, tokens = 16, steps = 10, rounds = 5;
  std::int64_t vocab_size = 30522, hidden = 384, layers = 6, heads = 12, intermediate = 1536;
};

class OwnBert final : public hearth::Model {
 public:
  OwnBert(const hearth::nn::TransformerConfig& config)
      : words_(root() / "words", config.vocab_size, config.hidden),
        positions_(root() / "positions", config.positions, config.hidden),
        types_(root() / "types", 2, config.hidden),
        norm_(root() / "norm", config.hidden, 1e-12f),
        dropout_(root(), 0.1f) {
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.emplace_back(root() / "layer" / std::to_string(i), config);
    pooler_.emplace(root() / "pooler", config.hidden, config.hidden);
    pooler_dropout_.emplace(root(), 0.1f);
    output_.emplace(root() / "output", config.hidden, 2);
  }

  hearth::ModelOutput forward(hearth::Context& ctx, const hearth::BatchPtr& batch) override {
    ctx.begin(batch);
    const std::vector<std::int32_t> places = batch->position_ids();
    hearth::Var x = hearth::ops::embedding_sum(
        ctx, {words_.lookup(batch->input_ids), positions_.lookup(places), types_.lookup(batch->token_type_ids)});
    x = dropout_(ctx, norm_(ctx, x));
    for (const auto& layer : layers_) x = layer(ctx, x);
    x = (*pooler_)(ctx, hearth::ops::first_tokens(ctx, x), hearth::Activation::tanh);
    return hearth::nn::classified(ctx, *batch, output_->logits(ctx, (*pooler_dropout_)(ctx, x)));
  }

 private:
  hearth::nn::Embedding words_, positions_, types_;
  hearth::nn::LayerNorm norm_;
  hearth::nn::Dropout dropout_;
  std::vector<hearth::nn::TransformerEncoderLayer> layers_;
  std::optional<hearth::nn::Linear> pooler_;
  std::optional<hearth::nn::Dropout> pooler_dropout_;
  std::optional<hearth::nn::Linear> output_;
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

hearth::DatasetPtr random_texts(const Options& options) {
  std::mt19937 random(1);
  auto dataset = std::make_shared<hearth::TokenDataset>();
  for (std::int64_t i = 0; i < options.batch_size * (options.steps + 1); ++i) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(options.tokens));
    for (std::int32_t& id : ids) id = static_cast<std::int32_t>(random() % options.vocab_size);
    dataset->add(ids, {}, i % 2);
  }
  return dataset;
}

// Seconds per step of the own loop, without the first step.
double own_loop(hearth::Model& model, hearth::Optimizer& optimizer, hearth::DataLoader& loader) {
  Clock::time_point start;
  std::uint64_t step = 0;
  for (const hearth::BatchPtr& batch : loader) {
    hearth::Tape tape;
    hearth::Context ctx = hearth::ops::training_context(tape, step);
    const hearth::Autocast autocast(ctx, hearth::DType::bf16);
    model.forward(ctx, batch).loss.backward();
    const double norm = hearth::optim::grad_norm(model.parameters());
    optimizer.step(1e-5, hearth::optim::clip_scale(norm, 1.0));
    optimizer.zero_grad();
    if (step++ == 0) start = Clock::now();
  }
  return seconds_since(start) / static_cast<double>(step - 1);
}

class StepClock final : public hearth::TrainerCallback {
 public:
  void on_step_end(const hearth::TrainingProgress& progress, hearth::TrainerControl&) override {
    if (progress.global_step == 1) start_ = Clock::now();
    seconds_ = seconds_since(start_) / static_cast<double>(std::max<std::int64_t>(1, progress.global_step - 1));
  }
  double seconds_per_step() const { return seconds_; }

 private:
  Clock::time_point start_;
  double seconds_ = 0;
};

double trainer(const std::shared_ptr<hearth::Model>& model, const Options& options, const hearth::DatasetPtr& data) {
  hearth::TrainingArguments args;
  args.output_dir = "library_speed";
  args.overwrite_output_dir = true;
  args.per_device_train_batch_size = options.batch_size;
  args.num_train_epochs = 1;
  args.bf16 = true;
  args.disable_tqdm = true;
  args.logging_strategy = args.save_strategy = hearth::Strategy::no;
  const auto clock = std::make_shared<StepClock>();
  hearth::Trainer(model, args, {.train_dataset = data, .callbacks = {clock}}).train();
  return clock->seconds_per_step();
}

void measure(int argc, char** argv) {
  Options options;
  hearth::Arguments arguments("library_speed", "Compares an own model and an own loop with the built-in ones.");
  arguments.positional("model", &options.model, "folder of a model with these sizes");
  for (const auto& [name, target] : {std::pair{"batch_size", &options.batch_size},
                                     {"tokens", &options.tokens},
                                     {"steps", &options.steps},
                                     {"rounds", &options.rounds},
                                     {"vocab_size", &options.vocab_size},
                                     {"hidden", &options.hidden},
                                     {"layers", &options.layers},
                                     {"heads", &options.heads},
                                     {"intermediate", &options.intermediate}})
    arguments.add(name, target, "").at_least(1);
  arguments.parse(std::vector<std::string>(argv + 1, argv + argc));

  const hearth::DatasetPtr data = random_texts(options);
  const auto built_in = hearth::AutoModelForSequenceClassification::from_pretrained(options.model);
  const auto own = std::make_shared<OwnBert>(hearth::nn::TransformerConfig{.vocab_size = options.vocab_size,
                                                                           .hidden = options.hidden,
                                                                           .layers = options.layers,
                                                                           .heads = options.heads,
                                                                           .intermediate = options.intermediate,
                                                                           .positions = 512,
                                                                           .hidden_dropout = 0.1f,
                                                                           .attention_dropout = 0.1f});
  own->initialise(42);
  if (own->parameters().element_count() != built_in->parameters().element_count())
    throw hearth::Error(
        "the models have different sizes: give --hidden, --layers, --heads, --intermediate, --vocab_size");
  const auto built_in_adamw = hearth::optim::adamw(built_in->parameters()),
             own_adamw = hearth::optim::adamw(own->parameters());
  hearth::DataLoader loader(data, {.batch_size = options.batch_size});
  std::printf("%8s %14s %14s %14s %22s %20s\n", "round", "built-in, loop", "own, loop", "Trainer",
              "own model / built-in", "own loop / Trainer");
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    const double built_in_loop = own_loop(*built_in, *built_in_adamw, loader);
    const double own_model = own_loop(*own, *own_adamw, loader);
    const double trained = trainer(built_in, options, data);
    std::printf("%8d %14.4f %14.4f %14.4f %22.3f %20.3f\n", static_cast<int>(round), built_in_loop, own_model, trained,
                built_in_loop / own_model, trained / built_in_loop);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return hearth::run_program("library_speed", [&] { measure(argc, argv); });
}
