#pragma once

#include <memory>
#include <string>

#include "hearth/data/glue.h"
#include "hearth/data/glue_records.h"
#include "hearth/tasks/text_classification/text_source.h"

namespace hearth::tasks {

// The texts of files of a GLUE task (data/glue_records.h). `left_out` counts while they are read.
TextSource glue_texts(const data::Files& files, const data::GlueTask& task, LabelsIn labels,
                      std::shared_ptr<data::GlueLeftOut> left_out);

// Logs the rows that were left out, if there are some.
void log_left_out(const std::string& file, const data::GlueLeftOut& left_out);

}  // namespace hearth::tasks
