#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::migrate {

// An argument of a call: name=text, or text alone.
struct PythonArgument {
  std::size_t line = 1;
  std::string name;  // empty: by its place; "**": all of a dict
  std::string text;  // as it stands in the script, on one line
  // The value of a literal as the words of a command line: none for None, several for a list; nothing for an
  // expression.
  std::optional<std::vector<std::string>> words;
};

// A call in a script.
struct PythonCall {
  std::string name;  // with what stands before it: trainer.train, AutoTokenizer.from_pretrained
  std::size_t line = 1;
  std::vector<PythonArgument> arguments;

  std::string_view last_name() const { return std::string_view(name).substr(name.rfind('.') + 1); }
  const PythonArgument* find(std::string_view argument) const;  // by its name
  // The literal text or number at this place among the arguments without a name; "" if there is none.
  std::string word_at(std::size_t place) const;
};

// All calls of a script, in the order in which they begin; those inside another one's arguments as well.
std::vector<PythonCall> find_calls(std::string_view script);

// The modules that a script imports, with their lines.
struct PythonImport {
  std::string module;
  std::size_t line = 1;
};
std::vector<PythonImport> find_imports(std::string_view script);

}  // namespace hearth::migrate
