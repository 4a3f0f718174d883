#include "hearth/train/program_flags.h"

#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/usage_error.h"
#include "hearth/io/json.h"
#include "hearth/io/option_file.h"
#include "hearth/io/utf8.h"

namespace hearth {
namespace {

std::vector<std::string> words_of(const io::Json& value) {
  if (value.is_null() || (value.is_structured() && value.empty())) return {"None"};
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) return {io::dump_json(value, io::kOneLine)};
  std::vector<std::string> words;
  for (const io::Json& item : value) words.push_back(words_of(item).front());
  return words;
}

void read_file(Arguments& options, const std::string& file) {
  const io::Json values = io::read_option_file(file);
  for (const auto& [name, value] : values.items())
    options.set(name, value.is_null() ? std::nullopt : std::optional(words_of(value)), file);
}

}  // namespace

void parse_flags_or_file(Arguments& options, std::span<const std::string> words) {
  as_usage([&] {
    for (const std::string& word : words)
      check(io::is_utf8(word), "'{}' is not UTF-8, which the output files need: use another name", word);
    const bool has_file = !words.empty() && io::is_option_file(words[0]);
    if (has_file) read_file(options, words[0]);
    options.parse(words.subspan(has_file ? 1 : 0));
  });
}

void take_precision_of_launcher(TrainingArguments& args) {
  if (args.fp16 || args.bf16) return;
  const std::string precision = environment("ACCELERATE_MIXED_PRECISION");
  check(precision.empty() || precision == "no" || precision == "fp16" || precision == "bf16",
        "ACCELERATE_MIXED_PRECISION is '{}', but Hearth trains in no (fp32), fp16 or bf16: set one of these",
        precision);
  args.fp16 = precision == "fp16";
  args.bf16 = precision == "bf16";
}

io::Json to_json(std::span<const Arguments::Resolved> values) {
  io::Json result = io::Json::object();
  const auto json_of = [](const auto& value) -> io::Json {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
      return nullptr;
    else
      return value;
  };
  for (const Arguments::Resolved& resolved : values) result[resolved.name] = std::visit(json_of, resolved.value);
  return result;
}

}  // namespace hearth
