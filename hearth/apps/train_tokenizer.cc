#include <fmt/format.h>

#include <cmath>

#include "hearth/apps/command.h"
#include "hearth/apps/output_folder.h"
#include "hearth/base/arguments.h"
#include "hearth/base/progress.h"
#include "hearth/data/files.h"
#include "hearth/data/record_format.h"
#include "hearth/data/record_source.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tokenizer/tokenizer_trainer.h"

namespace hearth::apps {
namespace {

// Hands texts over to the counter, many at a time.
class TextBatch {
 public:
  explicit TextBatch(tokenizer::WordCounter& words) : words_(words) {}

  void add(std::string text) {
    constexpr std::size_t kBytes = std::size_t{1} << 24;
    bytes_ += text.size();
    texts_.push_back(std::move(text));
    if (bytes_ > kBytes) hand_over();
  }
  void hand_over() {
    words_.add(std::vector<std::string_view>(texts_.begin(), texts_.end()));
    texts_.clear();
    bytes_ = 0;
  }

 private:
  tokenizer::WordCounter& words_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

void add_questions(const std::filesystem::path& file, TextBatch& texts) {
  const std::string* last_context = nullptr;
  for (const tasks::QaExample& example : tasks::read_qa_dataset(file, tasks::QaAnswers::optional, false)) {
    if (example.context.get() != last_context) texts.add(*example.context);
    last_context = example.context.get();
    texts.add(example.question);
  }
}

void add_file(tokenizer::WordCounter& words, const std::filesystem::path& file) {
  if (!data::has_fields(file)) return words.add_file(file);
  constexpr std::string_view kColumn = "text";
  TextBatch texts(words);
  const data::RecordSourcePtr records = data::open_records(data::Files{file}, kColumn);
  io::Json record;
  bool has_texts = false;
  while (records->next(record) && record.is_object() && record.contains(kColumn)) {
    has_texts = true;
    if (record[kColumn].is_string()) texts.add(record[kColumn].get<std::string>());
  }
  if (!has_texts) add_questions(file, texts);
  texts.hand_over();
}

std::string classes_of_types() {
  std::string text;
  for (const std::string_view name : names_of(tokenizer::TokenizerType{})) {
    const auto type = *value_named<tokenizer::TokenizerType>(name);
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, fmt::join(tokenizer::trainable_classes(type), ", "));
  }
  return text;
}

}  // namespace

int train_tokenizer(std::span<const std::string> words) {
  std::vector<std::string> files;
  std::string output_dir;
  tokenizer::TokenizerTraining options;
  bool overwrite = false;
  Arguments arguments("hearth train_tokenizer",
                      "Trains a tokenizer on texts: WordPiece (BERT), byte-level BPE (RoBERTa, GPT-2) or Unigram "
                      "(XLM-RoBERTa, ALBERT), as the trainers of Hugging Face's tokenizers library do.");
  arguments
      .add("files", &files,
           "files of texts: one text per line, or the field \"text\" of records (" + data::record_endings() +
               "); files of questions give contexts and questions")
      .required();
  arguments.add("output_dir", &output_dir, "folder for tokenizer.json, tokenizer_config.json and the older files")
      .required();
  arguments.add("overwrite_output_dir", &overwrite, "replace a tokenizer in output_dir");
  arguments.add("type", choice(&options.type), "model of the vocabulary");
  arguments.add("tokenizer_class", &options.tokenizer_class,
                "class of transformers whose special tokens and nodes the tokenizer gets (" + classes_of_types() +
                    "); by default the first of its type");
  arguments.add("vocab_size", &options.vocab_size, "size of the vocabulary; by default 30000, for unigram 8000")
      .at_least(1);
  arguments
      .add("min_frequency", &options.min_frequency,
           "wordpiece, bpe: how often a pair of tokens must occur to be merged; 2 by default")
      .at_least(1);
  arguments
      .add("limit_alphabet", &options.limit_alphabet,
           "wordpiece, bpe: maximum number of different characters in the vocabulary; 1000 for wordpiece")
      .at_least(1);
  arguments.add("lowercase", &options.lowercase, "convert text to lower case; by default for wordpiece alone");
  arguments.add("add_prefix_space", &options.add_prefix_space, "bpe: put a space before the first word of a text");
  arguments.add("special_tokens", &options.special_tokens, "special tokens beside those of the class");
  arguments.add("model_max_length", &options.model_max_length, "maximum sequence length of the model").at_least(1);
  arguments.examples({"hearth train_tokenizer --files corpus.txt --output_dir my_tokenizer",
                      "hearth train_tokenizer --type bpe --files corpus.txt --vocab_size 50265 --output_dir my_roberta",
                      "hearth train_tokenizer --type unigram --tokenizer_class AlbertTokenizer --lowercase "
                      "--files train.jsonl --output_dir my_albert"});
  if (!parse_or_print_help(arguments, words)) return 0;

  if (!overwrite) check_no_files(output_dir, {"vocab.txt", "tokenizer.json"});
  std::shared_ptr<const tokenizer::Tokenizer> trained;
  {
    constexpr std::int64_t kWhole = 100;
    Progress progress("training", kWhole, false);
    options.progress = [&](double done) { progress.update(std::llround(done * static_cast<double>(kWhole))); };
    tokenizer::TokenizerTrainer trainer(options);
    for (const std::filesystem::path& file : data::files_of(files)) add_file(trainer.texts(), file);
    trained = trainer.train();
  }
  io::create_directories(output_dir);
  trained->save(output_dir);
  fmt::print("{} tokens in {}\n", trained->vocab_size(), output_dir);
  return 0;
}

}  // namespace hearth::apps
