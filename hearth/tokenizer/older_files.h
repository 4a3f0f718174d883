#pragma once

#include <filesystem>
#include <string>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/bpe.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"
#include "hearth/tokenizer/settings_file.h"

// Files that tokenizers had before tokenizer.json: vocab.txt, vocab.json with merges.txt, SentencePiece models.
namespace hearth::tokenizer {

// The class of transformers that most probably has the files of this folder. An Error if there are none.
std::string class_of_older_files(const std::filesystem::path& folder);

// tokenizer.json as transformers 4.57 makes it for the class and the special tokens of `config`, to whose added tokens
// those of the files are added.
io::Json convert_older_files(const std::filesystem::path& folder, const SettingsFile& settings, PipelineConfig& config);

// The same for a vocabulary alone, which a trainer may have made.
io::Json make_wordpiece_json(Vocabulary vocabulary, const NormalizerOptions& options, Conversion conversion,
                             const PipelineConfig& config);
io::Json make_byte_level_json(const TokenTable& tokens, const Bpe::Merges& merges, Conversion conversion,
                              const SettingsFile& settings, const PipelineConfig& config);

// A configuration of BERT's tokenizer with its default special tokens. `source` names the vocabulary in errors.
PipelineConfig bert_config(Vocabulary vocabulary, const NormalizerOptions& options, const std::string& source);

}  // namespace hearth::tokenizer
