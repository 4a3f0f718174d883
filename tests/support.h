// Helpers that tests of several modules share.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/cpu/parallel.h"
#include "tests/paths.h"

#if defined(__has_feature)
#define HEARTH_TEST_FEATURE(name) __has_feature(name)
#else
#define HEARTH_TEST_FEATURE(name) 0
#endif

namespace hearth {

// Whether a sanitizer watches: it takes memory of its own, replaces the tensor pool by the heap, and does not know what
// libraries that were built without it do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HEARTH_TEST_FEATURE(address_sanitizer) || \
    HEARTH_TEST_FEATURE(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// For tests of very many small calls, where threads that wait for each other on a busy machine would take seconds, and
// of memory, where each thread has scratch.
class OneThread {
 public:
  OneThread() { cpu::set_num_threads(1); }
  ~OneThread() { cpu::set_num_threads(0); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

// A folder that nobody else has, gone afterwards.
class TemporaryPlace {
 public:
  TemporaryPlace() {
    std::string name = (std::filesystem::temp_directory_path() / "hearth-test-XXXXXX").string();
    check(::mkdtemp(name.data()) != nullptr, "no temporary folder");
    path_ = name;
  }
  ~TemporaryPlace() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryPlace(const TemporaryPlace&) = delete;
  TemporaryPlace& operator=(const TemporaryPlace&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// One for each test.
class TemporaryFolder : public testing::Test {
  const TemporaryPlace place_;

 protected:
  std::filesystem::path write(std::string_view name, std::string_view contents) const {
    std::ofstream(folder_ / name, std::ios::binary) << contents;
    return folder_ / name;
  }
  std::size_t number_of_files() const {
    const std::filesystem::directory_iterator files(folder_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

  const std::filesystem::path& folder_ = place_.path();
};

// Keeps the messages that are logged while it lives.
class LogCapture {
 public:
  LogCapture() {
    set_log_sink([this](LogLevel level, std::string_view message) {
      (level == LogLevel::warning ? warnings : infos).emplace_back(message);
    });
  }
  ~LogCapture() { set_log_sink({}); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  std::vector<std::string> infos, warnings;
};

// The message of the Error that `action` throws; empty when it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << text << "\" does not contain \"" << part << "\"";
}

inline std::filesystem::path fixture(std::string_view name) { return std::filesystem::path(kFixturesFolder) / name; }

inline std::filesystem::path folder_in(const char* variable) {
  const char* folder = std::getenv(variable);
  return folder == nullptr ? "" : folder;
}

// The folders of golden files, or "" if the environment does not name them. The second set has qa/ and finetune/.
inline std::filesystem::path goldens() { return folder_in("HEARTH_GOLDENS_DIR"); }
inline std::filesystem::path goldens2() { return folder_in("HEARTH_GOLDENS2_DIR"); }

}  // namespace hearth
