// Data of one's own: own_data MODEL FILE fine-tunes a pretrained model to classify the lines of a file,
// "LABEL<tab>TEXT".
#include <hearth/hearth.h>

#include <cstdio>
#include <fstream>
#include <map>

// Reads the file once and tokenizes a text when a batch needs it, on the thread that makes batches ahead.
class Lines final : public hearth::Dataset {
 public:
  Lines(const std::string& file, std::shared_ptr<const hearth::Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t tab = line.find('\t');
      if (tab == line.npos) throw hearth::Error(file + " has a line without a tab: write LABEL, a tab and the text");
      labels_.push_back(id_of(line.substr(0, tab)));
      texts_.push_back(line.substr(tab + 1));
    }
    if (texts_.empty()) throw hearth::Error(file + " is empty or cannot be read");
  }

  const std::vector<std::string>& label_names() const { return names_; }

  std::int64_t size() const override { return static_cast<std::int64_t>(texts_.size()); }
  std::int64_t length(std::int64_t item) const override {
    return static_cast<std::int64_t>(texts_[static_cast<std::size_t>(item)].size());
  }
  hearth::BatchPtr collate(std::span<const std::int64_t> items, std::uint32_t first_sample) const override {
    hearth::Batch batch;
    for (const std::int64_t item : items) {
      const auto row = static_cast<std::size_t>(item);
      const hearth::Encoding encoding = tokenizer_->encode_truncated(texts_[row], kMaxTokens);
      batch.append(encoding.ids, encoding.type_ids, first_sample++);
      batch.labels["labels"].push_back(labels_[row]);
    }
    return hearth::shared_batch(std::move(batch));
  }

 private:
  static constexpr std::int64_t kMaxTokens = 64;

  std::int64_t id_of(const std::string& name) {
    const auto [place, is_new] = ids_.try_emplace(name, static_cast<std::int64_t>(names_.size()));
    if (is_new) names_.push_back(name);
    return place->second;
  }

  std::shared_ptr<const hearth::Tokenizer> tokenizer_;
  std::vector<std::string> texts_, names_;
  std::vector<std::int64_t> labels_;
  std::map<std::string, std::int64_t> ids_;
};

// Prints every logged row in a form of its own.
class Printer final : public hearth::TrainerCallback {
  void on_log(const hearth::TrainingProgress& progress, hearth::TrainerControl&, const hearth::Metrics& row) override {
    if (const auto loss = row.find("loss"))
      std::printf("step %d: loss %.4f\n", static_cast<int>(progress.global_step), *loss);
  }
};

void run(const std::string& name, const std::string& file) {
  const auto tokenizer = hearth::AutoTokenizer::from_pretrained(name);
  const auto lines = std::make_shared<const Lines>(file, tokenizer);
  const auto model =
      hearth::AutoModelForSequenceClassification::from_pretrained(name, {.labels = lines->label_names()});
  hearth::TrainingArguments args;
  args.output_dir = "own_data";
  args.overwrite_output_dir = true;
  args.num_train_epochs = 2;
  args.logging_steps = 5;
  args.disable_tqdm = true;
  hearth::Trainer trainer(model, args,
                          {.train_dataset = lines,
                           .callbacks = {std::make_shared<Printer>()},
                           .save_beside = [&](const auto& folder) { tokenizer->save(folder); }});
  trainer.train();
  trainer.save_model("own_data");
}

int main(int argc, char** argv) {
  if (argc != 3) return std::fputs("usage: own_data MODEL FILE\n", stderr), 2;
  return hearth::run_program("own_data", [&] { run(argv[1], argv[2]); });
}
