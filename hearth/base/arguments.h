#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/base/api.h"
#include "hearth/base/argument_value.h"

namespace hearth {

// The options of a command. Each is declared once, with the variable it fills; flags, help, the table of resolved
// values, the JSON form and the checks all come from that declaration. Spelling follows argparse as Hugging Face uses
// it: --output_dir and --output-dir are the same, `--name value` and `--name=value` too; a unique prefix of a name
// stands for the name; a bool takes no value or one; given twice, the last counts.
class HEARTH_API Arguments {
 public:
  class Option {
   public:
    Option& required() { return required_ = true, *this; }  // not empty
    Option& alias(std::string other_name) { return aliases.push_back(std::move(other_name)), *this; }
    Option& choices(std::vector<std::string> names) { return choices_ = std::move(names), *this; }
    // May differ between the processes of a job: paths, because hosts may mount files elsewhere, what only the first
    // process uses, and what concerns one process alone.
    Option& per_process() { return per_process_ = true, *this; }
    // A password: values() does not have it. It may differ between processes.
    Option& secret() { return secret_ = per_process_ = true, *this; }
    Option& at_least(double limit) { return at_least_ = limit, *this; }
    Option& at_most(double limit) { return at_most_ = limit, *this; }
    Option& below(double limit) { return below_ = limit, *this; }

   private:
    friend class Arguments;
    enum class Kind { named, positional, ignored, refused };

    enum class Takes { at_most_one, one, many };  // values

    Kind kind = Kind::named;
    Takes takes = Takes::one;
    std::string section, name, help;  // help of an ignored or refused option: the reason
    ArgumentTarget target;
    std::string default_text;
    std::vector<std::string> aliases, choices_;
    double at_least_ = std::nan(""), at_most_ = std::nan(""), below_ = std::nan("");  // NaN: no limit
    bool required_ = false, per_process_ = false, secret_ = false, can_be_negated = false, announced = false;
  };

  // `command` stands before the arguments in the usage line: "hearth run_qa".
  explicit Arguments(std::string command = "hearth", std::string summary = {});

  // The heading of the options declared from here on.
  void section(std::string title);
  // Command lines for the end of the help text.
  void examples(std::vector<std::string> command_lines) { examples_ = std::move(command_lines); }
  // Flags need their whole names, as those of Accelerate's launcher do.
  void forbid_abbreviations() { takes_abbreviations_ = false; }
  // The present value of `target` is the default. --no_NAME also switches off a bool that is true or nullopt by
  // default. The reference is valid until the next declaration.
  Option& add(std::string name, ArgumentTarget target, std::string help);
  Option& positional(std::string name, ArgumentTarget target, std::string help);
  // Options of the programs that Hearth replaces. Ignored: accepted with a line of notices(); a switch takes
  // what a bool takes, the others one value or, where the name ends in "...", several. Refused: an error where a value
  // switches it on; "--name REASON" is the sentence.
  void ignored_switches(std::initializer_list<std::string_view> names, std::string_view reason);
  void ignored(std::initializer_list<std::string_view> names, std::string_view reason);
  void refused(std::initializer_list<std::string_view> names, std::string_view reason);

  // Ends with check_values(), unless help is asked for. Throws UsageError.
  void parse(std::span<const std::string> words);
  bool wants_help() const { return wants_help_; }
  // One line per ignored option that was given. The caller logs them once the log level is known.
  const std::vector<std::string>& notices() const { return notices_; }
  std::string help() const;  // as wide as the terminal, at most 120 columns
  std::string help(std::size_t columns) const;

  // Sets one option from a file that errors will name. The name must be whole. "None" empties an optional and a list;
  // nullopt, the file's null, leaves the option as it is; "false" is "no" where that is a choice, because YAML reads
  // an unquoted no as false.
  void set(std::string_view name, const std::optional<std::vector<std::string>>& values, std::string_view file);
  // Checks all targets, as they are now, against required(), choices() and the limits.
  void check_values() const;

  struct Resolved {
    std::string section, name, text;
    ArgumentValue value;
    bool is_default = true, per_process = false;
  };
  std::vector<Resolved> values() const;

  // Every flag, for tables in documents.
  enum class Support { works, ignored, refused };
  struct Declared {
    std::string name, help;  // help of an ignored or refused flag: the reason
    Support support = Support::works;
    bool is_switch = false;  // may stand without a value
    std::vector<std::string> aliases, choices;
  };
  std::vector<Declared> declared() const;

  // All that help() shows, for manual pages and for completion in shells.
  struct Described {
    std::string section, label, explanation;  // "--output_dir TEXT"; the help with choices, other names and default
    std::vector<std::string> spellings;       // --output_dir, its aliases, --no_NAME; none: a positional
    std::vector<std::string> choices;
    bool is_switch = false;  // may stand without a value
  };
  struct Description {
    using NamesByReason = std::vector<std::pair<std::string, std::string>>;  // reason, names
    std::string usage, summary;  // "hearth verify folder [--option value ...]"
    std::vector<Described> options;
    NamesByReason ignored, refused;
    std::vector<std::string> examples;
  };
  Description description() const;

  // While one lives, parse() of this thread throws the description instead: the program asks its commands for their
  // flags.
  class HEARTH_API DescriptionRequest {
   public:
    DescriptionRequest();
    ~DescriptionRequest();
    DescriptionRequest(const DescriptionRequest&) = delete;
    DescriptionRequest& operator=(const DescriptionRequest&) = delete;
  };

 private:
  struct Found {
    Option* option = nullptr;
    bool negated = false;  // --no_NAME
    std::string name;      // whole, with underscores
  };

  Option& declare(Option::Kind kind, std::string_view name, ArgumentTarget target, std::string_view help);
  Found find(std::string_view name);
  std::vector<Found> abbreviated_by(std::string_view prefix);
  Found find_or_fail(std::string_view label);
  bool asks_for_help(std::string_view word);
  void parse_words(std::span<const std::string> words);
  std::size_t parse_flag(std::span<const std::string> words);
  void set_positionals(std::span<const std::string> words);
  void set(const Found& found, const std::vector<std::string>& values, std::string_view label);
  static void check_ignored(const Option& option, const std::vector<std::string>& values, std::string_view label);
  static void check_value(const Option& option, std::string_view label);
  static Described described(const Option& option);
  Description::NamesByReason by_reason(Option::Kind kind) const;
  std::string nearest(std::string_view name, std::string_view prefix) const;
  bool has_positionals() const;

  std::string command_, summary_, section_ = "Options";
  std::vector<Option> options_;
  std::vector<std::string> examples_, notices_;
  bool wants_help_ = false, takes_abbreviations_ = true;
};

}  // namespace hearth
