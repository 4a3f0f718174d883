// How a flag, as the user spells it, becomes an option.
#include <fmt/ranges.h>

#include <algorithm>

#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/nearest_name.h"

namespace hearth {
namespace {

std::string with_underscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '-', '_');
  return result;
}

}  // namespace

Arguments::Found Arguments::find(std::string_view spelling) {
  const std::string name = with_underscores(spelling);
  const auto named = [&](std::string_view wanted) {
    const auto found = std::ranges::find_if(options_, [&](const Option& option) {
      return option.kind != Option::Kind::positional &&
             (option.name == wanted || std::ranges::find(option.aliases, wanted) != option.aliases.end());
    });
    return found == options_.end() ? nullptr : &*found;
  };
  if (Option* option = named(name)) return {option, false, name};
  Option* negated = name.starts_with("no_") ? named(std::string_view(name).substr(3)) : nullptr;
  return negated && negated->can_be_negated ? Found{negated, true, name} : Found{};
}

// Each option once, whichever of its names begin so.
std::vector<Arguments::Found> Arguments::abbreviated_by(std::string_view prefix) {
  std::vector<Found> found;
  const auto add = [&](Option& option, bool negated, const std::string& name) {
    const bool is_known = std::ranges::any_of(
        found, [&](const Found& other) { return other.option == &option && other.negated == negated; });
    if (name.starts_with(prefix) && !is_known) found.push_back({&option, negated, name});
  };
  for (Option& option : options_) {
    if (option.kind == Option::Kind::positional) continue;
    add(option, false, option.name);
    for (const std::string& alias : option.aliases) add(option, false, alias);
    if (option.can_be_negated) add(option, true, "no_" + option.name);
  }
  return found;
}

Arguments::Found Arguments::find_or_fail(std::string_view label) {
  const bool is_long = label.starts_with("--") && label.size() > 2;
  const std::string name = is_long ? with_underscores(label.substr(2)) : "";
  const Found exact = find(name);
  if (exact.option != nullptr) return exact;
  const std::vector<Found> found = is_long && takes_abbreviations_ ? abbreviated_by(name) : std::vector<Found>{};
  if (found.size() == 1) return found.front();
  const std::string near = nearest(label, "--");
  check(!found.empty(), "there is no option {}{}", label,
        near.empty() ? "; --help lists all options" : did_you_mean(near));
  std::vector<std::string> names;
  for (const Found& candidate : found) names.push_back("--" + candidate.name);
  const bool is_listed = std::ranges::find(names, near) != names.end();
  fail("{} could be {}: write more of the name{}", label, fmt::join(names, ", "), is_listed ? "" : did_you_mean(near));
}

bool Arguments::asks_for_help(std::string_view word) {
  constexpr std::string_view kHelp = "--help";
  if (word == "-h" || word == kHelp) return true;
  return takes_abbreviations_ && word.size() > 2 && kHelp.starts_with(word) && abbreviated_by(word.substr(2)).empty();
}

// `prefix` stands before every name. An option that works is more likely meant than one that does not.
std::string Arguments::nearest(std::string_view name, std::string_view prefix) const {
  std::vector<std::string> works, others;
  for (const Option& option : options_) {
    if (option.kind == Option::Kind::positional) continue;
    std::vector<std::string>& names = option.kind == Option::Kind::named ? works : others;
    names.push_back(fmt::format("{}{}", prefix, option.name));
    for (const std::string& alias : option.aliases) names.push_back(fmt::format("{}{}", prefix, alias));
  }
  const std::string near = nearest_name(name, works);
  return near.empty() ? nearest_name(name, others) : near;
}

}  // namespace hearth
