#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hearth/data/table.h"
#include "hearth/models/embedding_loss.h"

namespace hearth::tasks {

// The records of a file: pairs, triplets or more texts each, with the numbers that a teacher gave them, if any.
struct EmbeddingRecords {
  std::string file;
  std::vector<std::string> columns;             // names of the texts: anchor, positive, negatives
  std::vector<std::vector<std::string>> texts;  // by column, then by record
  std::vector<double> labels;                   // (records, labels_per_record); empty where the file has none
  std::int64_t labels_per_record = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(texts.front().size()); }
  bool has_labels() const { return labels_per_record > 0; }
};

// Reads the columns that `names` lists or, where it is empty, all but the label: the first of label, labels, score and
// scores. As sentence-transformers: the order of columns counts, not their names. An empty or missing text is an Error
// that names the record, and so is a label that is not a number.
EmbeddingRecords read_embedding_records(const data::Table& table, const std::vector<std::string>& names,
                                        std::optional<std::int64_t> max_records);

// An Error where the loss cannot learn from these records: too few columns, no labels, labels outside their range.
void check_fits(const models::EmbeddingLoss& loss, const EmbeddingRecords& records);

}  // namespace hearth::tasks
