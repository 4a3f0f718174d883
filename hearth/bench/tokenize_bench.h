#pragma once

#include <string>
#include <vector>

#include "hearth/io/json_fwd.h"

namespace hearth::bench {

struct TokenizeBenchOptions {
  std::string file;          // text, or questions as run_qa reads them (data/record_format.h)
  std::string model, vocab;  // a folder with a tokenizer, or a vocab.txt
  std::int64_t rounds = 3;
};

struct TokenizeBenchRow {
  std::string work;  // "tokens", or "features": the windows with labels that run_qa trains on
  int threads = 0;
  double seconds = 0;  // of the fastest round
  double bytes = 0, tokens = 0, features = 0;
};

// Runs on one thread and, if there are several, on all.
std::vector<TokenizeBenchRow> bench_tokenize(const TokenizeBenchOptions& options);

std::vector<io::Json> to_json(const std::vector<TokenizeBenchRow>& rows);
std::string to_text(const std::vector<TokenizeBenchRow>& rows);

}  // namespace hearth::bench
