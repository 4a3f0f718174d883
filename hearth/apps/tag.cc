#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/model_flags.h"
#include "hearth/base/check.h"
#include "hearth/base/usage_error.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/models/pretrained.h"
#include "hearth/tasks/common/needed_head.h"
#include "hearth/tasks/common/trained_length.h"
#include "hearth/tasks/token_classification/tagger.h"
#include "hearth/tasks/token_classification/token_table.h"

namespace hearth::apps {
namespace {

constexpr tasks::NeededHead kNeededHead{models::HeadKind::token_classification, "token classification",
                                        "hearth run_ner"};

struct TagArguments {
  ModelFlags model;
  std::string aggregation_strategy = "simple";
  std::optional<std::string> text, file, text_column_name;
  std::optional<std::int64_t> max_seq_length, stride;
  std::int64_t batch_size = 8;
};

void declare(Arguments& arguments, TagArguments& args) {
  args.model.declare(arguments, "model folder written by run_ner, or model name in the Hugging Face cache");
  arguments.add("text", &args.text, "text to tag");
  arguments.add("file", &args.file,
                "file to tag: .txt, one text per line; or words as run_ner reads them: .conll, .bio, .json, .jsonl; "
                "without --text and --file, texts are read from standard input, one per line");
  arguments.add("text_column_name", &args.text_column_name, "column of the words in --file; otherwise tokens");
  arguments
      .add("aggregation_strategy", &args.aggregation_strategy,
           "what becomes an entity: single tokens (none), tokens of one type (simple), or whole words of one type, "
           "which "
           "have the tag of their first token, of the mean, or of the surest token")
      .choices(tasks::aggregation_names());
  arguments
      .add("max_seq_length", &args.max_seq_length,
           "maximum tokens per window of a long text; otherwise as the model was trained")
      .at_least(1);
  arguments.add("stride", &args.stride, "tokens that neighbouring windows share; otherwise a quarter of a window")
      .at_least(0);
  arguments.add("batch_size", &args.batch_size, "windows of --file per forward pass").at_least(1).at_most(1 << 20);
  arguments.examples({"hearth tag --model out --text \"Ada Lovelace lived in London.\"",
                      "hearth tag --model out --file articles.txt > entities.jsonl",
                      "hearth tag --model out --aggregation_strategy first < articles.txt"});
}

void check_usage(const TagArguments& args) {
  args.model.check_usage();
  as_usage([&] {
    check(!args.text || !args.file, "give either --text TEXT or --file FILE");
    check(!args.text || !is_blank(*args.text), "--text is empty: write a text");
    if (args.text) check_utf8(*args.text, "--text");
  });
}

tasks::TaggerOptions options_of(const TagArguments& args, const std::filesystem::path& folder,
                                std::int64_t longest_input) {
  tasks::TaggerOptions options;
  const std::int64_t trained = tasks::trained_length(folder, longest_input);
  options.max_seq_length = std::min(args.max_seq_length.value_or(trained), longest_input);
  options.stride = args.stride.value_or(options.max_seq_length / 4);
  options.batch_size = args.batch_size;
  options.aggregation = tasks::aggregation_named(args.aggregation_strategy);
  options.compute = args.model.compute();
  return options;
}

// Reads the file one text after the other.
void for_each_sentence(const TagArguments& args, const tokenizer::Tokenizer& tokenizer,
                       const std::function<void(tasks::TokenizedSentence)>& use) {
  const std::filesystem::path path = *args.file;
  if (path.extension() == ".txt") {
    data::TextLines lines{io::TextBuffer(path)};
    for (std::string_view line; lines.next(line);) use(tasks::tokenized(line, tokenizer));
    check(lines.number() > 0, "{} is empty; write one text per line", path.string());
  } else {
    tasks::TokenSource source({path}, {.words = args.text_column_name}, data::Tags::optional);
    while (const std::optional<tasks::TokenTable> part = source.next())
      for (std::int64_t row = 0; row < part->rows(); ++row) use(tasks::tokenized(part->words(row), tokenizer));
  }
}

void check_vocabulary(const tokenizer::Tokenizer& tokenizer, const models::Pretrained& model,
                      const std::filesystem::path& folder) {
  check(tokenizer.vocab_size() <= model.backbone_config().vocab_size,
        "the tokenizer in {} is not this model's: it has {} tokens, and the model's vocabulary has {}", folder.string(),
        tokenizer.vocab_size(), model.backbone_config().vocab_size);
}

// Tags texts as they come, `batch` at a time, and prints a line for each.
class Printer {
 public:
  Printer(const tasks::Tagger& tagger, tasks::Aggregation aggregation, std::int64_t batch)
      : tagger_(tagger), aggregation_(aggregation), batch_(static_cast<std::size_t>(batch)) {}

  void add(tasks::TokenizedSentence sentence) {
    waiting_.push_back(std::move(sentence));
    if (waiting_.size() >= batch_) flush();
  }
  void flush() {
    for (const auto& entities : tagger_(waiting_))
      fmt::print("{}\n", io::dump_json(tasks::entities_json(entities, aggregation_), io::kOneLine));
    std::fflush(stdout);
    waiting_.clear();
  }

 private:
  const tasks::Tagger& tagger_;
  tasks::Aggregation aggregation_;
  std::size_t batch_;
  std::vector<tasks::TokenizedSentence> waiting_;
};

}  // namespace

int tag(std::span<const std::string> words) {
  TagArguments args;
  Arguments arguments(
      "hearth tag",
      "Finds the entities of texts with a fine-tuned model. Prints one line of JSON per text: a list of "
      "entities with the keys of transformers' token-classification pipeline; start and end count "
      "characters. Long texts are read in overlapping windows.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, true)) return 0;
  check_usage(args);
  const auto folder = args.model.folder();
  const auto tokenizer = tokenizer::load_tokenizer(folder);
  const auto model = tasks::load_with_head(folder, kNeededHead);
  check_vocabulary(*tokenizer, *model, folder);
  const tasks::TaggerOptions options =
      options_of(args, folder, std::min(model->max_positions(), tokenizer->model_max_length()));
  const tasks::Tagger tagger(*model, model->config().label_names(), *tokenizer, options);
  const auto print_now = [&](const std::string& text) {
    Printer(tagger, options.aggregation, 1).add(tasks::tokenized(text, *tokenizer));
  };
  if (args.text) {
    print_now(*args.text);
  } else if (args.file) {
    Printer printer(tagger, options.aggregation, options.batch_size);
    for_each_sentence(args, *tokenizer, [&](tasks::TokenizedSentence sentence) { printer.add(std::move(sentence)); });
    printer.flush();
  } else {
    for_each_input_line({"Type a text and press Enter; Ctrl-D ends.", "text> ", "tag_history"}, print_now);
  }
  return 0;
}

}  // namespace hearth::apps
