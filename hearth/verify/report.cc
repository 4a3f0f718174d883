#include "hearth/verify/report.h"

#include <fmt/format.h>

namespace hearth::verify {

void Report::line(bool ok, std::string_view what, std::string_view measured) {
  ++made_;
  if (!ok) ++failures_;
  sink_(ok, fmt::format("{}  {}  {}", ok ? "ok  " : "FAIL", what, measured));
}

void Report::check(std::string_view what, double error, double tolerance) {
  line(error <= tolerance, what, fmt::format("error {:.2e}, tolerance {:.0e}", error, tolerance));
}

void Report::check_exact(std::string_view what, bool equal, std::string_view detail) {
  line(equal, what, equal && detail.empty() ? "equal" : detail);
}

void Report::unknown(std::string_view what, std::string_view why) {
  ++unknowns_;
  sink_(true, fmt::format("--    {}  not known: {}", what, why));
}

void Report::failed(std::string_view what, std::string_view why) { line(false, what, why); }

}  // namespace hearth::verify
