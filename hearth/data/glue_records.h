#pragma once

#include <cstdint>
#include <memory>

#include "hearth/data/glue_file.h"
#include "hearth/data/record_source.h"

namespace hearth::data {

// Rows that are left out.
struct GlueLeftOut {
  std::int64_t cut_rows = 0;        // of QQP, with too few fields
  std::int64_t undecided_rows = 0;  // of MNLI, whose gold label is "-"
};

// The rows of a GLUE task, with the fields of Hugging Face's dataset: one or two texts and, if there are labels,
// `label`, a whole number with class names, or a score. Labels are names or numbers in the files. The files are
// - .tsv files of GLUE as distributed: fields end at tabs, quotes are plain characters. The header decides where the
//   columns are; CoLA's train and dev files have none, but four columns: source, label, mark, sentence;
// - other files of records with the columns of Hugging Face's dataset.
// `left_out` is set while the rows are read.
RecordSourcePtr open_glue(const Files& files, const GlueTask& task, GlueLabels labels,
                          std::shared_ptr<GlueLeftOut> left_out);

}  // namespace hearth::data
