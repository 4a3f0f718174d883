#include "hearth/apps/search_results.h"

#include <fmt/format.h>

#include <cstdio>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::apps {

SearchResults SearchResults::parse(const std::string& line, const std::string& source) {
  const io::Json json = io::parse_json(line, source);
  SearchResults found{io::get_string(json, "query", source), {}};
  const auto results = json.find("results");
  check(results != json.end() && results->is_array(),
        "{} must be JSON of hearth search, {{\"query\": ..., \"results\": [...]}}", source);
  for (const io::Json& each : *results)
    found.results.push_back({io::get_int(each, "corpus_id", source), 0, io::get_string(each, "text", source)});
  return found;
}

void SearchResults::print() const {
  io::Json list = io::Json::array();
  for (const Result& each : results)
    list.push_back({{"corpus_id", each.corpus_id}, {"score", each.score}, {"text", each.text}});
  fmt::print("{}\n", io::dump_json({{"query", query}, {"results", list}}, io::kOneLine));
  std::fflush(stdout);
}

}  // namespace hearth::apps
