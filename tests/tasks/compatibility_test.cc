#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "hearth/io/file.h"
#include "hearth/tasks/common/hub_arguments.h"
#include "hearth/tasks/common/model_arguments.h"
#include "hearth/tasks/question_answering/question_answering.h"
#include "tests/support.h"

namespace hearth::tasks {
namespace {

using Support = Arguments::Support;
using Names = std::vector<std::string>;

const std::filesystem::path kPage = std::filesystem::path(kFixturesFolder) / "../../docs/compatibility.md";
constexpr std::string_view kBegin = "<!-- flags: begin -->\n", kEnd = "<!-- flags: end -->\n";

Names names_in(const char* file) {
  std::ifstream stream(fixture("arguments") / file);
  Names names;
  for (std::string name; stream >> name;) names.push_back(name);
  return names;
}

bool is_private(const std::string& field) { return field.starts_with('_'); }

std::vector<Arguments::Declared> declared() {
  ModelArguments model;
  QuestionAnswering task;
  TrainingArguments training;
  HubArguments hub;
  Arguments options;
  declare(options, model);
  task.declare(options);
  declare(options, training);
  declare(options, hub);
  return options.declared();
}

const Arguments::Declared* find(const std::vector<Arguments::Declared>& flags, const std::string& name) {
  const auto found = std::ranges::find_if(flags, [&](const Arguments::Declared& flag) {
    return flag.name == name || std::ranges::find(flag.aliases, name) != flag.aliases.end();
  });
  return found == flags.end() ? nullptr : &*found;
}

std::string note(const Arguments::Declared& flag, const std::string& name) {
  if (flag.support != Support::works) return flag.help;
  if (flag.name != name) return fmt::format("another name of `{}`", flag.name);
  return flag.choices.empty() ? flag.help : fmt::format("{}: {}", flag.help, fmt::join(flag.choices, ", "));
}

std::string row(const std::vector<Arguments::Declared>& flags, const std::string& name) {
  const Arguments::Declared* flag = find(flags, name);
  if (flag == nullptr) return fmt::format("| `{}` | no flag | private to the Trainer |\n", name);
  const char* status = flag->support == Support::works     ? "works"
                       : flag->support == Support::ignored ? "accepted, no effect"
                                                           : "refused";
  return fmt::format("| `{}` | {} | {} |\n", name, status, note(*flag, name));
}

std::string table(const std::string& title, const std::vector<Arguments::Declared>& flags, const Names& names) {
  std::string text = "\n### " + title + "\n\n| flag | status | meaning, or the reason |\n|---|---|---|\n";
  for (const std::string& name : names) text += row(flags, name);
  return text;
}

// The flags that neither list has: those of Hearth and of other versions of transformers.
Names others(const std::vector<Arguments::Declared>& flags, const Names& training, const Names& run_qa) {
  Names names;
  const auto add = [&](const std::string& name) {
    const auto is_in = [&](const Names& list) { return std::ranges::find(list, name) != list.end(); };
    if (!is_in(training) && !is_in(run_qa)) names.push_back(name);
  };
  for (const Arguments::Declared& flag : flags) {
    add(flag.name);
    std::ranges::for_each(flag.aliases, add);
  }
  return names;
}

std::string tables() {
  const auto flags = declared();
  const Names training = names_in("training_arguments_4.52.4.txt"), run_qa = names_in("run_qa_4.52.4.txt");
  return table("TrainingArguments of transformers 4.52.4", flags, training) +
         table("Arguments of run_qa.py", flags, run_qa) +
         table("Flags of Hearth, and names of other versions", flags, others(flags, training, run_qa)) + "\n";
}

TEST(Compatibility, EveryFlagOfTheReferenceIsDeclared) {
  const auto flags = declared();
  const Names training = names_in("training_arguments_4.52.4.txt"), run_qa = names_in("run_qa_4.52.4.txt");
  ASSERT_EQ(training.size(), 129u);
  ASSERT_EQ(run_qa.size(), 24u);
  for (const Names& names : {training, run_qa})
    for (const std::string& name : names) EXPECT_EQ(find(flags, name) == nullptr, is_private(name)) << name;
}

TEST(Compatibility, ThePageListsTheFlagsAsTheyAre) {
  std::string page = io::read_file(kPage);
  const std::size_t begin = page.find(kBegin) + kBegin.size(), end = page.find(kEnd);
  ASSERT_LE(begin, end);
  ASSERT_NE(end, page.npos);
  const std::string listed = page.substr(begin, end - begin), now = tables();
  if (std::getenv("HEARTH_UPDATE_DOCS") != nullptr) io::replace_file(kPage, page.replace(begin, end - begin, now));
  EXPECT_TRUE(listed == now) << "docs/compatibility.md is out of date; write it again with\n"
                                "  HEARTH_UPDATE_DOCS=1 build/bin/test_tasks --gtest_filter='Compatibility.*'";
}

}  // namespace
}  // namespace hearth::tasks
