#include "hearth/data/cache.h"

#include <fstream>
#include <thread>

#include "tests/support.h"

namespace hearth::data {
namespace {

using CacheTest = TemporaryFolder;

CacheKey key_of(std::string_view value) { return CacheKey().add("value", value); }

std::vector<Section> sections_of(const std::vector<std::string>& texts) {
  std::vector<Section> sections;
  for (const std::string& text : texts) sections.push_back({std::as_bytes(std::span(text))});
  return sections;
}

std::vector<std::string> texts_of(const Cached& cached) {
  std::vector<std::string> texts;
  for (const auto& section : cached.sections) {
    texts.emplace_back(reinterpret_cast<const char*>(section.data()), section.size());
  }
  return texts;
}

const std::vector<std::string> kTexts{"", "a", std::string(8, 'b'), std::string(1001, 'c'), ""};

TEST_F(CacheTest, GivesBackWhatWasStored) {
  const Cache cache(folder_ / "new" / "folder");
  EXPECT_FALSE(cache.load(key_of("x")));
  cache.store(key_of("x"), sections_of(kTexts));
  cache.store(key_of("nothing"), {});
  const auto cached = cache.load(key_of("x"));
  ASSERT_TRUE(cached);
  EXPECT_EQ(texts_of(*cached), kTexts);
  for (const auto& section : cached->sections) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(section.data()) % 8, 0u);
  }
  EXPECT_TRUE(cache.load(key_of("nothing"))->sections.empty());
  EXPECT_FALSE(cache.load(key_of("y")));
}

TEST_F(CacheTest, EveryPartOfTheKeyCounts) {
  const auto file = write("f", "one");
  const auto hex = [&](std::string_view name, std::string_view text, std::int64_t number) {
    return CacheKey().add(name, text).add("number", number).add_file("file", file).hex();
  };
  const std::string key = hex("name", "text", 3);
  EXPECT_EQ(key, hex("name", "text", 3));
  EXPECT_NE(key, hex("name", "text", 4));
  EXPECT_NE(key, hex("name", "tex", 3));
  EXPECT_NE(key, hex("nam", "text", 3));
  EXPECT_NE(CacheKey().add("a", "b:1:").hex(), CacheKey().add("a", "b").hex());
  write("f", "two");
  const std::string changed = hex("name", "text", 3);
  EXPECT_NE(key, changed);
  std::filesystem::remove(file);
  EXPECT_NE(key, hex("name", "text", 3));
  EXPECT_NE(changed, hex("name", "text", 3));
}

TEST_F(CacheTest, DamageIsSeenAndRepaired) {
  const Cache cache(folder_);
  cache.store(key_of("x"), sections_of(kTexts));
  const auto path = cache.path_of(key_of("x"));
  const std::string good = io::read_file(path);
  const auto loads = [&] { return cache.load(key_of("x")).has_value(); };
  LogCapture log;
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, int byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte)).flush();
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    put(i, good[i] ^ 0x10);
    ASSERT_FALSE(loads()) << "byte " << i;
    put(i, good[i]);
  }
  EXPECT_TRUE(loads());
  put(good.size() + 7, 0);
  EXPECT_FALSE(loads());
  for (std::size_t size = good.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    ASSERT_FALSE(loads()) << size;
  }
  ASSERT_FALSE(log.warnings.empty());
  EXPECT_TRUE(contains(log.warnings.front(), "prepared again"));
  cache.store(key_of("x"), sections_of(kTexts));
  EXPECT_TRUE(loads());
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsAWarning) {
  const Cache cache(write("file", "") / "folder");
  LogCapture log;
  cache.store(key_of("x"), sections_of(kTexts));
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(contains(log.warnings.front(), "not cached"));
  EXPECT_FALSE(cache.load(key_of("x")));
}

TEST_F(CacheTest, TheLongestUnusedFilesMakeRoom) {
  const std::vector<std::string> text{std::string(1000, 'a')};
  const Cache unlimited(folder_, 1 << 30);
  using std::filesystem::last_write_time;
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  for (const char* name : {"oldest", "used", "old"}) {
    unlimited.store(key_of(name), sections_of(text));
    last_write_time(unlimited.path_of(key_of(name)), long_ago);
  }
  last_write_time(unlimited.path_of(key_of("oldest")), long_ago - std::chrono::hours(1));
  write("mine.txt", "not of the cache");
  EXPECT_EQ(unlimited.files().size(), 3u);
  EXPECT_TRUE(unlimited.load(key_of("used")));
  const std::uintmax_t one = unlimited.files().back().bytes;

  const Cache small(folder_, 3 * one);
  small.store(key_of("new"), sections_of(text));
  for (const char* name : {"used", "old", "new"}) EXPECT_TRUE(small.load(key_of(name))) << name;
  EXPECT_FALSE(small.load(key_of("oldest")));

  const Cache tiny(folder_, 1);
  const auto reading = tiny.load(key_of("used"));
  tiny.store(key_of("newest"), sections_of(text));
  EXPECT_EQ(tiny.files().size(), 1u);  // the one that was just stored
  EXPECT_TRUE(tiny.load(key_of("newest")));
  EXPECT_EQ(texts_of(*reading), text);  // still readable
  write(".left_behind.cache.tmp-1-1", "half a file");
  tiny.clear();
  EXPECT_EQ(number_of_files(), 1u);  // mine.txt
}

TEST_F(CacheTest, ConcurrentWriters) {
  const Cache cache(folder_);
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int round = 0; round < 2; ++round) cache.store(key_of("x"), sections_of(kTexts));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(texts_of(*cache.load(key_of("x"))), kTexts);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(CacheTest, FilesThatKilledProcessesLeftAreRemoved) {
  write(".0123.cache.tmp-4194305-0", "half");
  Cache(folder_).store(key_of("x"), sections_of(kTexts));
  EXPECT_EQ(number_of_files(), 1u);
  EXPECT_TRUE(Cache(folder_).load(key_of("x")));
}

}  // namespace
}  // namespace hearth::data
