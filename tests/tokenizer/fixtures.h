#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hearth/base/error.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "hearth/tokenizer/bert_tokenizer.h"

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

// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  Folder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ =
        std::filesystem::path(testing::TempDir()) / (std::string("hearth_") + test->test_suite_name() + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  Folder& with(const std::string& name, const std::string& contents) {
    io::replace_file(path_ / name, contents);
    return *this;
  }
  Folder& with_vocabulary() { return with("vocab.txt", io::read_file(kFixtures / "vocab.txt")); }

 private:
  std::filesystem::path path_;
};

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
