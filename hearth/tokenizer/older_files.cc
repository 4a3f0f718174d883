#include "hearth/tokenizer/older_files.h"

#include <array>
#include <optional>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/merges_file.h"
#include "hearth/tokenizer/sentencepiece_conversion.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/vocabulary_file.h"

namespace hearth::tokenizer {
namespace {

namespace fs = std::filesystem;
using io::Json;

// A SentencePiece model by its name, and the class that usually has it.
constexpr std::array<std::pair<const char*, std::string_view>, 4> kSentencePieceFiles{
    {{"sentencepiece.bpe.model", "XLMRobertaTokenizer"},
     {"spm.model", "DebertaV2Tokenizer"},
     {"spiece.model", "AlbertTokenizer"},
     {"tokenizer.model", "LlamaTokenizer"}}};

std::optional<fs::path> find_sentencepiece(const fs::path& folder) {
  for (const auto& [name, tokenizer_class] : kSentencePieceFiles)
    if (fs::exists(folder / name)) return folder / name;
  return std::nullopt;
}

bool has_bpe(const fs::path& folder) { return fs::exists(folder / "vocab.json") && fs::exists(folder / "merges.txt"); }

TokenId token_of(const TokenTable& tokens, const PipelineConfig& config, const char* name) {
  const auto token = config.special_names.find(name);
  const std::string text = token == config.special_names.end() ? "" : token->second;
  const std::int32_t id = tokens.find(text);
  check(id != TokenTable::kNoToken, "{} has no token \"{}\", which a {} cannot do without", config.source, text,
        config.tokenizer_class);
  return {text, id};
}

Json make_bpe_post_processor(Conversion conversion, const TokenTable& tokens, bool add_prefix_space,
                             const SettingsFile& settings, const PipelineConfig& config) {
  if (conversion == Conversion::roberta) {
    const auto [cls, cls_id] = token_of(tokens, config, "cls");
    const auto [sep, sep_id] = token_of(tokens, config, "sep");
    return {{"type", "RobertaProcessing"},
            {"sep", {sep, sep_id}},
            {"cls", {cls, cls_id}},
            {"trim_offsets", true},
            {"add_prefix_space", add_prefix_space}};
  }
  if (conversion == Conversion::deberta) {
    const TokenId cls = token_of(tokens, config, "cls"), sep = token_of(tokens, config, "sep");
    return make_template({cls.first, "$A", sep.first}, {cls.first, "$A", sep.first, "$B:1", sep.first + ":1"},
                         {cls, sep});
  }
  if (conversion == Conversion::gpt2 && io::get_bool_or(settings.values, "add_bos_token", false, settings.name)) {
    const TokenId bos = token_of(tokens, config, "bos");
    return make_template({bos.first, "$A"}, {bos.first, "$A", "$B:1"}, {bos});
  }
  return make_byte_level(true, false, true);
}

Json convert_bpe(const fs::path& folder, Conversion conversion, const SettingsFile& settings, PipelineConfig& config) {
  const fs::path file = folder / "vocab.json";
  config.source = file.string();
  const TokenTable tokens(read_vocab(io::read_json(file), config.source));
  return make_byte_level_json(tokens, read_merges(folder / "merges.txt"), conversion, settings, config);
}

bool is_bpe(Conversion conversion) {
  return conversion == Conversion::roberta || conversion == Conversion::gpt2 || conversion == Conversion::qwen2 ||
         conversion == Conversion::deberta;
}

}  // namespace

Json make_wordpiece_json(Vocabulary vocabulary, const NormalizerOptions& options, Conversion conversion,
                         const PipelineConfig& config) {
  Json json = make_bert_json(std::move(vocabulary), options, config.special_names, config.source);
  if (conversion != Conversion::mpnet) return json;
  Json& pair = json["post_processor"]["pair"];  // MPNet has a second separator between the texts
  pair.insert(pair.begin() + 3, pair[2]);
  return json;
}

Json make_byte_level_json(const TokenTable& tokens, const Bpe::Merges& merges, Conversion conversion,
                          const SettingsFile& settings, const PipelineConfig& config) {
  const bool add_prefix_space = io::get_bool_or(settings.values, "add_prefix_space", false, settings.name);
  Nodes nodes;
  nodes.pre_tokenizer = make_byte_level(add_prefix_space, true, true);
  if (conversion == Conversion::qwen2) {
    constexpr std::string_view kPattern =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    nodes.normalizer = {{"type", "NFC"}};
    const Json split = {
        {"type", "Split"}, {"pattern", {{"Regex", kPattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    nodes.pre_tokenizer = {{"type", "Sequence"},
                           {"pretokenizers", Json::array({split, make_byte_level(add_prefix_space, true, false)})}};
  }
  nodes.post_processor = make_bpe_post_processor(conversion, tokens, add_prefix_space, settings, config);
  nodes.decoder = make_byte_level(true, true, true);
  Json list = Json::array();
  for (const auto& [first, second] : merges) list.push_back(Json::array({first, second}));
  nodes.model = {{"type", "BPE"},
                 {"dropout", nullptr},
                 {"unk_token", nullptr},
                 {"continuing_subword_prefix", ""},
                 {"end_of_word_suffix", ""},
                 {"fuse_unk", false},
                 {"byte_fallback", false},
                 {"ignore_merges", false},
                 {"vocab", make_vocab(tokens)},
                 {"merges", std::move(list)}};
  return make_tokenizer_json(std::move(nodes));
}

std::string class_of_older_files(const fs::path& folder) {
  check(fs::is_directory(folder), "{} is not a folder: the tokenizer of a model is read from the model's folder",
        folder.string());
  if (fs::exists(folder / "vocab.txt")) return std::string(kDefaultClass);
  if (has_bpe(folder)) {
    const Json vocab = io::read_json(folder / "vocab.json");
    return vocab.is_object() && vocab.contains("<mask>") ? "RobertaTokenizer" : "GPT2Tokenizer";
  }
  for (const auto& [name, tokenizer_class] : kSentencePieceFiles)
    if (fs::exists(folder / name)) return std::string(tokenizer_class);
  fail(
      "{} holds no tokenizer: there is no tokenizer.json, nor vocab.txt, nor vocab.json and merges.txt, nor a "
      "SentencePiece model",
      folder.string());
}

Json convert_older_files(const fs::path& folder, const SettingsFile& settings, PipelineConfig& config) {
  const TokenizerClass* known = find_class(config.tokenizer_class);
  if (!known || known->conversion == Conversion::none) known = find_class(class_of_older_files(folder));
  for (const auto& [name, token] : known->special_names) config.special_names.emplace(name, token);
  if (is_bpe(known->conversion) && has_bpe(folder)) return convert_bpe(folder, known->conversion, settings, config);
  const bool is_bert = known->conversion == Conversion::bert || known->conversion == Conversion::mpnet;
  if (is_bert && fs::exists(folder / "vocab.txt")) {
    config.source = (folder / "vocab.txt").string();
    return make_wordpiece_json(read_vocabulary(folder / "vocab.txt"), {}, known->conversion, config);
  }
  const auto file = find_sentencepiece(folder);
  if (!is_bert && !is_bpe(known->conversion) && file) {
    config.source = file->string();
    return convert_sentencepiece(read_sentencepiece_model(*file), known->conversion, settings, config);
  }
  class_of_older_files(folder);  // says if there are no files at all
  fail("{} holds no files of a {}, which its config.json or tokenizer_config.json names", folder.string(),
       config.tokenizer_class);
}

PipelineConfig bert_config(Vocabulary vocabulary, const NormalizerOptions& options, const std::string& source) {
  PipelineConfig config;
  config.source = source;
  config.special_names = find_class(kDefaultClass)->special_names;
  config.nodes = make_bert_json(std::move(vocabulary), options, config.special_names, source);
  add_special_tokens(config);
  return config;
}

}  // namespace hearth::tokenizer
