#include "hearth/base/arguments.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"
#include "hearth/base/usage_error.h"

namespace hearth {
namespace {

bool switches_off(const std::vector<std::string>& words) {
  return is_none(words) || (words.size() == 1 && (words[0].empty() || bool_of(words[0]) == false));
}

// Whether the word begins with a minus and is neither a number nor a text with spaces.
bool is_flag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-' || std::isdigit(static_cast<unsigned char>(word[1])) || word[1] == '.')
    return false;
  return word.substr(0, word.find('=')).find(' ') == word.npos;
}

thread_local bool description_requested = false;

}  // namespace

Arguments::DescriptionRequest::DescriptionRequest() { description_requested = true; }
Arguments::DescriptionRequest::~DescriptionRequest() { description_requested = false; }

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
  if (const auto* choice = std::get_if<ChoiceTarget>(&target)) option.choices_ = choice->names();
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
    option.can_be_negated = !name.starts_with("no_");
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

bool Arguments::has_positionals() const {
  return std::ranges::any_of(options_, [](const Option& option) { return option.kind == Option::Kind::positional; });
}

void Arguments::parse(std::span<const std::string> words) {
  if (description_requested) throw description();
  as_usage([&] { parse_words(words); });
}

void Arguments::parse_words(std::span<const std::string> words) {
  std::vector<std::string> loose;
  for (std::size_t i = 0; i < words.size();) {
    if (asks_for_help(words[i])) {
      wants_help_ = true;
      return;
    }
    if (is_flag(words[i])) {
      i += parse_flag(words.subspan(i));
    } else {
      loose.push_back(words[i++]);
    }
  }
  set_positionals(loose);
  check_values();
}

// Sets the option of the flag at the front. Returns the number of words used, the flag's and its values'.
std::size_t Arguments::parse_flag(std::span<const std::string> words) {
  const std::string& word = words.front();
  const std::string label = word.substr(0, word.find('='));
  const Found found = find_or_fail(label);
  std::vector<std::string> values;
  std::size_t used = 1;
  if (label.size() < word.size()) {
    values.push_back(word.substr(label.size() + 1));
  } else if (!found.negated) {
    const Option::Takes takes = found.option->takes;
    const auto is_value = [&](const std::string& next) {
      if (is_flag(next) || (takes != Option::Takes::many && !values.empty())) return false;
      return takes != Option::Takes::at_most_one || !has_positionals() || bool_of(next).has_value();
    };
    while (used < words.size() && is_value(words[used])) values.push_back(words[used++]);
  }
  set(found, values, "--" + found.name);
  return used;
}

void Arguments::set_positionals(std::span<const std::string> words) {
  for (Option& option : options_) {
    if (option.kind != Option::Kind::positional || words.empty()) continue;
    const std::size_t count = option.takes == Option::Takes::many ? words.size() : 1;
    set({&option, false, option.name}, {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)},
        option.name);
    words = words.subspan(count);
  }
  check(words.empty(), "'{}' belongs to no option: flags begin with --", words.empty() ? "" : words.front());
}

void Arguments::set(std::string_view name, const std::optional<std::vector<std::string>>& values,
                    std::string_view file) {
  const Found found = find(name);
  check(found.option != nullptr, "{}: there is no option {}{}", file, name, did_you_mean(nearest(name, "")));
  if (!values) return;
  const std::vector<std::string>& choices = found.option->choices_;
  const bool means_no =
      *values == std::vector<std::string>{"false"} && std::ranges::find(choices, "no") != choices.end();
  set(found, means_no ? std::vector<std::string>{"no"} : *values, fmt::format("{}: {}", file, name));
}

void Arguments::set(const Found& found, const std::vector<std::string>& values, std::string_view label) {
  Option& option = *found.option;
  if (option.kind == Option::Kind::refused) {
    check(switches_off(values), "{} {}", label, option.help);
  } else if (option.kind == Option::Kind::ignored) {
    if (is_none(values)) return;
    check_ignored(option, values, label);
    if (std::exchange(option.announced, true)) return;
    notices_.push_back(fmt::format("{} is accepted and has no effect: {}", label, option.help));
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
  check(std::isfinite(number), "{} must be a finite number, not {}", label, text);
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
    const bool is_default = text == option.default_text, hidden = option.secret_ && !is_default;
    result.push_back({option.section, option.name, hidden ? "<hidden>" : text,
                      hidden ? ArgumentValue() : value_of(option.target), is_default, option.per_process_});
  }
  return result;
}

std::vector<Arguments::Declared> Arguments::declared() const {
  std::vector<Declared> result;
  for (const Option& option : options_) {
    if (option.kind == Option::Kind::positional) continue;
    const Support support = option.kind == Option::Kind::ignored   ? Support::ignored
                            : option.kind == Option::Kind::refused ? Support::refused
                                                                   : Support::works;
    const bool is_switch = option.takes == Option::Takes::at_most_one;
    result.push_back({option.name, option.help, support, is_switch, option.aliases, option.choices_});
  }
  return result;
}

}  // namespace hearth
