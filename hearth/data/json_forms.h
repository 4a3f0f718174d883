#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "hearth/io/json_fwd.h"

namespace hearth::data {

// The records of a whole JSON document, in any of the forms that json_records.h lists.
std::deque<io::Json> records_of_document(io::Json document, std::string_view known_column, const std::string& file);

}  // namespace hearth::data
