#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hearth/base/error.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bert_tokenizer.h"
#include "tests/support.h"

namespace hearth::tokenizer {

inline const std::filesystem::path kFixtures = std::filesystem::path(HEARTH_FIXTURES) / "tokenizer";

inline BertTokenizer tokenizer_with(NormalizerOptions options) {
  BertConfig config;
  config.vocabulary = read_vocabulary(kFixtures / "vocab.txt");
  config.normalizer = options;
  return BertTokenizer(std::move(config));
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

inline const BertConfig& config_of(const std::shared_ptr<const Tokenizer>& tokenizer) {
  return dynamic_cast<const BertTokenizer&>(*tokenizer).config();
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
