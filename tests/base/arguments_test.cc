#include "hearth/base/arguments.h"

#include <gtest/gtest.h>

#include <functional>

#include "hearth/base/error.h"
#include "hearth/base/usage_error.h"
#include "tests/support.h"

namespace hearth {
namespace {

using Words = std::vector<std::string>;

class ArgumentsTest : public testing::Test {
 protected:
  ArgumentsTest() {
    options.section("First");
    options.add("max_steps", &max_steps, "steps").at_least(-1);
    options.add("learning_rate", &learning_rate, "rate").at_least(0).below(1);
    options.add("bf16", &bf16, "in bf16");
    options.add("filter", &filter, "filtered");
    options.section("Second");
    options.add("output_dir", &output_dir, "folder");
    options.add("strategy", &strategy, "when").choices({"no", "steps"}).alias("old_strategy");
    options.add("pad", &pad, "padding");
    options.add("limit", &limit, "limit").at_most(10);
    options.add("share", &share, "share");
    options.add("name", &name, "name");
    options.add("files", &files, "files");
    options.ignored_switches({"no_cuda", "use_cpu"}, "there is only the CPU");
    options.ignored({"run_name", "report_to..."}, "logs go to the terminal");
    options.refused({"deepspeed"}, "is not here; leave it out");
  }

  void parse(const Words& words) { options.parse(words); }
  std::string error(const Words& words) {
    return error_of([&] { parse(words); });
  }

  std::int64_t max_steps = -1;
  double learning_rate = 5e-5;
  bool bf16 = false, filter = true;
  std::string output_dir = "out", strategy = "no";
  std::optional<bool> pad;
  std::optional<std::int64_t> limit;
  std::optional<double> share;
  std::optional<std::string> name;
  Words files;
  Arguments options{"hearth test", "A test."};
};

TEST_F(ArgumentsTest, NothingGivenKeepsDefaults) {
  parse({});
  EXPECT_EQ(max_steps, -1);
  EXPECT_EQ(output_dir, "out");
  EXPECT_FALSE(pad || limit || share || name || bf16);
  EXPECT_TRUE(filter);
}

TEST_F(ArgumentsTest, ValueFollowsASpaceOrAnEqualsSign) {
  parse({"--max_steps", "7", "--learning_rate=3e-5", "--output_dir=a=b c"});
  EXPECT_EQ(max_steps, 7);
  EXPECT_EQ(learning_rate, 3e-5);
  EXPECT_EQ(output_dir, "a=b c");
}

TEST_F(ArgumentsTest, HyphensAreUnderscores) {
  parse({"--max-steps", "7", "--output-dir=x-y", "--use-cpu", "--no-filter"});
  EXPECT_EQ(max_steps, 7);
  EXPECT_EQ(output_dir, "x-y");
  EXPECT_FALSE(filter);
}

TEST_F(ArgumentsTest, TheLastOneCounts) {
  parse({"--max_steps", "7", "--bf16", "--max-steps=8", "--bf16", "False"});
  EXPECT_EQ(max_steps, 8);
  EXPECT_FALSE(bf16);
}

TEST_F(ArgumentsTest, BoolTakesNoValueOrOne) {
  for (const char* yes : {"yes", "true", "t", "y", "1", "True", "YES"}) {
    bf16 = false;
    parse({"--bf16", yes});
    EXPECT_TRUE(bf16) << yes;
  }
  for (const char* no : {"no", "false", "f", "n", "0", "False", "NO"}) {
    bf16 = true;
    parse({"--bf16", no});
    EXPECT_FALSE(bf16) << no;
  }
  parse({"--bf16", "--pad", "--max_steps", "3"});
  EXPECT_TRUE(bf16);
  EXPECT_EQ(pad, true);
  EXPECT_EQ(error({"--bf16", "perhaps"}), "--bf16: 'perhaps' is neither true nor false");
}

TEST_F(ArgumentsTest, WhatIsTrueOrUndecidedByDefaultHasANegation) {
  parse({"--no_filter", "--no_pad"});
  EXPECT_FALSE(filter);
  EXPECT_EQ(pad, false);
  EXPECT_EQ(error({"--no_filter=1"}), "--no_filter takes no value");
  EXPECT_NE(error({"--no_bf16"}).find("there is no option --no_bf16"), std::string::npos);
  EXPECT_NE(error({"--no_max_steps"}).find("there is no option"), std::string::npos);
}

TEST_F(ArgumentsTest, MinusAndDigitsAreAValue) {
  parse({"--max_steps", "-1", "--share", "-.5", "--name", "-3rd"});
  EXPECT_EQ(max_steps, -1);
  EXPECT_EQ(share, -0.5);
  EXPECT_EQ(name, "-3rd");
  parse({"--name", "- a text with spaces"});
  EXPECT_EQ(name, "- a text with spaces");
}

TEST_F(ArgumentsTest, Optionals) {
  parse({"--pad", "False", "--limit", "+3", "--share", "1e-2", "--name", "x"});
  EXPECT_EQ(pad, false);
  EXPECT_EQ(limit, 3);
  EXPECT_EQ(share, 0.01);
  EXPECT_EQ(name, "x");
  parse({"--limit", "None", "--name=none"});
  EXPECT_FALSE(limit || name);
}

TEST_F(ArgumentsTest, ListTakesAllThatFollows) {
  parse({"--files", "a", "b", "-1", "--bf16"});
  EXPECT_EQ(files, (Words{"a", "b", "-1"}));
  EXPECT_TRUE(bf16);
  EXPECT_EQ(error({"--files", "--bf16"}), "--files needs at least one value");
}

TEST_F(ArgumentsTest, WrongValues) {
  EXPECT_EQ(error({"--max_steps", "abc"}), "--max_steps: 'abc' is not a whole number");
  EXPECT_EQ(error({"--max_steps", "1.5"}), "--max_steps: '1.5' is not a whole number");
  EXPECT_EQ(error({"--max_steps", "99999999999999999999"}),
            "--max_steps: '99999999999999999999' is not a whole number");
  EXPECT_EQ(error({"--limit", ""}), "--limit: '' is not a whole number");
  EXPECT_EQ(error({"--learning-rate", "3e-5x"}), "--learning_rate: '3e-5x' is not a number");
  EXPECT_EQ(error({"--share", "nan"}), "--share: 'nan' is not a number");
  EXPECT_EQ(error({"--share", "inf"}), "--share must be a finite number, not inf");
  EXPECT_EQ(error({"--strategy", "often"}), "--strategy: 'often' is none of no, steps");
  EXPECT_EQ(error({"--max_steps", "-2"}), "--max_steps must be at least -1, not -2");
  EXPECT_EQ(error({"--limit", "11"}), "--limit must be at most 10, not 11");
  EXPECT_EQ(error({"--learning_rate", "1"}), "--learning_rate must be below 1, not 1");
  EXPECT_EQ(error({"--max_steps"}), "--max_steps needs a value");
  EXPECT_EQ(error({"--max_steps", "--bf16"}), "--max_steps needs a value");
  EXPECT_EQ(error({"stray"}), "'stray' belongs to no option: flags begin with --");
}

TEST_F(ArgumentsTest, UnknownOptionNamesTheNearest) {
  EXPECT_EQ(error({"--max_stepz", "3"}), "there is no option --max_stepz; did you mean --max_steps?");
  EXPECT_EQ(error({"--outputdir=x"}), "there is no option --outputdir; did you mean --output_dir?");
  EXPECT_EQ(error({"-bf16"}), "there is no option -bf16; did you mean --bf16?");
  EXPECT_EQ(error({"--old-stratgy"}), "there is no option --old-stratgy; did you mean --old_strategy?");
  EXPECT_EQ(error({"--deepsped"}), "there is no option --deepsped; did you mean --deepspeed?");
  EXPECT_EQ(error({"--quux"}), "there is no option --quux; --help lists all options");
  EXPECT_EQ(error({"--"}), "there is no option --; --help lists all options");
}

TEST_F(ArgumentsTest, AUniquePrefixIsEnough) {
  parse({"--max", "7", "--learning=3e-5", "--output-d", "x", "--lim", "3", "--old", "steps", "--no_fil", "--no-pa"});
  EXPECT_EQ(max_steps, 7);
  EXPECT_EQ(learning_rate, 3e-5);
  EXPECT_EQ(output_dir, "x");
  EXPECT_EQ(limit, 3);
  EXPECT_EQ(strategy, "steps");
  EXPECT_FALSE(filter);
  EXPECT_EQ(pad, false);
}

TEST_F(ArgumentsTest, APrefixOfSeveralNamesListsThem) {
  EXPECT_EQ(error({"--f"}), "--f could be --filter, --files: write more of the name");
  EXPECT_EQ(error({"--no_f=1"}), "--no_filter takes no value");
  EXPECT_EQ(error({"--s", "steps"}), "--s could be --strategy, --share: write more of the name");
  EXPECT_EQ(error({"--no"}), "--no could be --no_filter, --no_pad, --no_cuda, --no_use_cpu: write more of the name");
}

TEST_F(ArgumentsTest, APrefixOfSeveralNamesMayMeanAnother) {
  std::string rate, schedule, kwargs;
  Arguments command;
  command.add("learning_rate", &rate, "");
  command.add("lr_scheduler_type", &schedule, "");
  command.add("lr_scheduler_kwargs", &kwargs, "");
  EXPECT_EQ(error_of([&] {
              command.parse(Words{"--lr", "1"});
            }),
            "--lr could be --lr_scheduler_type, --lr_scheduler_kwargs: write more of the name; did you mean "
            "--learning_rate?");
}

TEST_F(ArgumentsTest, AWholeNameIsNoPrefix) {
  std::string longer;
  options.add("name_of_run", &longer, "");
  parse({"--name", "x"});
  EXPECT_EQ(name, "x");
  EXPECT_EQ(longer, "");
}

TEST_F(ArgumentsTest, IgnoredAndRefusedOptionsHavePrefixesToo) {
  EXPECT_EQ(error({"--deep", "x"}), "--deepspeed is not here; leave it out");
  parse({"--use", "--run", "a"});
  EXPECT_EQ(options.notices(), (Words{"--use_cpu is accepted and has no effect: there is only the CPU",
                                      "--run_name is accepted and has no effect: logs go to the terminal"}));
}

TEST_F(ArgumentsTest, HelpHasPrefixes) {
  parse({"--hel"});
  EXPECT_TRUE(options.wants_help());
}

TEST_F(ArgumentsTest, AbbreviationsCanBeForbidden) {
  options.forbid_abbreviations();
  EXPECT_EQ(error({"--max", "7"}), "there is no option --max; did you mean --max_steps?");
  EXPECT_EQ(error({"--hel"}), "there is no option --hel; --help lists all options");
}

TEST_F(ArgumentsTest, AWrongCommandLineIsAUsageError) {
  EXPECT_THROW(parse({"--quux"}), UsageError);
  EXPECT_THROW(parse({"--limit", "11"}), UsageError);
  EXPECT_THROW(parse({"stray"}), UsageError);
}

TEST_F(ArgumentsTest, DeclaredListsEveryFlag) {
  const auto declared = options.declared();
  ASSERT_EQ(declared.size(), 16u);
  EXPECT_EQ(declared[5].name, "strategy");
  EXPECT_EQ(declared[5].support, Arguments::Support::works);
  EXPECT_EQ(declared[5].aliases, Words{"old_strategy"});
  EXPECT_EQ(declared[5].choices, (Words{"no", "steps"}));
  EXPECT_EQ(declared[11].name, "no_cuda");
  EXPECT_EQ(declared[11].support, Arguments::Support::ignored);
  EXPECT_EQ(declared[11].help, "there is only the CPU");
  EXPECT_EQ(declared[15].support, Arguments::Support::refused);
}

TEST_F(ArgumentsTest, AliasIsTheSameOption) {
  parse({"--old-strategy", "steps"});
  EXPECT_EQ(strategy, "steps");
}

TEST_F(ArgumentsTest, IgnoredIsSaidOnce) {
  parse({"--no_cuda", "--no-cuda=True", "--no_cuda", "False", "--max_steps", "3"});
  EXPECT_EQ(options.notices(), Words{"--no_cuda is accepted and has no effect: there is only the CPU"});
  EXPECT_EQ(max_steps, 3);
  parse({"--no_use_cpu", "--use_cpu=None"});
  EXPECT_EQ(options.notices().size(), 2u);
}

TEST_F(ArgumentsTest, IgnoredTakesTheValuesItWouldHaveTaken) {
  EXPECT_EQ(error({"--run_name", "a", "--report_to", "x", "y", "--no_cuda", "False", "--bf16"}), "");
  EXPECT_TRUE(bf16);
  EXPECT_EQ(error({"--no_cuda", "bf16"}), "--no_cuda: 'bf16' is neither true nor false");
  EXPECT_EQ(error({"--no_cuda", "True", "bf16"}), "'bf16' belongs to no option: flags begin with --");
  EXPECT_EQ(error({"--run_name", "a", "bf16"}), "'bf16' belongs to no option: flags begin with --");
  EXPECT_EQ(error({"--run_name", "--bf16"}), "--run_name needs a value");
  EXPECT_EQ(error({"--report_to"}), "--report_to needs at least one value");
  EXPECT_TRUE(contains(error({"--no_run_name"}), "there is no option --no_run_name"));
}

TEST_F(ArgumentsTest, RefusedUnlessSwitchedOff) {
  EXPECT_EQ(error({"--deepspeed", "config.json"}), "--deepspeed is not here; leave it out");
  EXPECT_EQ(error({"--deepspeed"}), "--deepspeed is not here; leave it out");
  for (const char* off : {"", "None", "False", "0"}) EXPECT_EQ(error({std::string("--deepspeed=") + off}), "") << off;
}

TEST_F(ArgumentsTest, SetNamesTheFile) {
  options.set("max_steps", Words{"4"}, "a.json");
  options.set("bf16", Words{"true"}, "a.json");
  options.set("files", Words{"x", "y"}, "a.json");
  options.set("old_strategy", Words{"steps"}, "a.json");
  EXPECT_EQ(max_steps, 4);
  EXPECT_TRUE(bf16);
  EXPECT_EQ(files, (Words{"x", "y"}));
  EXPECT_EQ(strategy, "steps");
  options.set("files", Words{"None"}, "a.json");
  EXPECT_TRUE(files.empty());
  const auto fails = [&](const std::string& key, const Words& words) {
    return error_of([&] { options.set(key, words, "a.json"); });
  };
  EXPECT_EQ(fails("max_stepz", {"3"}), "a.json: there is no option max_stepz; did you mean max_steps?");
  EXPECT_EQ(fails("max_ste", {"3"}), "a.json: there is no option max_ste; did you mean max_steps?");
  EXPECT_EQ(fails("max_steps", {"x"}), "a.json: max_steps: 'x' is not a whole number");
  EXPECT_EQ(fails("max_steps", {"1", "2"}), "a.json: max_steps takes one value, not 2");
  EXPECT_EQ(fails("limit", {"12"}), "a.json: limit must be at most 10, not 12");
}

TEST_F(ArgumentsTest, AFilesNullLeavesTheOption) {
  options.set("max_steps", Words{"4"}, "a.yaml");
  options.set("max_steps", std::nullopt, "a.yaml");
  EXPECT_EQ(max_steps, 4);
  EXPECT_EQ(error_of([&] { options.set("max_stepz", std::nullopt, "a.yaml"); }),
            "a.yaml: there is no option max_stepz; did you mean max_steps?");
}

TEST_F(ArgumentsTest, AFilesFalseIsNoWhereThatIsAChoice) {
  strategy = "steps";
  options.set("strategy", Words{"false"}, "a.yaml");
  EXPECT_EQ(strategy, "no");
  options.set("name", Words{"false"}, "a.yaml");
  EXPECT_EQ(name, "false");
}

TEST_F(ArgumentsTest, ValuesTellWhatIsNoDefault) {
  parse({"--max_steps", "7", "--bf16", "--files", "a", "b", "--learning_rate", "5e-5"});
  const auto values = options.values();
  ASSERT_EQ(values.size(), 11u);
  const auto& steps = values[0];
  EXPECT_EQ(steps.section, "First");
  EXPECT_EQ(steps.name, "max_steps");
  EXPECT_EQ(steps.text, "7");
  EXPECT_EQ(steps.value, ArgumentValue(std::int64_t{7}));
  EXPECT_FALSE(steps.is_default);
  EXPECT_EQ(values[1].text, "5e-05");
  EXPECT_TRUE(values[1].is_default);
  EXPECT_EQ(values[2].text, "True");
  EXPECT_EQ(values[4].section, "Second");
  EXPECT_EQ(values[6].text, "None");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(values[6].value));
  EXPECT_EQ(values[10].text, "a b");
}

TEST_F(ArgumentsTest, HelpMentionsEveryOption) {
  options.examples({"hearth test --bf16"});
  parse({"--max_steps", "3", "-h"});
  ASSERT_TRUE(options.wants_help());
  const std::string help = options.help(120);
  for (const auto& value : options.values()) EXPECT_NE(help.find("--" + value.name), std::string::npos) << value.name;
  for (const char* part :
       {"usage: hearth test", "A test.", "--no_cuda", "--deepspeed", "--old_strategy", "--no_filter",
        "there is only the CPU", "no, steps", "[5e-05]", "First:", "Second:", "Examples:\n  hearth test --bf16\n"})
    EXPECT_NE(help.find(part), std::string::npos) << part;
}

TEST_F(ArgumentsTest, HelpFitsItsWidth) {
  std::string format = "a";
  Arguments command(
      "hearth test",
      "Shows how a summary of more than one line is wrapped on terminals.\nIts next sentence has a line of its own.");
  command.add("fmt", &format, "an explanation that is too long for one line of the terminal, so that it goes on")
      .choices({"some", "of", "many"});
  command.add("a_name_longer_than_the_column_of_names", &format, "short");
  command.ignored({"one", "two", "three", "four", "five", "six", "seven", "eight"}, "there is no use for them here");
  std::string words;
  for (const std::size_t columns : {50u, 59u, 60u, 80u, 100u, 120u}) {
    const std::string help = command.help(columns);
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << columns << ": " << line;
    std::istringstream stream(help);
    std::string joined;
    for (std::string word; stream >> word;) joined += word + " ";
    if (words.empty()) words = joined;
    EXPECT_EQ(joined, words);  // no word is broken or lost
  }
  EXPECT_NE(command.help(120).find("on terminals.\nIts next sentence"), std::string::npos);
  EXPECT_NE(command.help(50).find("\n  --fmt TEXT\n      an explanation"), std::string::npos) << command.help(50);
  EXPECT_NE(command.help(80).find("\n  --fmt TEXT                an explanation"), std::string::npos);
}

TEST_F(ArgumentsTest, RequiredAndPositional) {
  std::string model, folder;
  std::optional<std::string> other;
  bool quick = false;
  Arguments command("hearth verify");
  command.add("model", &model, "the model").required();
  command.add("quick", &quick, "less");
  command.positional("DIR", &folder, "the folder").required();
  command.positional("OTHER", &other, "another");
  const auto fails = [&](const Words& words) { return error_of([&] { command.parse(words); }); };
  EXPECT_EQ(fails({"a"}), "--model is needed: the model");
  folder.clear();
  EXPECT_EQ(fails({"--model", "m"}), "DIR is needed: the folder");
  EXPECT_EQ(fails({"a", "b", "c", "--model", "m"}), "'c' belongs to no option: flags begin with --");
  EXPECT_EQ(fails({"--quick", "a", "--model", "m", "b"}), "");
  EXPECT_TRUE(quick);
  EXPECT_EQ(folder, "a");
  EXPECT_EQ(other, "b");
  EXPECT_EQ(fails({"--quick", "no", "a"}), "");
  EXPECT_FALSE(quick);
  EXPECT_NE(command.help(120).find("usage: hearth verify DIR [OTHER]"), std::string::npos);
  command.parse(Words{"--help"});  // although DIR is missing
  EXPECT_TRUE(command.wants_help());
}

TEST_F(ArgumentsTest, ListOfPositionals) {
  Words names;
  Arguments command;
  command.positional("FILES", &names, "files");
  command.parse(Words{"a", "b", "c"});
  EXPECT_EQ(names, (Words{"a", "b", "c"}));
}

TEST_F(ArgumentsTest, CheckValuesSeesWhatWasSetDirectly) {
  max_steps = -5;
  EXPECT_EQ(error_of([&] { options.check_values(); }), "--max_steps must be at least -1, not -5");
  max_steps = 1;
  strategy = "often";
  EXPECT_EQ(error_of([&] { options.check_values(); }), "--strategy: 'often' is none of no, steps");
}

TEST_F(ArgumentsTest, DeclaredTwiceIsAnError) {
  EXPECT_NE(error_of([&] { options.add("bf16", &bf16, ""); }), "");
}

}  // namespace
}  // namespace hearth
