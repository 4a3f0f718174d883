#pragma once

#include <string>

#include "hearth/data/glue.h"
#include "hearth/tasks/text_classification/columns.h"
#include "hearth/tasks/text_classification/rows.h"

namespace hearth::tasks {

// The rows of a file of a GLUE task: a .tsv file as GLUE distributes it (data/glue_file.h), or another file of records
// with the column names of Hugging Face's dataset. Labels are names of the task's labels, or scores. Rows that are left
// out are logged if `logs`.
TextRows glue_rows(const std::string& file, const data::GlueTask& task, LabelsIn labels, bool logs);

}  // namespace hearth::tasks
