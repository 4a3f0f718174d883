#include <algorithm>
#include <string>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bert_tokenizer.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr int kIndent = 2;

Json make_special_tokens(const BertConfig& config) {
  return {{"cls_token", config.cls_token},
          {"mask_token", config.mask_token},
          {"pad_token", config.pad_token},
          {"sep_token", config.sep_token},
          {"unk_token", config.unk_token}};
}

Json make_tokenizer_config(const BertConfig& config) {
  Json decoder = Json::object();
  for (const AddedToken& token : config.added_tokens) decoder[std::to_string(token.id)] = make_added_token(token);
  const NormalizerOptions& options = config.normalizer;
  Json json = {{"added_tokens_decoder", std::move(decoder)},
               {"clean_up_tokenization_spaces", false},
               {"do_lower_case", options.lowercase},
               {"strip_accents", options.strip_accents ? Json(*options.strip_accents) : Json()},
               {"tokenize_chinese_chars", options.handle_chinese_chars},
               {"tokenizer_class", config.tokenizer_class}};
  json.update(make_special_tokens(config));
  if (config.model_max_length != kUnlimited) json["model_max_length"] = config.model_max_length;
  return json;
}

}  // namespace

void BertTokenizer::save(const std::filesystem::path& folder) const {
  const auto write = [&](const char* name, const Json& json, bool sort_keys) {
    io::replace_file(folder / name, io::dump_json(json, kIndent, sort_keys) + '\n');
  };
  io::create_directories(folder);
  write_vocabulary(folder / "vocab.txt", config_.vocabulary);
  write("tokenizer.json", make_tokenizer_json(*this), false);
  write("tokenizer_config.json", make_tokenizer_config(config_), true);
  write("special_tokens_map.json", make_special_tokens(config_), true);
}

}  // namespace hearth::tokenizer
