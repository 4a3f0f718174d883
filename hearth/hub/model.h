#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/hub/settings.h"

namespace hearth::hub {

// What of a model somebody needs; the rest is not downloaded.
enum class ModelParts { config, tokenizer, all };

// The folder of a model: `name` itself where that is a folder, else the snapshot of a name such as
// google-bert/bert-base-uncased in the Hub's cache, downloaded if it is not there. Names from before the Hub's
// organisations, such as bert-base-uncased, find the model under its present name.
HEARTH_API std::filesystem::path find_model(const std::string& name, ModelParts parts, const Access& access = {},
                                            const std::string& revision = std::string(kMainRevision));

// Shell patterns of the files that make up a model with its tokenizer.
std::vector<std::string> model_file_patterns();

}  // namespace hearth::hub
