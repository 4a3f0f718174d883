#include "hearth/tokenizer/tokenizer_class.h"

#include <algorithm>
#include <vector>

#include "hearth/io/json.h"
#include "hearth/tokenizer/settings_file.h"

namespace hearth::tokenizer {
namespace {

namespace fs = std::filesystem;

const SpecialNames kBertNames = {
    {"unk", "[UNK]"}, {"sep", "[SEP]"}, {"pad", "[PAD]"}, {"cls", "[CLS]"}, {"mask", "[MASK]"}};
const SpecialNames kRobertaNames = {{"bos", "<s>"},   {"eos", "</s>"}, {"unk", "<unk>"},  {"sep", "</s>"},
                                    {"pad", "<pad>"}, {"cls", "<s>"},  {"mask", "<mask>"}};

SpecialNames with(SpecialNames names, const SpecialNames& others) {
  for (const auto& [name, token] : others) names[name] = token;
  return names;
}

const std::vector<TokenizerClass>& classes() {
  static const std::vector<TokenizerClass> kClasses = {
      {"bert", "BertTokenizer", Conversion::bert, kBertNames},
      {"distilbert", "DistilBertTokenizer", Conversion::bert, kBertNames},
      {"electra", "ElectraTokenizer", Conversion::bert, kBertNames},
      {"mpnet", "MPNetTokenizer", Conversion::mpnet, with(kRobertaNames, {{"unk", "[UNK]"}}), true},
      {"roberta", "RobertaTokenizer", Conversion::roberta, kRobertaNames, true},
      {"xlm-roberta", "XLMRobertaTokenizer", Conversion::xlm_roberta, kRobertaNames, true},
      {"camembert", "CamembertTokenizer", Conversion::camembert, kRobertaNames, true},
      {"albert", "AlbertTokenizer", Conversion::albert,
       with(kBertNames, {{"bos", "[CLS]"}, {"eos", "[SEP]"}, {"unk", "<unk>"}, {"pad", "<pad>"}}), true},
      {"deberta", "DebertaTokenizer", Conversion::deberta, kBertNames, true},
      {"deberta-v2", "DebertaV2Tokenizer", Conversion::deberta_v2,
       with(kBertNames, {{"bos", "[CLS]"}, {"eos", "[SEP]"}})},
      {"gpt2",
       "GPT2Tokenizer",
       Conversion::gpt2,
       {{"unk", "<|endoftext|>"}, {"bos", "<|endoftext|>"}, {"eos", "<|endoftext|>"}}},
      {"qwen2",
       "Qwen2Tokenizer",
       Conversion::qwen2,
       {{"unk", "<|endoftext|>"}, {"eos", "<|endoftext|>"}, {"pad", "<|endoftext|>"}}},
      {"qwen3",
       "Qwen2Tokenizer",
       Conversion::qwen2,
       {{"unk", "<|endoftext|>"}, {"eos", "<|endoftext|>"}, {"pad", "<|endoftext|>"}}},
      {"llama", "LlamaTokenizer", Conversion::llama, {{"unk", "<unk>"}, {"bos", "<s>"}, {"eos", "</s>"}}},
      {"t5", "T5Tokenizer", Conversion::t5, {{"eos", "</s>"}, {"unk", "<unk>"}, {"pad", "<pad>"}}},
      {"modernbert", "PreTrainedTokenizerFast", Conversion::none, {}},
      {"", "TokenizersBackend", Conversion::none, {}},
  };
  return kClasses;
}

std::string class_of_family(const SettingsFile& config) {
  const std::string type = io::get_string_or(config.values, "model_type", "", config.name);
  const auto found = std::ranges::find(classes(), type, &TokenizerClass::model_type);
  return type.empty() || found == classes().end() ? "" : std::string(found->name);
}

}  // namespace

const TokenizerClass* find_class(std::string_view name) {
  const auto slow = [](std::string_view one) { return one.ends_with("Fast") ? one.substr(0, one.size() - 4) : one; };
  const auto found =
      std::ranges::find_if(classes(), [&](const TokenizerClass& one) { return slow(one.name) == slow(name); });
  return found == classes().end() ? nullptr : &*found;
}

std::string class_of_model(const fs::path& folder) {
  const SettingsFile config(folder / "config.json");
  const std::string named = io::get_string_or(config.values, "tokenizer_class", "", config.name);
  return named.empty() ? class_of_family(config) : named;
}

std::string class_to_save(const std::string& own, const fs::path& folder) {
  const auto is_bert = [](const TokenizerClass* one) { return one && one->conversion == Conversion::bert; };
  if (!is_bert(find_class(own))) return own;
  const std::string family = class_of_family(SettingsFile(folder / "config.json"));
  return is_bert(find_class(family)) ? family : own;
}

}  // namespace hearth::tokenizer
