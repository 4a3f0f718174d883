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

std::string row(const Arguments::Described& option, std::size_t columns) {
  const std::string left = "  " + option.label;
  const std::size_t column = explanation_column(columns);
  const std::string gap =
      left.size() < column ? std::string(column - left.size(), ' ') : "\n" + std::string(column, ' ');
  return fmt::format("{}{}{}\n", left, gap, wrapped(option.explanation, columns, column));
}

std::string rows(const Arguments::Description::NamesByReason& groups, std::size_t columns) {
  std::string result;
  for (const auto& [reason, names] : groups) result += fmt::format("  {}\n", wrapped(reason + ":" + names, columns, 4));
  return result;
}

}  // namespace

Arguments::Described Arguments::described(const Option& option) {
  const bool named = option.kind == Option::Kind::named;
  Described result;
  result.section = option.section;
  result.label = named ? "--" + option.name + std::visit(Placeholder{}, option.target) : option.name;
  result.choices = option.choices_;
  result.is_switch = option.takes == Option::Takes::at_most_one;
  if (named) {
    result.spellings.push_back("--" + option.name);
    for (const std::string& alias : option.aliases) result.spellings.push_back("--" + alias);
    if (option.can_be_negated) result.spellings.push_back("--no_" + option.name);
  }
  std::string& text = result.explanation = option.help;
  if (!option.choices_.empty()) text += fmt::format(": {}", fmt::join(option.choices_, ", "));
  if (!option.aliases.empty()) text += fmt::format("; also --{}", fmt::join(option.aliases, ", --"));
  if (named && option.can_be_negated) text += fmt::format("; off with --no_{}", option.name);
  if (option.required_)
    text += " (needed)";
  else if (named && option.default_text != "None" && !option.default_text.empty())
    text += fmt::format(" [{}]", option.default_text);
  return result;
}

Arguments::Description::NamesByReason Arguments::by_reason(Option::Kind kind) const {
  Description::NamesByReason groups;
  for (const Option& option : options_) {
    if (option.kind != kind) continue;
    auto group = std::ranges::find(groups, option.help, &std::pair<std::string, std::string>::first);
    if (group == groups.end()) group = groups.insert(group, {option.help, ""});
    group->second += " --" + option.name;
  }
  return groups;
}

Arguments::Description Arguments::description() const {
  Description result{command_, summary_, {}, by_reason(Option::Kind::ignored), by_reason(Option::Kind::refused),
                     examples_};
  for (const Option& option : options_) {
    if (option.kind == Option::Kind::positional)
      result.usage += fmt::format(fmt::runtime(option.required_ ? " {}" : " [{}]"), option.name);
    if (option.kind == Option::Kind::positional || option.kind == Option::Kind::named)
      result.options.push_back(described(option));
  }
  result.usage += " [--option value ...]";
  return result;
}

std::string Arguments::help() const { return help(help_columns()); }

std::string Arguments::help(std::size_t columns) const {
  const Description all = description();
  std::vector<std::pair<std::string, std::string>> sections;  // title, rows
  for (const Described& option : all.options) {
    auto section = std::ranges::find(sections, option.section, &std::pair<std::string, std::string>::first);
    if (section == sections.end()) section = sections.insert(section, {option.section, ""});
    section->second += row(option, columns);
  }
  sections.emplace_back("Accepted, changing nothing", rows(all.ignored, columns));
  sections.emplace_back("Refused, because it", rows(all.refused, columns));

  std::string result = wrapped("usage: " + all.usage, columns, 2) + "\n";
  if (!summary_.empty()) result += fmt::format("\n{}\n", wrapped(summary_, columns, 0));
  for (const auto& [title, text] : sections)
    if (!text.empty()) result += fmt::format("\n{}:\n{}", title, text);
  if (!examples_.empty()) result += fmt::format("\nExamples:\n  {}\n", fmt::join(examples_, "\n  "));
  return result;
}

}  // namespace hearth
