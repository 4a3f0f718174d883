#include "hearth/data/json_kind.h"

#include <cstdint>
#include <limits>

#include "hearth/io/json.h"

namespace hearth::data {
namespace {

using Kind = ColumnKind;

constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

}  // namespace

Kind scalar_kind(const io::Json& value) {
  if (value.is_string()) return Kind::text;
  if (value.is_boolean()) return Kind::boolean;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest) return Kind::number;
  if (value.is_number_integer()) return Kind::integer;
  return value.is_number() ? Kind::number : Kind::other;
}

Kind list_of(Kind kind) {
  switch (kind) {
    case Kind::text:
      return Kind::text_list;
    case Kind::integer:
      return Kind::integer_list;
    case Kind::number:
      return Kind::number_list;
    default:
      return Kind::other;
  }
}

std::optional<Kind> joined(Kind a, Kind b) {
  const auto are = [&](Kind one, Kind two) { return (a == one && b == two) || (a == two && b == one); };
  if (a == b) return a;
  if (are(Kind::integer, Kind::number)) return Kind::number;
  if (are(Kind::integer_list, Kind::number_list)) return Kind::number_list;
  return std::nullopt;
}

}  // namespace hearth::data
