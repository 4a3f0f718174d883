#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hearth::apps {

// What `hearth search` finds for a query and `hearth rerank` orders again: a line of JSON,
// {"query": ..., "results": [{"corpus_id": ..., "score": ..., "text": ...}, ...]}, best first.
struct SearchResults {
  struct Result {
    std::int64_t corpus_id = 0;  // place in the file of texts, from 0
    double score = 0;
    std::string text;
  };
  std::string query;
  std::vector<Result> results;

  static SearchResults parse(const std::string& line, const std::string& source);  // `source`: for errors
  void print() const;
};

}  // namespace hearth::apps
