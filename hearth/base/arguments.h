#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/argument_value.h"

namespace hearth {

// The options of a command. Each is declared once, with the variable it fills; flags, help, the table of resolved
// values, the JSON form and the checks all come from that declaration. Spelling follows argparse as Hugging Face uses
// it: --output_dir and --output-dir are the same, `--name value` and `--name=value` too; a bool takes no value or one;
// given twice, the last counts.
class Arguments {
 public:
  class Option {
   public:
    Option& required() { return required_ = true, *this; }  // not empty
    Option& alias(std::string other_name) { return aliases.push_back(std::move(other_name)), *this; }
    Option& choices(std::vector<std::string> names) { return choices_ = std::move(names), *this; }
    Option& at_least(double limit) { return at_least_ = limit, *this; }
    Option& at_most(double limit) { return at_most_ = limit, *this; }
    Option& below(double limit) { return below_ = limit, *this; }

   private:
    friend class Arguments;
    enum class Kind { named, positional, ignored, refused };

    enum class Takes { at_most_one, one, many };  // values

    Kind kind = Kind::named;
    Takes takes = Takes::one;
    std::string section, name, help;  // of what is ignored or refused: the reason
    ArgumentTarget target;
    std::string default_text;
    std::vector<std::string> aliases, choices_;
    double at_least_ = std::nan(""), at_most_ = std::nan(""), below_ = std::nan("");  // NaN: no limit
    bool required_ = false, can_be_negated = false, announced = false;
  };

  // `command` is what the user types before the arguments: "hearth run_qa".
  explicit Arguments(std::string command = "hearth", std::string summary = {});

  // The heading of the options declared from here on.
  void section(std::string title);
  // What `target` holds now is the default. A bool that is true by default, and one that is optional, is also switched
  // off by --no_NAME. The reference is good until the next declaration.
  Option& add(std::string name, ArgumentTarget target, std::string help);
  Option& positional(std::string name, ArgumentTarget target, std::string help);
  // Options of the programs that Hearth stands in for. Ignored: accepted, and said so once; a switch takes what a bool
  // takes, the others one value or, where the name ends in "...", several. Refused: an error where a value switches it
  // on; "--name REASON" is the sentence.
  void ignored_switches(std::initializer_list<std::string_view> names, std::string_view reason);
  void ignored(std::initializer_list<std::string_view> names, std::string_view reason);
  void refused(std::initializer_list<std::string_view> names, std::string_view reason);

  // Ends with check_values(), unless help is asked for.
  void parse(std::span<const std::string> words);
  bool wants_help() const { return wants_help_; }
  std::string help() const;  // as wide as the terminal, at most 120 columns
  std::string help(std::size_t columns) const;

  // One option by its name, from a file that errors will name. None empties an optional and a list.
  void set(std::string_view name, const std::vector<std::string>& values, std::string_view file);
  // What required(), choices() and the limits demand, of all targets as they are now.
  void check_values() const;

  struct Resolved {
    std::string section, name, text;
    ArgumentValue value;
    bool is_default = true;
  };
  std::vector<Resolved> values() const;

 private:
  struct Found {
    Option* option = nullptr;
    bool negated = false;  // --no_NAME
  };

  Option& declare(Option::Kind kind, std::string_view name, ArgumentTarget target, std::string_view help);
  Found find(std::string_view name);
  void set(const Found& found, const std::vector<std::string>& values, std::string_view label);
  static void check_ignored(const Option& option, const std::vector<std::string>& values, std::string_view label);
  static void check_value(const Option& option, std::string_view label);
  static std::string help_row(const Option& option, std::size_t columns);
  std::string help_by_reason(Option::Kind kind, std::size_t columns) const;
  std::string nearest(std::string_view name) const;
  bool has_positionals() const;

  std::string command_, summary_, section_ = "Options";
  std::vector<Option> options_;
  bool wants_help_ = false;
};

}  // namespace hearth
