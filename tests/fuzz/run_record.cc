// report.json, as `hearth top` and `hearth report` read it.
#include "hearth/report/run_record.h"

#include "hearth/report/page.h"
#include "hearth/report/summary.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const std::vector runs(2, report::RunRecord::from_json(io::parse_json(bytes, "input"), "input"));
    report::summary_of(runs.front());
    report::score_names(runs);
    report::differing_settings(runs);
    report::page_of({runs.front().to_json()});
  });
}
