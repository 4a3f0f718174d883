#include "hearth/report/page.h"

#include <string_view>

#include "hearth/base/check.h"

namespace hearth::report {
namespace {

// JSON inside of a script element: without these characters it can end neither the element nor begin a comment.
std::string for_script(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else if (c == '>') {
      safe += "\\u003e";
    } else if (c == '&') {
      safe += "\\u0026";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string filled(std::string_view page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  check(at != page.npos, "[page_of] the page has no {}", mark);
  return std::string(page.substr(0, at)) + std::string(text) + std::string(page.substr(at + mark.size()));
}

}  // namespace

// The data comes last, so that a mark in it stays what it is.
std::string page_of(const std::vector<io::Json>& runs) {
  std::string page = filled(kPageHtml, "/*STYLE*/", kPageStyle);
  page = filled(page, "/*SCRIPT*/", kPageScript);
  return filled(page, "/*DATA*/", for_script(io::dump_json(runs, io::kOneLine)));
}

}  // namespace hearth::report
