#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// The names that tokenizer_config.json has for tokenizers: the classes of transformers.
namespace hearth::tokenizer {

inline constexpr std::string_view kDefaultClass = "BertTokenizer";

// The class that the model of this folder asks for in its config.json, by "tokenizer_class" or "model_type"; empty
// where there is no config.json or its model_type is not in the table.
std::string class_of_model(const std::filesystem::path& folder);

// The class to name in tokenizer_config.json of this folder, for a tokenizer of the class `own`. BERT's tokenizer
// beside a DistilBERT must be called DistilBertTokenizer: transformers gives a model the inputs of that class, and
// DistilBERT takes no token_type_ids.
std::string class_to_save(const std::string& own, const std::filesystem::path& folder);

// Classes that take tokenizer.json as it stands. The other classes, such as BERT's, have defaults of their own.
bool takes_tokenizer_json_as_it_is(std::string_view tokenizer_class);

}  // namespace hearth::tokenizer
