#include "hearth/tokenizer/metaspace.h"

#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

Metaspace::Prepend prepend_named(std::string_view name, const std::string& where) {
  if (name == "always") return Metaspace::Prepend::always;
  if (name == "first") return Metaspace::Prepend::first;
  check(name == "never", "{}: \"prepend_scheme\" must be always, first or never, found {}", where, name);
  return Metaspace::Prepend::never;
}

}  // namespace

// Older files have add_prefix_space instead of prepend_scheme.
Metaspace read_metaspace(const io::Json& node, const std::string& where) {
  Metaspace metaspace;
  metaspace.replacement = io::get_string(node, "replacement", where);
  check(count_code_points(metaspace.replacement) == 1, "{}: \"replacement\" is not one character", where);
  const bool prepends = io::get_bool_or(node, "add_prefix_space", true, where);
  metaspace.prepend =
      prepend_named(io::get_string_or(node, "prepend_scheme", prepends ? "always" : "never", where), where);
  check(prepends || metaspace.prepend == Metaspace::Prepend::never,
        "{}: \"add_prefix_space\" false contradicts \"prepend_scheme\"", where);
  metaspace.split = io::get_bool_or(node, "split", true, where);
  return metaspace;
}

io::Json make_metaspace(bool add_prefix_space) {
  return {{"type", "Metaspace"},
          {"replacement", "\u2581"},
          {"prepend_scheme", add_prefix_space ? "always" : "never"},
          {"split", true}};
}

}  // namespace hearth::tokenizer
