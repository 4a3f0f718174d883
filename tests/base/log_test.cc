#include "hearth/base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "hearth/base/check.h"

namespace hearth {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override {
    set_log_sink(nullptr);
    set_log_level(LogLevel::info);
  }
};

TEST_F(Log, GoesToTheSink) {
  std::vector<std::pair<LogLevel, std::string>> messages;
  set_log_sink([&](LogLevel level, std::string_view message) { messages.emplace_back(level, message); });
  log_info("{} tokens", 12);
  log_warning("slow: {}", "fp16");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0], std::pair(LogLevel::info, std::string("12 tokens")));
  EXPECT_EQ(messages[1], std::pair(LogLevel::warning, std::string("slow: fp16")));
}

TEST_F(Log, WithoutASinkGoesToStderr) {
  testing::internal::CaptureStderr();
  log_info("hello");
  log_warning("careful");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "hello\nwarning: careful\n");
}

TEST_F(Log, IsPrintable) {
  std::string seen;
  set_log_sink([&](LogLevel, std::string_view message) { seen += message; });
  log_info("{}, {}", std::string_view("nul\0nul", 7), "\x1b]0;title\a");
  EXPECT_EQ(seen, R"(nul\x00nul, \x1b]0;title\x07)");
}

TEST_F(Log, TheLevelSilencesMessagesBelowIt) {
  std::string seen;
  set_log_sink([&](LogLevel, std::string_view message) { seen += message; });
  for (const LogLevel level : {LogLevel::info, LogLevel::warning, LogLevel::error}) {
    set_log_level(level);
    log_info("i");
    log_warning("w");
    seen += '.';
  }
  EXPECT_EQ(seen, "iw.w..");
}

TEST_F(Log, OneMessageAtATime) {
  int messages = 0;
  set_log_sink([&](LogLevel, std::string_view) { ++messages; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int j = 0; j < 500; ++j) log_info("x");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(messages, 2'000);
}

TEST(Check, ThrowsTheFormattedSentence) {
  EXPECT_NO_THROW(check(true, "never {}", 1));
  try {
    check(false, "[matmul] {} columns against {} rows", 3, 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[matmul] 3 columns against 4 rows");
  }
}

TEST(Error, IsPrintableAndNotCutShort) {
  EXPECT_STREQ(Error(std::string("the key nul\0nul\x1b[2J is unknown", 30)).what(),
               R"(the key nul\x00nul\x1b[2J is unknown)");
}

}  // namespace
}  // namespace hearth
