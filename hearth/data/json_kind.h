#pragma once

#include <optional>

#include "hearth/data/column.h"
#include "hearth/io/json_fwd.h"

namespace hearth::data {

// The kind of a JSON value that is neither null nor a list. Whole numbers beyond 64 bits are numbers.
ColumnKind scalar_kind(const io::Json& value);
ColumnKind list_of(ColumnKind items);
// The kind of a column with values of both kinds, if there is one.
std::optional<ColumnKind> joined(ColumnKind a, ColumnKind b);

}  // namespace hearth::data
