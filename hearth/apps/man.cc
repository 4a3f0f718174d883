// Manual pages in man(7)'s language, made of what `--help` prints.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hearth/apps/build_info.h"
#include "hearth/apps/command.h"
#include "hearth/apps/exit_statuses.h"
#include "hearth/base/environment.h"
#include "hearth/base/usage_error.h"
#include "hearth/base/version.h"
#include "hearth/io/file.h"

namespace hearth::apps {
namespace {

// Text that roff shows as it is: no escape, no request at the beginning of a line.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

// Keeps the line breaks of the text.
std::string lines(std::string_view text) {
  std::string result = plain(text);
  for (std::size_t at = 0; (at = result.find('\n', at)) != result.npos; at += 5) result.replace(at, 1, "\n.br\n");
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; });
  return result;
}

std::string header(std::string_view name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"{}\" \"hearth {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", plain(upper(name)),
                     kBuild.date, kVersion, plain(name), plain(summary));
}

std::string item(std::string_view term, std::string_view meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", plain(term), plain(meaning));
}

std::string by_reason(std::string_view title, const Arguments::Description::NamesByReason& groups) {
  std::string result = groups.empty() ? "" : fmt::format(".SH {}\n", upper(title));
  for (const auto& [reason, names] : groups)
    result += fmt::format(".TP\n{}:\n{}\n", plain(reason), plain(names.substr(1)));
  return result;
}

std::string page_name(std::string_view parent, const Command& command) {
  return fmt::format("{}-{}", parent, command.name);
}

std::string page(std::string_view name, const Command& command) {
  const Arguments::Description description = describe(command);
  std::string result = header(name, command.summary);
  result +=
      fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", plain(description.usage), lines(description.summary));
  std::string section;
  for (const Arguments::Described& option : description.options) {
    if (option.section != section) result += fmt::format(".SH {}\n", plain(upper(section = option.section)));
    result += item(option.label, option.explanation);
  }
  result += by_reason("accepted, changing nothing", description.ignored);
  result += by_reason("refused, because it", description.refused);
  if (!description.examples.empty()) result += ".SH EXAMPLES\n";
  for (const std::string& example : description.examples) result += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(example));
  return result + ".SH SEE ALSO\n.BR hearth (1)\n";
}

std::string overview(std::string_view name, std::string_view summary, std::span<const Command> parts) {
  std::string result = header(name, summary) + fmt::format(".SH SYNOPSIS\n{} COMMAND [arguments]\n.SH COMMANDS\n",
                                                           name == "hearth" ? "hearth" : "hearth bench");
  for (const Command& command : parts)
    result += fmt::format(".TP\n.BR {} (1)\n{}\n", plain(page_name(name, command)), plain(command.summary));
  return result;
}

struct Page {
  std::string name, text;
};

void add_pages(std::vector<Page>& pages, std::string_view parent, std::span<const Command> all) {
  for (const Command& command : all) {
    const std::string name = page_name(parent, command);
    pages.push_back(
        {name, command.parts.empty() ? page(name, command) : overview(name, command.summary, command.parts)});
    add_pages(pages, name, command.parts);
  }
}

std::string main_page() {
  std::string result = overview("hearth", "fine\\-tunes transformers on CPUs", commands());
  result += fmt::format(".SH EXIT STATUS\n{}\n.SH ENVIRONMENT\n", plain(kExitStatuses));
  for (const EnvironmentVariable& variable : environment_variables()) result += item(variable.name, variable.meaning);
  return result;
}

std::vector<Page> all_pages() {
  std::vector<Page> pages{{"hearth", main_page()}};
  add_pages(pages, "hearth", commands());
  return pages;
}

}  // namespace

int man(std::span<const std::string> words) {
  std::vector<std::string> command;
  std::string output_dir;
  Arguments arguments("hearth man", "Prints the manual page of hearth or of one of its commands, or writes all pages.");
  arguments.positional("COMMAND", &command, "command to explain, as `run_qa` or `bench train`");
  arguments.add("output_dir", &output_dir, "write the pages of all commands into this folder: hearth-run_qa.1");
  arguments.examples({"hearth man run_qa | man -l -", "hearth man --output_dir /usr/local/share/man/man1"});
  if (!parse_or_print_help(arguments, words)) return 0;
  const std::vector<Page> pages = all_pages();
  if (!output_dir.empty()) {
    io::create_directories(output_dir);
    for (const Page& page : pages) io::replace_file(std::filesystem::path(output_dir) / (page.name + ".1"), page.text);
    return 0;
  }
  std::string name = "hearth";
  for (const std::string& word : command) name += "-" + word;
  const auto found = std::ranges::find(pages, name, &Page::name);
  if (found == pages.end())
    throw UsageError(fmt::format("there is no manual page {}: 'hearth --help' lists the commands", name));
  fmt::print("{}", found->text);
  return 0;
}

}  // namespace hearth::apps
