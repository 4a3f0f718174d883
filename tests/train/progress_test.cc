#include "hearth/train/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support.h"

namespace hearth {
namespace {

// stderr goes elsewhere while this lives.
class Redirection {
 public:
  explicit Redirection(const char* path) : saved_(::dup(STDERR_FILENO)) {
    const int file = ::open(path, O_WRONLY | O_NOCTTY);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~Redirection() {
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(Progress, SurvivesAFullDisk) {
  const TemporaryPlace place;
  const std::filesystem::path log = place.path() / "log";
  std::ofstream(log).close();
  {
    const Redirection full("/dev/full");
    ASSERT_EQ(::write(STDERR_FILENO, "x", 1), -1);
    Progress lost("training", 10, false);
    lost.update(5);
  }
  {
    const Redirection elsewhere(log.c_str());
    Progress seen("training", 10, false);
    seen.update(10);
  }
  std::stringstream text;
  text << std::ifstream(log).rdbuf();
  EXPECT_TRUE(contains(text.str(), "10/10")) << text.str();  // stderr works again
  EXPECT_FALSE(contains(text.str(), "5/10")) << text.str();
}

TEST(Progress, MakesRoomForOtherLinesOnATerminal) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  ASSERT_GE(master, 0);
  ASSERT_EQ(::grantpt(master), 0);
  ASSERT_EQ(::unlockpt(master), 0);
  std::string text;
  {
    const Redirection terminal(::ptsname(master));
    Progress::clear_current();  // there is nothing to clear yet
    Progress progress("training", 10, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    progress.update(5);
    Progress::clear_current();
    Progress::clear_current();
    for (int tries = 0; tries < 100 && !text.ends_with("left]\r\x1b[K"); ++tries) {  // the kernel hands it over late
      char part[4096];
      const ssize_t count = ::read(master, part, sizeof part);
      if (count > 0) text.append(part, static_cast<std::size_t>(count));
      if (count <= 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }
  ::close(master);
  EXPECT_TRUE(text.starts_with("\r\x1b[Ktraining |############------------|")) << text;
  EXPECT_TRUE(text.ends_with("left]\r\x1b[K")) << text;
}

}  // namespace
}  // namespace hearth
