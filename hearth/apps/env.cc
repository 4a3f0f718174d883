#include <dlfcn.h>
#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/apps/machine.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"
#include "hearth/comm/plugin.h"
#include "hearth/comm/plugin_loader.h"
#include "hearth/cpu/isa.h"
#include "hearth/io/json.h"

namespace hearth::apps {
namespace {

io::Json backends() {
  io::Json json{{"self", "one process"}};
  for (const comm::PluginInfo& plugin : comm::describe_plugins())
    json[plugin.name] = plugin.problem.empty() ? plugin.library : plugin.problem;
  return json;
}

// Shell commands that set the paths of oneCCL and Intel MPI as the plug-in finds them.
std::string setvars() {
  const auto file = comm::find_plugin("ccl", comm::Launcher::none);
  void* const library = file ? dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const auto variables =
      library != nullptr ? reinterpret_cast<HearthCommSetvars>(dlsym(library, HEARTH_COMM_SETVARS)) : nullptr;
  const std::string text = variables != nullptr ? variables() : "";
  check(!text.empty(),
        "oneCCL and Intel MPI were not found: install them with scripts/install_backends, then build again");
  return text;
}

void print_item(std::string_view indent, const std::string& key, const io::Json& value) {
  if (value.is_object()) {
    fmt::print("{}- {}:\n", indent, key);
    for (const auto& [name, inner] : value.items()) print_item(std::string(indent) + "  ", name, inner);
  } else if (value.is_array()) {
    std::string list;
    for (const io::Json& item : value) list += (list.empty() ? "" : ", ") + item.get<std::string>();
    fmt::print("{}- {}: {}\n", indent, key, list);
  } else {
    fmt::print("{}- {}: {}\n", indent, key, value.is_string() ? value.get<std::string>() : value.dump());
  }
}

void print_variables() {
  fmt::print("\nEnvironment variables:\n");
  for (const EnvironmentVariable& variable : environment_variables())
    fmt::print("  {:<28}{}\n", variable.name, wrapped(variable.meaning, help_columns(), 30));
}

}  // namespace

int env(std::span<const std::string> words) {
  bool json = false, variables = false;
  std::string max_isa;
  Arguments arguments("hearth env", "Describes this machine and this build, for a bug report.");
  arguments.add("json", &json, "print JSON");
  arguments.add("setvars", &variables, "print shell commands that put oneCCL and Intel MPI on the search paths");
  arguments.add("max_isa", &max_isa, "highest instruction set to use");
  arguments.examples({"hearth env", "hearth env --json", "eval \"$(hearth env --setvars)\""});
  if (!parse_or_print_help(arguments, words, json)) {
    print_variables();
    return 0;
  }
  if (variables) {
    fmt::print("{}", setvars());
    return 0;
  }
  if (!max_isa.empty()) cpu::set_max_isa(max_isa);
  io::Json description = describe_machine();
  description["backends"] = backends();
  if (json) {
    fmt::print("{}\n", io::dump_json(description, 2));
    return 0;
  }
  fmt::print("Copy-and-paste the text below in your issue:\n\n");
  for (const auto& [key, value] : description.items()) print_item("", key, value);
  return 0;
}

}  // namespace hearth::apps
