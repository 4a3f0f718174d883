#pragma once

#include <string>
#include <string_view>

#include "hearth/data/records.h"

namespace hearth::data {

// Hands on the rows below the header as objects of strings. Columns are named as in pandas: "Unnamed: 2" for the third
// if it has no name, and a name's second use gets ".1".
void read_csv_records(std::string_view text, char separator, const std::string& file, const RecordSink& sink);

// A name that pandas gives a column without one, such as the index that to_csv writes.
bool is_unnamed(std::string_view column);

}  // namespace hearth::data
