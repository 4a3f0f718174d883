#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hearth/nn/model.h"
#include "hearth/tasks/common/label_map.h"
#include "hearth/tasks/token_classification/features.h"
#include "hearth/train/item_values.h"

namespace hearth::tasks {

// The id of the most probable label of each token of a sequence: what an evaluation keeps.
std::vector<float> kept_labels(std::int64_t sequence, const Batch& batch, const nn::ModelOutput& output);

// Names of labels per sentence, for the tokens that have a label.
std::vector<std::vector<std::string>> true_tags(const TokenFeatures& features, const LabelMap& labels);
std::vector<std::vector<std::string>> predicted_tags(const TokenFeatures& features, const ItemValues& kept,
                                                     const LabelMap& labels);

// As run_ner.py: a line per sentence, with spaces between the tags.
void write_tags(const std::vector<std::vector<std::string>>& tags, const std::filesystem::path& file);

}  // namespace hearth::tasks
