#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

// The names that tokenizer_config.json has for tokenizers: the classes of transformers.
namespace hearth::tokenizer {

// From "cls" and the like to the token.
using SpecialNames = std::map<std::string, std::string>;
inline constexpr std::array kSpecialNames{"bos", "eos", "unk", "sep", "pad", "cls", "mask"};

// The files of a model's folder from which a tokenizer is read.
inline constexpr std::array kTokenizerFiles{"tokenizer.json",
                                            "vocab.txt",
                                            "vocab.json",
                                            "merges.txt",
                                            "spiece.model",
                                            "spm.model",
                                            "sentencepiece.bpe.model",
                                            "tokenizer.model",
                                            "tokenizer_config.json",
                                            "special_tokens_map.json",
                                            "added_tokens.json"};

inline constexpr std::string_view kDefaultClass = "BertTokenizer";

// How transformers makes a class's tokenizer.json from older files, and what its settings may change.
enum class Conversion {
  none,  // takes tokenizer.json as it stands
  bert,
  mpnet,
  roberta,
  gpt2,
  qwen2,
  deberta,
  xlm_roberta,
  camembert,
  albert,
  deberta_v2,
  llama,
  t5,
};

struct TokenizerClass {
  std::string_view model_type, name;
  Conversion conversion;
  SpecialNames special_names;      // the defaults
  bool mask_takes_spaces = false;  // the mask token includes the spaces before it
};

// The class of this name, with or without "Fast"; null if it is not known.
const TokenizerClass* find_class(std::string_view name);

// The class that the model of this folder asks for in its config.json, by "tokenizer_class" or "model_type"; empty
// where there is no config.json or its model_type is not in the table.
std::string class_of_model(const std::filesystem::path& folder);

// The class to name in tokenizer_config.json of this folder, for a tokenizer of the class `own`. BERT's tokenizer
// beside a DistilBERT must be called DistilBertTokenizer: transformers gives a model the inputs of that class, and
// DistilBERT takes no token_type_ids.
std::string class_to_save(const std::string& own, const std::filesystem::path& folder);

}  // namespace hearth::tokenizer
