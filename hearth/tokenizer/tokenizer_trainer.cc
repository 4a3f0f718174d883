#include "hearth/tokenizer/tokenizer_trainer.h"

#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/base/enum_names.h"
#include "hearth/tokenizer/bpe_trainer.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/metaspace.h"
#include "hearth/tokenizer/older_files.h"
#include "hearth/tokenizer/sentencepiece_conversion.h"
#include "hearth/tokenizer/tokenizer_files.h"
#include "hearth/tokenizer/tokenizer_json.h"
#include "hearth/tokenizer/unicode.h"
#include "hearth/tokenizer/unigram_trainer.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

constexpr std::int32_t kLongestWord = 100;  // characters; WordPiece makes a longer word an unknown token in any case

// Special tokens have the ids 0, 1, ... in this order, as in the vocabularies of the class.
struct Trainable {
  TokenizerType type;
  std::string_view tokenizer_class;
  std::vector<std::string_view> special_names;
};

const std::vector<Trainable>& trainables() {
  using enum TokenizerType;
  static const std::vector<Trainable> kTrainables = {
      {wordpiece, "BertTokenizer", {"pad", "unk", "cls", "sep", "mask"}},
      {wordpiece, "DistilBertTokenizer", {"pad", "unk", "cls", "sep", "mask"}},
      {wordpiece, "ElectraTokenizer", {"pad", "unk", "cls", "sep", "mask"}},
      {wordpiece, "MPNetTokenizer", {"cls", "pad", "sep", "unk", "mask"}},
      {bpe, "RobertaTokenizer", {"cls", "pad", "sep", "unk", "mask"}},
      {bpe, "GPT2Tokenizer", {"eos"}},
      {unigram, "XLMRobertaTokenizer", {"cls", "pad", "sep", "unk", "mask"}},
      {unigram, "AlbertTokenizer", {"pad", "unk", "cls", "sep", "mask"}},
      {unigram, "DebertaV2Tokenizer", {"pad", "cls", "sep", "unk", "mask"}},
  };
  return kTrainables;
}

const Trainable& find_trainable(const TokenizerTraining& options) {
  const std::vector<std::string> names = trainable_classes(options.type);
  const std::string name = options.tokenizer_class.empty() ? names.front() : options.tokenizer_class;
  for (const Trainable& one : trainables())
    if (one.type == options.type && one.tokenizer_class == name) return one;
  fail("a {} has no vocabulary of the type {}; classes of this type are {}", name, name_of(options.type),
       fmt::join(names, ", "));
}

NormalizerOptions bert_options(const TokenizerTraining& options) {
  return {.lowercase = options.lowercase.value_or(true)};
}

Json make_nodes(const TokenizerTraining& options) {
  const Json lowercase = {{"type", "Lowercase"}};
  const bool is_lower = options.lowercase.value_or(false);
  switch (options.type) {
    case TokenizerType::wordpiece:
      return {{"normalizer", make_bert_normalizer(bert_options(options))},
              {"pre_tokenizer", {{"type", "BertPreTokenizer"}}}};
    case TokenizerType::bpe:
      return {{"normalizer", is_lower ? lowercase : Json()},
              {"pre_tokenizer", make_byte_level(options.add_prefix_space, true, true)}};
    case TokenizerType::unigram:
      break;
  }
  Json steps = Json::array({{{"type", "Nmt"}}, {{"type", "NFKC"}}});
  if (is_lower) steps.push_back(lowercase);
  steps.push_back({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
  return {{"normalizer", {{"type", "Sequence"}, {"normalizers", std::move(steps)}}},
          {"pre_tokenizer", make_metaspace(true)}};
}

// The settings of tokenizer_config.json that say how the nodes were made.
Json make_settings(const TokenizerTraining& options) {
  Json settings = Json::object();
  if (options.type == TokenizerType::bpe) settings["add_prefix_space"] = options.add_prefix_space;
  if (options.type == TokenizerType::unigram) settings["do_lower_case"] = options.lowercase.value_or(false);
  if (!options.special_tokens.empty()) settings["additional_special_tokens"] = options.special_tokens;
  return settings;
}

std::u32string byte_characters() {
  std::u32string characters;
  for (int byte = 0; byte < 256; ++byte) characters += character_of_byte(static_cast<char>(byte));
  return characters;
}

}  // namespace

std::vector<std::string> trainable_classes(TokenizerType type) {
  std::vector<std::string> names;
  for (const Trainable& one : trainables())
    if (one.type == type) names.emplace_back(one.tokenizer_class);
  return names;
}

TokenizerTrainer::TokenizerTrainer(TokenizerTraining options)
    : options_(std::move(options)),
      class_(*find_class(find_trainable(options_).tokenizer_class)),
      nodes_(make_nodes(options_)),
      words_(nodes_) {
  check(options_.type != TokenizerType::unigram || (!options_.min_frequency && !options_.limit_alphabet),
        "the training of a unigram vocabulary has no min_frequency and no limit_alphabet: leave them out");
  check(options_.type == TokenizerType::bpe || !options_.add_prefix_space,
        "add_prefix_space is a setting of byte-level tokenizers: leave it out, or train one of the type bpe");
}

std::vector<std::string> TokenizerTrainer::special_tokens() const {
  std::vector<std::string> tokens;
  for (const std::string_view name : find_trainable(options_).special_names)
    tokens.push_back(class_.special_names.at(std::string(name)));
  for (const std::string& token : options_.special_tokens) {
    check(!token.empty(), "a special token is empty");
    if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
  }
  return tokens;
}

std::shared_ptr<const Tokenizer> TokenizerTrainer::train() const {
  SettingsFile settings({});
  settings.values = make_settings(options_);
  PipelineConfig config;
  config.source = "the vocabulary";
  config.special_names = class_.special_names;
  config.tokenizer_class = class_.name;
  if (options_.model_max_length) config.model_max_length = *options_.model_max_length;
  const std::vector<std::string> special = special_tokens();
  std::vector<CountedWord> words = words_.words();

  if (options_.type == TokenizerType::unigram) {
    UnigramTraining training{.special_tokens = special, .progress = options_.progress};
    training.vocab_size = options_.vocab_size.value_or(training.vocab_size);
    const auto unk = std::ranges::find(special, class_.special_names.at("unk"));
    config.nodes = make_unigram_json(train_unigram(words, training), static_cast<std::int32_t>(unk - special.begin()),
                                     class_.conversion, settings, config);
  } else {
    BpeTraining training{.special_tokens = special, .progress = options_.progress};
    training.vocab_size = options_.vocab_size.value_or(training.vocab_size);
    training.min_frequency = options_.min_frequency.value_or(training.min_frequency);
    training.limit_alphabet = options_.limit_alphabet;
    if (options_.type == TokenizerType::bpe) {
      training.initial_alphabet = byte_characters();
      TrainedBpe trained = train_bpe(words, training);
      config.nodes = make_byte_level_json(TokenTable(std::move(trained.vocabulary)), trained.merges, class_.conversion,
                                          settings, config);
    } else {
      constexpr std::int64_t kAlphabet = 1000;
      std::erase_if(words, [](const CountedWord& word) { return count_code_points(word.text) > kLongestWord; });
      if (!training.limit_alphabet) training.limit_alphabet = kAlphabet;
      training.continuing_subword_prefix = "##";
      config.nodes =
          make_wordpiece_json(train_bpe(words, training).vocabulary, bert_options(options_), class_.conversion, config);
    }
  }
  config.nodes["normalizer"] = nodes_["normalizer"];
  config.nodes["pre_tokenizer"] = nodes_["pre_tokenizer"];
  const auto mask = class_.special_names.find("mask");
  for (const std::string& token : special) {
    const bool is_mask = mask != class_.special_names.end() && mask->second == token;
    config.added_tokens.push_back({.content = token, .lstrip = is_mask && class_.mask_takes_spaces});
  }
  config.files = std::make_shared<TokenizerFiles>(TokenizerFiles{std::move(settings.values), Json::object()});
  return std::make_shared<PipelineTokenizer>(std::move(config));
}

}  // namespace hearth::tokenizer
