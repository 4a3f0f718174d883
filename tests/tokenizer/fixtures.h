#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hearth/base/error.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/older_files.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"
#include "hearth/tokenizer/vocabulary_file.h"
#include "tests/support.h"

namespace hearth::tokenizer {

inline const std::filesystem::path kFixtures = std::filesystem::path(kFixturesFolder) / "tokenizer";

inline PipelineTokenizer bert_tokenizer(Vocabulary vocabulary, const NormalizerOptions& options = {}) {
  return PipelineTokenizer(bert_config(std::move(vocabulary), options, "the vocabulary"));
}

inline PipelineTokenizer tokenizer_with(const NormalizerOptions& options) {
  return bert_tokenizer(read_vocabulary(kFixtures / "vocab.txt"), options);
}

inline io::Json json_of(const std::vector<Offset>& offsets) {
  io::Json json = io::Json::array();
  for (const Offset& offset : offsets) json.push_back({offset.begin, offset.end});
  return json;
}

inline void expect_case(const Tokenizer& tokenizer, const io::Json& expected) {
  const Encoding encoding = tokenizer.encode(expected["text"].get_ref<const std::string&>());
  EXPECT_EQ(io::Json(encoding.ids), expected["ids"]) << expected["text"];
  EXPECT_EQ(json_of(encoding.offsets), expected["offsets"]) << expected["text"];
}

class Folder : public TemporaryPlace {
 public:
  Folder& with(const std::string& name, const std::string& contents) {
    io::replace_file(path() / name, contents);
    return *this;
  }
  Folder& with_vocabulary() { return with("vocab.txt", io::read_file(kFixtures / "vocab.txt")); }
};

inline const PipelineTokenizer& pipeline_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return dynamic_cast<const PipelineTokenizer&>(*tokenizer);
}
inline const PipelineConfig& config_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return pipeline_of(tokenizer).config();
}

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace hearth::tokenizer
