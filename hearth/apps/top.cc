#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/check.h"
#include "hearth/base/exit_status.h"
#include "hearth/base/progress_line.h"
#include "hearth/base/terminal.h"
#include "hearth/base/text_layout.h"
#include "hearth/report/html_report.h"
#include "hearth/report/run_record.h"
#include "hearth/report/summary.h"

namespace hearth::apps {
namespace {

using report::RunRecord;

std::string explained(const std::string& state) {
  if (state == "interrupted") return "stopped by a signal; the same command resumes it";
  if (state == "killed") return "killed; the same command resumes from its last checkpoint";
  if (state == "silent") return "no news for ten minutes";
  return state;
}

std::string scores_text(const io::Json& scores) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : scores.items())
    texts.push_back(fmt::format("{} {}", name.substr(std::string_view("eval_").size()), report::number_text(value)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string ranks_text(const io::Json& ranks) {
  std::vector<std::string> busy;
  for (const io::Json& rank : ranks)
    if (rank.contains("busy_share") && rank["busy_share"].is_number())
      busy.push_back(fmt::format("{:.0f}%", 100 * rank["busy_share"].get<double>()));
  return fmt::format("{}, busy {}", ranks.size(), fmt::join(busy, " "));
}

// The screen of a run, without a line that is wider than the terminal.
std::vector<std::string> screen(const RunRecord& run, std::size_t columns) {
  const io::Json now = report::summary_of(run);
  const auto number = [&](const char* key) { return now[key].is_number() ? now[key].get<double>() : 0.0; };
  std::vector<std::string> lines{
      printable(fmt::format("{}: hearth {} on {}, process {}", run.name, run.command, run.host, run.pid))};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) lines.push_back(fmt::format("  {:<12} {}", name, printable(text)));
  };
  lines.push_back("  " + fitted({"training",
                                 run.step,
                                 run.max_steps,
                                 std::llround(number("seconds")),
                                 std::llround(number("seconds_left")),
                                 {},
                                 {}},
                                columns > 2 ? columns - 2 : columns));
  add("state", explained(now["state"].get<std::string>()));
  add("epoch", fmt::format("{:.2f} of {}", run.epoch, run.epochs));
  add("loss", report::number_text(now["loss"]));
  add("gradients", now["grad_norm"].is_number() ? "norm " + report::number_text(now["grad_norm"]) : "");
  add("lr", now["learning_rate"].is_number() ? fmt::format("{:.3g}", number("learning_rate")) : "");
  if (number("tokens_per_second") > 0)
    add("speed", fmt::format("{:.0f} tokens/s{}", number("tokens_per_second"),
                             number("limit_share") > 0
                                 ? fmt::format(", {:.0f}% of peak matmul speed", 100 * number("limit_share"))
                                 : ""));
  if (number("memory_bytes") > 0)
    add("memory", report::bytes_text(number("memory_bytes")) + (run.ranks.size() > 1 ? ", largest rank" : ""));
  if (run.ranks.size() > 1) add("ranks", ranks_text(run.ranks));
  if (!now["last"].empty())
    add("evaluation",
        fmt::format("step {}: {}", report::number_text(now["last_evaluation_step"]), scores_text(now["last"])));
  add("updated", report::time_text(std::max(0.0, number("seconds_since_update"))) + " ago");
  for (std::string& line : lines) line = shortened(line, columns > 1 ? columns - 1 : 1);
  return lines;
}

RunRecord load_running(const std::string& folder) {
  const std::filesystem::path file = std::filesystem::path(folder) / report::kRecordFile;
  check(std::filesystem::exists(file),
        "{} has no {}: a run writes it into its --output_dir when training begins, unless --report_to leaves out html",
        folder, report::kRecordFile);
  return RunRecord::load(folder);
}

// Redraws the screen until the run has ended.
int watch(const std::string& folder, double interval) {
  for (std::size_t drawn = 0;;) {
    const RunRecord run = load_running(folder);
    const std::vector<std::string> lines = screen(run, terminal_columns(STDOUT_FILENO));
    std::string text = drawn > 0 ? fmt::format("\x1b[{}A\x1b[J", drawn) : "";
    for (const std::string& line : lines) text += line + "\n";
    write_text(STDOUT_FILENO, text);
    drawn = lines.size();
    const std::string state = report::state_now(run);
    if (state != "training" && state != "silent") return state == "killed" ? kFailureStatus : 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(interval));
  }
}

}  // namespace

int top(std::span<const std::string> words) {
  std::string folder;
  bool once = false, json = false;
  double interval = 2;
  Arguments arguments("hearth top",
                      "Watches a training run from outside, by the report.json that it renews in its output folder: "
                      "step, loss, speed, time left, memory, ranks. Ends when the run ends.");
  arguments.positional("OUT", &folder, "--output_dir of the run").required();
  arguments.add("once", &once, "print the present state and end; also where the output is no terminal");
  arguments.add("json", &json, "print the present state as JSON and end");
  arguments.add("interval", &interval, "seconds between two looks").at_least(0.1).at_most(3600);
  arguments.examples(
      {"hearth top out", "ssh node1 hearth top /data/out --once", "hearth top out --json | jq '.step, .seconds_left'"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  if (json) {
    fmt::print("{}\n", io::dump_json(report::summary_of(load_running(folder)), 2));
    return 0;
  }
  if (!once && can_redraw(STDOUT_FILENO)) return watch(folder, interval);
  for (const std::string& line : screen(load_running(folder), terminal_columns(STDOUT_FILENO)))
    fmt::print("{}\n", line);
  return 0;
}

}  // namespace hearth::apps
