#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/arguments.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"

namespace hearth {
namespace {

// Where explanations begin: beside the names of the options, on narrow terminals below them.
std::size_t explanation_column(std::size_t columns) { return columns >= 100 ? 36 : columns >= 60 ? 28 : 6; }

struct Placeholder {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(const bool*) const { return " [BOOL]"; }
  std::string operator()(const std::int64_t*) const { return " N"; }
  std::string operator()(const double*) const { return " NUMBER"; }
  std::string operator()(const std::string*) const { return " TEXT"; }
  std::string operator()(const ChoiceTarget&) const { return " TEXT"; }
  std::string operator()(const std::vector<std::string>*) const { return " TEXT..."; }
  template <class T>
  std::string operator()(const std::optional<T>*) const {
    return (*this)(static_cast<const T*>(nullptr));
  }
};

}  // namespace

std::string Arguments::help_row(const Option& option, std::size_t columns) {
  const bool positional = option.kind == Option::Kind::positional, named = option.kind == Option::Kind::named;
  const std::string left =
      positional ? "  " + option.name : "  --" + option.name + std::visit(Placeholder{}, option.target);
  std::string right = option.help;
  if (!option.choices_.empty()) right += fmt::format(": {}", fmt::join(option.choices_, ", "));
  if (!option.aliases.empty()) right += fmt::format("; also --{}", fmt::join(option.aliases, ", --"));
  if (named && option.can_be_negated) right += fmt::format("; off with --no_{}", option.name);
  if (option.required_)
    right += " (needed)";
  else if (named && option.default_text != "None" && !option.default_text.empty())
    right += fmt::format(" [{}]", option.default_text);
  const std::size_t column = explanation_column(columns);
  const std::string gap =
      left.size() < column ? std::string(column - left.size(), ' ') : "\n" + std::string(column, ' ');
  return fmt::format("{}{}{}\n", left, gap, wrapped(right, columns, column));
}

std::string Arguments::help_by_reason(Option::Kind kind, std::size_t columns) const {
  std::vector<std::pair<std::string, std::string>> groups;  // reason, names
  for (const Option& option : options_) {
    if (option.kind != kind) continue;
    auto group = std::ranges::find(groups, option.help, &std::pair<std::string, std::string>::first);
    if (group == groups.end()) group = groups.insert(group, {option.help, ""});
    group->second += " --" + option.name;
  }
  std::string result;
  for (const auto& [reason, names] : groups) result += fmt::format("  {}\n", wrapped(reason + ":" + names, columns, 4));
  return result;
}

std::string Arguments::help() const { return help(help_columns()); }

std::string Arguments::help(std::size_t columns) const {
  std::string usage = "usage: " + command_;
  std::vector<std::pair<std::string, std::string>> sections;  // title, rows
  for (const Option& option : options_) {
    if (option.kind == Option::Kind::ignored || option.kind == Option::Kind::refused) continue;
    if (option.kind == Option::Kind::positional)
      usage += fmt::format(fmt::runtime(option.required_ ? " {}" : " [{}]"), option.name);
    auto section = std::ranges::find(sections, option.section, &std::pair<std::string, std::string>::first);
    if (section == sections.end()) section = sections.insert(section, {option.section, ""});
    section->second += help_row(option, columns);
  }
  sections.emplace_back("Accepted, changing nothing", help_by_reason(Option::Kind::ignored, columns));
  sections.emplace_back("Refused, because it", help_by_reason(Option::Kind::refused, columns));

  std::string result = wrapped(usage + " [--option value ...]", columns, 2) + "\n";
  if (!summary_.empty()) result += fmt::format("\n{}\n", wrapped(summary_, columns, 0));
  for (const auto& [title, rows] : sections)
    if (!rows.empty()) result += fmt::format("\n{}:\n{}", title, rows);
  if (!examples_.empty()) result += fmt::format("\nExamples:\n  {}\n", fmt::join(examples_, "\n  "));
  return result;
}

}  // namespace hearth
