#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/input_lines.h"
#include "hearth/apps/model_flags.h"
#include "hearth/apps/text_file.h"
#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/base/timer.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/npy.h"

namespace hearth::apps {
namespace {

struct EmbedArguments {
  EmbedderFlags embedder;
  TextFileFlags texts;
  std::optional<std::string> text, output, prompt_name, prompt;
};

void declare(Arguments& arguments, EmbedArguments& args) {
  args.embedder.declare(arguments);
  arguments.add("text", &args.text, "text to embed; without it and --file, each line of standard input is one");
  args.texts.declare(arguments, "texts to embed", TextFileFlags::File::optional);
  arguments.add("output", &args.output,
                "file to write: .npy for a NumPy matrix, .jsonl for one embedding per line; if not given, lines of "
                "JSON on standard output");
  arguments.add("prompt_name", &args.prompt_name, "name of a prompt of the model that stands before each text: query");
  arguments.add("prompt", &args.prompt, "text that stands before each text, instead of a prompt of the model");
  arguments.examples({"hearth embed --model out --text \"How far is the moon?\"",
                      "hearth embed --model out --file corpus.jsonl --output corpus.npy --dtype bf16",
                      "hearth embed --model out --prompt_name query < questions.txt"});
}

std::string line_of(std::int64_t index, const Tensor& embeddings) {
  const float* const row = embeddings.data<float>() + index * embeddings.row_size();
  std::string numbers;
  for (std::int64_t i = 0; i < embeddings.row_size(); ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", row[i]);
  return fmt::format("{{\"index\": {}, \"embedding\": [{}]}}\n", index, numbers);
}

void write(const Tensor& embeddings, const std::optional<std::string>& output) {
  if (output && output->ends_with(".npy")) return io::write_npy(*output, embeddings);
  std::string lines;
  for (std::int64_t row = 0; row < embeddings.rows(); ++row) lines += line_of(row, embeddings);
  if (output) return io::replace_file(*output, lines);
  fmt::print("{}", lines);
}

}  // namespace

int embed(std::span<const std::string> words) {
  EmbedArguments args;
  Arguments arguments("hearth embed", "Turns texts into embeddings, as SentenceTransformer.encode does.");
  declare(arguments, args);
  if (!parse_or_print_help(arguments, words, true)) return 0;
  args.embedder.check_usage();
  as_usage([&] {
    check(!args.text || !args.texts.file, "give either --text or --file");
    check(!args.prompt || !args.prompt_name, "give either --prompt or --prompt_name");
    if (args.text) check_utf8(*args.text, "--text");
    if (args.prompt) check_utf8(*args.prompt, "--prompt");
    check(!args.output || args.output->ends_with(".npy") || args.output->ends_with(".jsonl"),
          "--output {}: the file's name must end in .npy or .jsonl", args.output.value_or(""));
  });
  if (args.texts.file) io::check_readable(*args.texts.file);
  tasks::Embedder embedder = args.embedder.embedder();
  const std::string prompt = args.prompt.value_or(embedder.settings().prompt(args.prompt_name, args.embedder.model));
  const std::vector<std::string> texts = args.text         ? std::vector{*args.text}
                                         : args.texts.file ? args.texts.read()
                                                           : read_text_input();
  const Timer timer;
  Tensor embeddings;
  {
    Progress progress("embedding", std::ssize(texts), false);
    embeddings = embedder.embed(texts, prompt, [&](std::int64_t done) { progress.update(done); });
  }
  const double seconds = timer.seconds();
  write(embeddings, args.output);
  log_info("{} texts, {} tokens in {:.2f} s: {:.0f} texts/s, {:.0f} tokens/s", texts.size(), embedder.tokens(), seconds,
           static_cast<double>(texts.size()) / seconds, static_cast<double>(embedder.tokens()) / seconds);
  return 0;
}

}  // namespace hearth::apps
