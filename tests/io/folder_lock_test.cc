#include "hearth/io/folder_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

class FolderLockTest : public TemporaryFolder {
 protected:
  std::string refusal() const {
    return error_of([&] { FolderLock(folder_, "go away"); });
  }
  std::filesystem::path file() const { return folder_ / kLockFile; }
};

TEST_F(FolderLockTest, ASecondOneIsToldWhoseItIs) {
  std::optional<FolderLock> first(std::in_place, folder_, "");
  const Json holder = read_json(file());
  EXPECT_EQ(holder.at("pid"), ::getpid());
  EXPECT_TRUE(contains(holder.at("command").get<std::string>(), "test_io"));
  const std::string expected =
      fmt::format("another run, pid {} on host {} since {}, writes into {}: go away", ::getpid(),
                  holder.at("host").get<std::string>(), holder.at("since").get<std::string>(), folder_.string());
  EXPECT_EQ(refusal(), expected);
  EXPECT_EQ(refusal(), expected);  // the refused one has changed nothing
  first.reset();
  EXPECT_EQ(number_of_files(), 0u);
  EXPECT_EQ(refusal(), "");
}

TEST_F(FolderLockTest, AHolderThatHasNotWrittenItsNameYet) {
  const FolderLock first(folder_, "");
  std::filesystem::resize_file(file(), 0);
  EXPECT_EQ(refusal(), "another run writes into " + folder_.string() + ": go away");
}

TEST_F(FolderLockTest, AKilledHolderLocksNothing) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FolderLock held(folder_, "");
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(contains(refusal(), fmt::format("pid {} ", child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(file()));
  const FolderLock mine(folder_, "");
  EXPECT_EQ(read_json(file()).at("pid"), ::getpid());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(FolderLockTest, NeedsAFileOfItsOwn) {
  const auto target = write("precious", "text");
  std::filesystem::create_symlink(target, file());
  EXPECT_TRUE(contains(refusal(), "Cannot write " + file().string()));
  EXPECT_EQ(read_file(target), "text");
  EXPECT_TRUE(contains(error_of([&] { FolderLock(folder_ / "none", ""); }), "No such file"));
}

}  // namespace
}  // namespace hearth::io
