#pragma once

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"
#include "hearth/tokenizer/sentencepiece_model.h"
#include "hearth/tokenizer/settings_file.h"
#include "hearth/tokenizer/unigram.h"

namespace hearth::tokenizer {

// tokenizer.json as transformers 4.57 makes it for the given class. Control pieces and those that users defined are
// added to the added tokens of `config`.
io::Json convert_sentencepiece(const SentencePieceModel& model, Conversion conversion, const SettingsFile& settings,
                               PipelineConfig& config);

// The same for a Unigram vocabulary alone, which a trainer may have made; there is no normalizer.
io::Json make_unigram_json(const std::vector<ScoredToken>& tokens, std::int32_t unk_id, Conversion conversion,
                           const SettingsFile& settings, const PipelineConfig& config);

}  // namespace hearth::tokenizer
