// BERT on MRPC: are two sentences paraphrases? The program of Accelerate's examples/nlp_example.py: the same
// hyper-parameters, schedule and output. It runs in one process or, under `hearth launch` or mpirun, in several.
#include <hearth/hearth.h>

#include <cstdio>

namespace {

struct Options {
  std::string model_name_or_path = "bert-base-cased";
  std::optional<std::string> train_file, validation_file, mixed_precision;
  bool cpu = false;
  std::int64_t seed = 42, num_epochs = 3, batch_size = 16;
  double learning_rate = 2e-5;
};

Options parse(int argc, char** argv) {
  Options args;
  hearth::Arguments options("nlp_example", "Fine-tunes BERT on MRPC with an Accelerator.");
  options.add("model_name_or_path", &args.model_name_or_path, "folder or name of a pretrained model");
  options.add("train_file", &args.train_file,
              "MRPC's train.tsv, or records with sentence1, sentence2 and label; from the Hub if not given");
  options.add("validation_file", &args.validation_file, "the same for validation");
  options.add("mixed_precision", &args.mixed_precision, "no, fp16 or bf16").choices({"no", "fp16", "bf16"});
  options.add("cpu", &args.cpu, "accepted; there is nothing else");
  options.add("seed", &args.seed, "of dropout, shuffling and the new head");
  options.add("num_epochs", &args.num_epochs, "number of epochs").at_least(1);
  options.examples(
      {"hearth nlp_example --num_epochs 3", "hearth launch --num_processes 2 nlp_example --mixed_precision bf16"});
  options.parse(std::vector<std::string>(argv + 1, argv + argc));
  if (options.wants_help()) std::puts(options.help().c_str()), std::exit(0);
  return args;
}

void take_mrpc_from_hub(Options& args) {
  const hearth::hub::DatasetFiles mrpc = hearth::hub::find_dataset({.name = "glue", .config = "mrpc"});
  args.train_file = mrpc.splits.at("train").front();
  args.validation_file = mrpc.splits.at("validation").front();
}

hearth::DatasetPtr encode(const std::string& file, const hearth::Tokenizer& tokenizer, std::int64_t max_length) {
  const hearth::data::GlueRows rows = hearth::data::read_glue(file, hearth::data::glue_task("mrpc"));
  auto dataset = std::make_shared<hearth::TokenDataset>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const hearth::Encoding encoding = tokenizer.encode_truncated(rows.a[i], rows.b[i], max_length);
    dataset->add(encoding.ids, encoding.type_ids, rows.labels[i]);
  }
  return dataset;
}

// The label with the higher logit, for each row of logits (rows, 2).
std::vector<std::int64_t> predictions_of(const hearth::Tensor& logits) {
  std::vector<std::int64_t> labels;
  const float* row = logits.data<float>();
  for (std::int64_t i = 0; i < logits.rows(); ++i, row += 2) labels.push_back(row[1] > row[0] ? 1 : 0);
  return labels;
}

void train(Options args) {
  hearth::Accelerator accelerator(
      {.mixed_precision = args.mixed_precision, .seed = static_cast<std::uint64_t>(args.seed)});
  if (!args.train_file || !args.validation_file) take_mrpc_from_hub(args);
  const auto tokenizer = hearth::AutoTokenizer::from_pretrained(args.model_name_or_path);
  const std::int64_t max_length = std::min<std::int64_t>(tokenizer->model_max_length(), 512);
  const hearth::DataLoader train_data(
      encode(*args.train_file, *tokenizer, max_length),
      {.batch_size = args.batch_size, .shuffle = true, .seed = args.seed, .drop_last = true});
  const hearth::DataLoader eval_data(encode(*args.validation_file, *tokenizer, max_length), {.batch_size = 32});
  const auto pretrained = hearth::AutoModelForSequenceClassification::from_pretrained(
      args.model_name_or_path, {.seed = static_cast<std::uint64_t>(args.seed)});
  const auto adamw = hearth::optim::adamw(pretrained->parameters(), {.lr = args.learning_rate});
  const auto linear = hearth::optim::linear_schedule_with_warmup(*adamw, 100, train_data.size() * args.num_epochs);

  auto [model, optimizer, train_loader, eval_loader, schedule] =
      accelerator.prepare(pretrained, adamw, train_data, eval_data, linear);

  for (std::int64_t epoch = 0; epoch < args.num_epochs; ++epoch) {
    model.train();
    for (const hearth::BatchPtr& batch : train_loader) {
      const hearth::ModelOutput output = model(batch);
      accelerator.backward(output.loss);
      optimizer.step();
      schedule.step();
      optimizer.zero_grad();
    }
    model.eval();
    std::vector<std::int64_t> predicted, truth;
    for (const hearth::BatchPtr& batch : eval_loader) {
      const hearth::ModelOutput output = model(batch);
      for (const std::int64_t label : accelerator.gather_for_metrics(predictions_of(output.logits_named("logits"))))
        predicted.push_back(label);
      for (const std::int64_t label : accelerator.gather_for_metrics(batch->labels.at("labels")))
        truth.push_back(label);
    }
    const hearth::Metrics metrics{{"accuracy", hearth::metrics::accuracy(truth, predicted)},
                                  {"f1", hearth::metrics::binary_scores(truth, predicted).f1}};
    accelerator.print("epoch " + std::to_string(epoch) + ": " + metrics.to_string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return hearth::run_program("nlp_example", [&] { train(parse(argc, argv)); });
}
