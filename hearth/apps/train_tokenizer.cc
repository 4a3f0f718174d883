#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/output_folder.h"
#include "hearth/base/arguments.h"
#include "hearth/base/progress.h"
#include "hearth/data/record_format.h"
#include "hearth/io/file.h"
#include "hearth/tasks/question_answering/examples.h"
#include "hearth/tokenizer/older_files.h"
#include "hearth/tokenizer/wordpiece_trainer.h"

namespace hearth::apps {
namespace {

// Question files give their contexts and questions.
void add_file(tokenizer::WordPieceTrainer& trainer, const std::filesystem::path& file) {
  if (!data::has_fields(file)) return trainer.add_file(file);
  const std::string* last_context = nullptr;
  for (const tasks::QaExample& example : tasks::read_qa_dataset(file, tasks::QaAnswers::optional, false)) {
    if (example.context.get() != last_context) trainer.add_text(*example.context);
    last_context = example.context.get();
    trainer.add_text(example.question);
  }
}

}  // namespace

int train_tokenizer(std::span<const std::string> words) {
  std::vector<std::string> files;
  std::string output_dir;
  tokenizer::WordPieceTraining options;
  std::optional<std::int64_t> model_max_length;
  bool overwrite = false;
  Arguments arguments("hearth train_tokenizer", "Trains a WordPiece tokenizer (as BERT has) on text files.");
  arguments
      .add("files", &files,
           "text files; question files (" + data::record_endings() + ") give their contexts and questions")
      .required();
  arguments.add("vocab_size", &options.vocab_size, "size of the vocabulary").at_least(1);
  arguments.add("output_dir", &output_dir, "folder for vocab.txt, tokenizer.json and tokenizer_config.json").required();
  arguments.add("overwrite_output_dir", &overwrite, "replace a tokenizer in output_dir");
  arguments.add("min_frequency", &options.min_frequency, "how often a pair of pieces must occur to be merged")
      .at_least(1);
  arguments.add("limit_alphabet", &options.limit_alphabet, "maximum number of different characters in the vocabulary")
      .at_least(1);
  arguments.add("lowercase", &options.normalizer.lowercase, "convert text to lower case");
  arguments.add("model_max_length", &model_max_length, "maximum sequence length of the model").at_least(1);
  arguments.examples(
      {"hearth train_tokenizer --files corpus.txt --output_dir my_tokenizer",
       "hearth train_tokenizer --files train.json wiki.txt --vocab_size 8000 --output_dir my_tokenizer"});
  if (!parse_or_print_help(arguments, words)) return 0;

  if (!overwrite) check_no_files(output_dir, {"vocab.txt", "tokenizer.json"});
  tokenizer::Vocabulary vocabulary;
  {
    Progress progress("training", options.vocab_size, false);
    options.progress = [&](std::int64_t tokens, std::int64_t) { progress.update(tokens); };
    tokenizer::WordPieceTrainer trainer(options);
    for (const std::string& file : files) add_file(trainer, file);
    vocabulary = trainer.train();
  }
  tokenizer::PipelineConfig config =
      tokenizer::bert_config(std::move(vocabulary), options.normalizer, "the vocabulary");
  if (model_max_length) config.model_max_length = *model_max_length;
  const tokenizer::PipelineTokenizer tokenizer(std::move(config));
  io::create_directories(output_dir);
  tokenizer.save(output_dir);
  fmt::print("{} tokens in {}\n", tokenizer.vocab_size(), output_dir);
  return 0;
}

}  // namespace hearth::apps
