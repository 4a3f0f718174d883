#include "hearth/io/option_file.h"

#include "hearth/base/check.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/io/yaml.h"

namespace hearth::io {

bool is_option_file(std::string_view word) {
  return word.ends_with(".json") || word.ends_with(".yaml") || word.ends_with(".yml");
}

Json read_option_file(const std::string& file) {
  Json options = file.ends_with(".json") ? read_json(file) : parse_yaml(read_file(file), file);
  check(options.is_object(), "{}: expected options as keys, such as max_steps: 100, found {}", file, excerpt(options));
  return options;
}

}  // namespace hearth::io
