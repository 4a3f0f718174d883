#include "hearth/verify/verify.h"

#include <fmt/format.h>

#include "hearth/apps/command.h"
#include "hearth/base/arguments.h"
#include "hearth/base/text_layout.h"
#include "hearth/cpu/isa.h"
#include "hearth/cpu/parallel.h"
#include "hearth/io/json.h"

namespace hearth::apps {

int verify(std::span<const std::string> words) {
  std::string folder, max_isa;
  std::int64_t num_threads = 0;
  bool quiet = false, json = false;
  Arguments arguments("hearth verify",
                      "Compares this build with reference results of PyTorch, transformers and tokenizers.");
  arguments.positional("folder", &folder, "folder of reference results: models/, tokenizer/, qa/, data_order.json")
      .required();
  arguments.add("max_isa", &max_isa, "highest instruction set to use");
  arguments.add("num_threads", &num_threads, "number of threads; 0: one per core")
      .at_least(0)
      .at_most(cpu::kMostThreads);
  arguments.add("quiet", &quiet, "print only failures and totals");
  arguments.add("json", &json, "print the totals as JSON, and the failures as texts in it");
  arguments.examples(
      {"hearth verify tests/fixtures/goldens", "hearth verify --max_isa avx2 --quiet tests/fixtures/goldens"});
  if (!parse_or_print_help(arguments, words, json)) return 0;
  if (!max_isa.empty()) cpu::set_max_isa(max_isa);
  cpu::set_num_threads(static_cast<int>(num_threads));

  io::Json failures = io::Json::array();
  verify::Report report([&](bool passed, std::string_view line) {
    if (json && !passed) failures.push_back(line);
    if (!json && (!quiet || !passed)) fmt::print("{}\n", printable(line));
  });
  verify::verify_set(folder, report);
  if (json) {
    const io::Json result{{"made", report.made()},
                          {"failed", report.failures()},
                          {"not_known", report.unknowns()},
                          {"failures", std::move(failures)}};
    fmt::print("{}\n", io::dump_json(result, 2));
    return report.passed() ? 0 : 1;
  }
  fmt::print("{} checks made, {} failed, not known: {}\n", report.made(), report.failures(), report.unknowns());
  return report.passed() ? 0 : 1;
}

}  // namespace hearth::apps
