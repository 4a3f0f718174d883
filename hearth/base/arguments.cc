#include "hearth/base/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hearth/base/error.h"
#include "hearth/base/log.h"
#include "hearth/base/nearest_name.h"

namespace hearth {
namespace {

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

bool switches_off(const std::vector<std::string>& words) {
  return is_none(words) || (words.size() == 1 && (words[0].empty() || bool_of(words[0]) == false));
}

// A word that begins with a minus and is no number; one with a space is a text.
bool is_flag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.')
    return false;
  return word.substr(0, word.find('=')).find(' ') == word.npos;
}

}  // namespace

Arguments::Arguments(std::string command, std::string summary)
    : command_(std::move(command)), summary_(std::move(summary)) {}

void Arguments::section(std::string title) { section_ = std::move(title); }

Arguments::Option& Arguments::declare(Option::Kind kind, std::string_view name, ArgumentTarget target,
                                      std::string_view help) {
  check(find(name).option == nullptr, "[arguments] {} is declared twice", name);
  Option& option = options_.emplace_back();
  option.kind = kind;
  option.section = section_;
  option.name = name;
  option.help = help;
  option.target = target;
  option.default_text = text_of(target);
  option.takes = holds_list(target)    ? Option::Takes::many
                 : holds<bool>(target) ? Option::Takes::at_most_one
                                       : Option::Takes::one;
  return option;
}

Arguments::Option& Arguments::add(std::string name, ArgumentTarget target, std::string help) {
  Option& option = declare(Option::Kind::named, name, target, help);
  option.can_be_negated = holds<bool>(target) && option.default_text != "False";
  return option;
}

Arguments::Option& Arguments::positional(std::string name, ArgumentTarget target, std::string help) {
  return declare(Option::Kind::positional, name, target, help);
}

void Arguments::ignored_switches(std::initializer_list<std::string_view> names, std::string_view reason) {
  for (const std::string_view name : names) {
    Option& option = declare(Option::Kind::ignored, name, {}, reason);
    option.takes = Option::Takes::at_most_one;
    option.can_be_negated = true;
  }
}

void Arguments::ignored(std::initializer_list<std::string_view> names, std::string_view reason) {
  constexpr std::string_view kSeveral = "...";
  for (std::string_view name : names) {
    const bool several = name.ends_with(kSeveral);
    if (several) name.remove_suffix(kSeveral.size());
    declare(Option::Kind::ignored, name, {}, reason).takes = several ? Option::Takes::many : Option::Takes::one;
  }
}

void Arguments::refused(std::initializer_list<std::string_view> names, std::string_view reason) {
  for (const std::string_view name : names)
    declare(Option::Kind::refused, name, {}, reason).takes = Option::Takes::at_most_one;
}

Arguments::Found Arguments::find(std::string_view spelling) {
  const std::string name = with_underscores(spelling);
  const auto named = [&](std::string_view wanted) {
    const auto found = std::ranges::find_if(options_, [&](const Option& option) {
      return option.kind != Option::Kind::positional &&
             (option.name == wanted || std::ranges::find(option.aliases, wanted) != option.aliases.end());
    });
    return found == options_.end() ? nullptr : &*found;
  };
  if (Option* option = named(name)) return {option, false};
  Option* negated = name.starts_with("no_") ? named(std::string_view(name).substr(3)) : nullptr;
  return negated && negated->can_be_negated ? Found{negated, true} : Found{};
}

std::string Arguments::nearest(std::string_view spelling) const {
  std::vector<std::string> known;
  for (const Option& option : options_) {
    if (option.kind == Option::Kind::positional) continue;
    known.push_back(option.name);
    known.insert(known.end(), option.aliases.begin(), option.aliases.end());
  }
  return known.empty() ? "help" : nearest_name(with_underscores(spelling), known);
}

bool Arguments::has_positionals() const {
  return std::ranges::any_of(options_, [](const Option& option) { return option.kind == Option::Kind::positional; });
}

void Arguments::parse(std::span<const std::string> words) {
  std::vector<std::string> loose;
  for (std::size_t i = 0; i < words.size();) {
    const std::string& word = words[i++];
    if (word == "-h" || word == "--help") {
      wants_help_ = true;
      return;
    }
    if (!is_flag(word)) {
      loose.push_back(word);
      continue;
    }
    const std::string label = word.substr(0, word.find('='));
    const std::string name = label.substr(label.starts_with("--") ? 2 : 1);
    const Found found = label.starts_with("--") ? find(name) : Found{};
    check(found.option != nullptr, "there is no option {}; the nearest is --{}, and --help lists all", label,
          nearest(name));
    std::vector<std::string> values;
    if (label.size() < word.size()) {
      values.push_back(word.substr(label.size() + 1));
    } else if (!found.negated) {
      const Option::Takes takes = found.option->takes;
      while (i < words.size() && !is_flag(words[i]) && (takes == Option::Takes::many || values.empty()) &&
             (takes != Option::Takes::at_most_one || !has_positionals() || bool_of(words[i])))
        values.push_back(words[i++]);
    }
    set(found, values, label);
  }
  auto next = loose.begin();
  for (Option& option : options_) {
    if (option.kind != Option::Kind::positional || next == loose.end()) continue;
    const auto end = option.takes == Option::Takes::many ? loose.end() : next + 1;
    set({&option, false}, {next, end}, option.name);
    next = end;
  }
  check(next == loose.end(), "'{}' follows no option that takes it", next == loose.end() ? "" : *next);
  check_values();
}

void Arguments::set(std::string_view name, const std::vector<std::string>& values, std::string_view file) {
  const Found found = find(name);
  check(found.option != nullptr, "{}: there is no option {}; the nearest is {}", file, name, nearest(name));
  set(found, values, fmt::format("{}: {}", file, name));
}

void Arguments::set(const Found& found, const std::vector<std::string>& values, std::string_view label) {
  Option& option = *found.option;
  if (option.kind == Option::Kind::refused) {
    check(switches_off(values), "{} {}", label, option.help);
  } else if (option.kind == Option::Kind::ignored) {
    if (is_none(values)) return;
    check_ignored(option, values, label);
    if (std::exchange(option.announced, true)) return;
    log_info("{} is accepted and changes nothing: {}", label, option.help);
  } else if (found.negated) {
    check(values.empty(), "{} takes no value", label);
    assign(option.target, {"false"}, label);
  } else {
    assign(option.target, values, label);
    check_value(option, label);
  }
}

void Arguments::check_ignored(const Option& option, const std::vector<std::string>& values, std::string_view label) {
  bool state = false;
  std::string text;
  std::vector<std::string> texts;
  assign(option.takes == Option::Takes::many  ? ArgumentTarget(&texts)
         : option.takes == Option::Takes::one ? ArgumentTarget(&text)
                                              : ArgumentTarget(&state),
         values, label);
}

void Arguments::check_value(const Option& option, std::string_view label) {
  const ArgumentValue value = value_of(option.target);
  const std::string text = text_of(option.target);
  const bool none = std::holds_alternative<std::monostate>(value);
  check(!option.required_ || !(none || text.empty()), "{} is needed: {}", label, option.help);
  if (none) return;
  check(option.choices_.empty() || std::ranges::find(option.choices_, text) != option.choices_.end(),
        "{}: '{}' is none of {}", label, text, fmt::join(option.choices_, ", "));
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (whole == nullptr && real == nullptr) return;
  const double number = real ? *real : static_cast<double>(*whole);
  check(!(number < option.at_least_), "{} must be at least {}, not {}", label, option.at_least_, text);
  check(!(number > option.at_most_), "{} must be at most {}, not {}", label, option.at_most_, text);
  check(!(number >= option.below_), "{} must be below {}, not {}", label, option.below_, text);
}

void Arguments::check_values() const {
  for (const Option& option : options_)
    check_value(option, option.kind == Option::Kind::positional ? option.name : "--" + option.name);
}

std::vector<Arguments::Resolved> Arguments::values() const {
  std::vector<Resolved> result;
  for (const Option& option : options_) {
    if (std::holds_alternative<std::monostate>(option.target)) continue;
    const std::string text = text_of(option.target);
    result.push_back({option.section, option.name, text, value_of(option.target), text == option.default_text});
  }
  return result;
}

}  // namespace hearth
