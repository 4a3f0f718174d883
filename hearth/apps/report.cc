#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/log.h"
#include "hearth/base/text_layout.h"
#include "hearth/bench/table.h"
#include "hearth/io/file.h"
#include "hearth/report/page.h"
#include "hearth/report/run_record.h"
#include "hearth/report/summary.h"

namespace hearth::apps {
namespace {

using report::RunRecord;

std::string setting_text(const io::Json& value) {
  return value.is_null() ? "-" : value.is_string() ? value.get<std::string>() : io::dump_json(value, io::kOneLine);
}

// A column per run.
std::string table_of(const std::vector<RunRecord>& runs, const std::vector<io::Json>& summaries) {
  const auto cell = [](const std::string& text) { return text.empty() ? "-" : shortened(printable(text), 32); };
  std::vector<std::string> header{""};
  for (const RunRecord& run : runs) header.push_back(cell(run.name));
  bench::Table table(std::move(header));
  const auto add = [&](const std::string& name, const auto& text_of) {
    std::vector<std::string> row{name};
    bool is_known = false;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      row.push_back(cell(text_of(i)));
      is_known = is_known || row.back() != "-";
    }
    if (is_known) table.add(std::move(row));
  };
  const auto number = [&](const char* key, const auto& text) {
    return [&, key, text](std::size_t i) {
      const io::Json& value = summaries[i].at(key);
      return value.is_number() ? text(value.template get<double>()) : std::string();
    };
  };
  const auto digits = [](double value) { return fmt::format("{:.4g}", value); };
  add("state", [&](std::size_t i) { return summaries[i].at("state").get<std::string>(); });
  add("steps", [&](std::size_t i) { return fmt::format("{} of {}", runs[i].step, runs[i].max_steps); });
  add("training loss", number("loss", digits));
  for (const std::string& score : report::score_names(runs))
    add("best " + score, [&](std::size_t i) { return report::number_text(report::best_of(runs[i], score)); });
  add("time", number("seconds", report::time_text));
  add("tokens per second", number("tokens_per_second", [](double value) { return fmt::format("{:.0f}", value); }));
  add("share of the matmul limit",
      number("limit_share", [](double value) { return fmt::format("{:.1f}%", 100 * value); }));
  add("memory", number("memory_bytes", report::bytes_text));
  add("ranks", [&](std::size_t i) { return std::to_string(std::max<std::size_t>(1, runs[i].ranks.size())); });
  const io::Json settings = report::differing_settings(runs);
  for (const auto& [name, values] : settings.items())
    add("--" + name, [&, &list = values](std::size_t i) { return setting_text(list[i]); });
  return table.to_string();
}

}  // namespace

int report(std::span<const std::string> words) {
  std::vector<std::string> folders;
  std::string page;
  bool json = false;
  Arguments arguments("hearth report",
                      "Shows the results of training runs beside each other: losses, scores, speed, memory, and the "
                      "settings that differ. Runs of transformers' Trainer can be among them.");
  arguments.positional("OUT...", &folders, "output folders of runs, running or finished").required();
  arguments.add("html", &page, "also write a page with the curves of all runs to this file");
  arguments.add("json", &json, "print JSON");
  arguments.examples({"hearth report out", "hearth report out_lr3e-5 out_lr5e-5 --html comparison.html",
                      "hearth report out --json | jq .runs[0].best"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  std::vector<RunRecord> runs;
  std::vector<io::Json> records, summaries;
  for (const std::string& folder : folders) {
    runs.push_back(RunRecord::load(folder));
    records.push_back(runs.back().to_json());
    summaries.push_back(report::summary_of(runs.back()));
  }
  if (!page.empty()) io::replace_file(page, report::page_of(records));
  if (json) {
    const io::Json result{{"runs", summaries}, {"differing_settings", report::differing_settings(runs)}};
    fmt::print("{}\n", io::dump_json(result, 2));
    return 0;
  }
  fmt::print("{}", table_of(runs, summaries));
  if (!page.empty()) fmt::print("\n{}\n", page);
  return 0;
}

}  // namespace hearth::apps
