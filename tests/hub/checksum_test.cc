#include "hearth/hub/checksum.h"
#include "hearth/io/base64.h"

#include <gtest/gtest.h>

#include "hearth/hub/http.h"
#include "tests/support.h"

namespace hearth::hub {
namespace {

using Checksum = TemporaryFolder;

// Known answers of `git hash-object`.
TEST_F(Checksum, GitIds) {
  EXPECT_EQ(git_blob_id(write("empty", "")), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
  EXPECT_EQ(git_blob_id(write("hello", "hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
  EXPECT_EQ(git_blob_id(write("long", std::string(1000, 'a'))), "a50be72b20f0e3f078d252e8e56b11b4bec67509");
}

TEST_F(Checksum, TheETagTellsWhichOneItIs) {
  const auto file = write("hello", "hello\n");
  check_contents(file, "ce013625030ba8dba906f756967f9e9ca394464a", "hello");
  check_contents(file, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03", "hello");
  check_contents(file, "some-other-etag", "hello");
  EXPECT_TRUE(contains(error_of([&] { check_contents(file, std::string(64, '0'), "hello of the model a/b"); }),
                       "hello of the model a/b arrived damaged: its SHA-256 is 5891"));
  EXPECT_TRUE(contains(error_of([&] { check_contents(file, std::string(40, '0'), "hello"); }), "its Git id is ce01"));
}

TEST(Base64, KnownAnswers) {
  EXPECT_EQ(io::encode_base64(""), "");
  EXPECT_EQ(io::encode_base64("f"), "Zg==");
  EXPECT_EQ(io::encode_base64("fo"), "Zm8=");
  EXPECT_EQ(io::encode_base64("foo"), "Zm9v");
  EXPECT_EQ(io::encode_base64("\xff\xfe\xfd\xfc"), "//79/A==");
}

TEST(Url, OriginsAndRedirects) {
  EXPECT_EQ(origin_of("https://HuggingFace.co/a/b"), "https://huggingface.co:443");
  EXPECT_NE(origin_of("https://huggingface.co/a"), origin_of("http://huggingface.co/a"));
  EXPECT_NE(origin_of("https://huggingface.co/a"), origin_of("https://huggingface.co.evil.org/a"));
  EXPECT_NE(origin_of("https://huggingface.co/a"), origin_of("https://huggingface.co@evil.org/a"));
  EXPECT_EQ(resolved_url("https://a.org/x/y?q=1", "/z?r=2"), "https://a.org/z?r=2");
  EXPECT_EQ(resolved_url("https://a.org/x", "https://b.org/y"), "https://b.org/y");
  EXPECT_EQ(url_quoted("refs/convert/parquet"), "refs%2Fconvert%2Fparquet");
  EXPECT_EQ(url_quoted("data/a b.csv", "/"), "data/a%20b.csv");
}

}  // namespace
}  // namespace hearth::hub
