#include "hearth/io/file.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/support.h"

namespace hearth::io {
namespace {

using FileTest = TemporaryFolder;

// Stands in for a full disk: writing beyond the limit fails.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST_F(FileTest, ReplaceThenRead) {
  const auto path = folder_ / "a.txt";
  replace_file(path, "first");
  EXPECT_EQ(read_file(path), "first");
  replace_file(path, std::string("second\0line", 11));
  EXPECT_EQ(read_file(path), std::string("second\0line", 11));
  replace_file(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(number_of_files(), 1u);
}

TEST_F(FileTest, ReadsWhatHasNoSize) { EXPECT_TRUE(contains(read_file("/proc/self/status"), "VmRSS")); }

TEST_F(FileTest, MapsAFile) {
  const auto path = folder_ / "a.bin";
  replace_file(path, "mapped");
  const auto file = std::make_shared<const MappedFile>(path);
  EXPECT_EQ(file->size(), 6u);
  EXPECT_EQ(file->text(), "mapped");
  replace_file(path, "other contents");
  EXPECT_EQ(file->text(), "mapped");
}

TEST_F(FileTest, MapsAnEmptyFile) {
  const auto path = folder_ / "empty";
  replace_file(path, "");
  const MappedFile file(path);
  EXPECT_EQ(file.size(), 0u);
  EXPECT_EQ(file.text(), "");
}

TEST_F(FileTest, ReadingErrorsNameTheFileAndTheReason) {
  const auto absent = folder_ / "absent";
  const std::string wanted = "Cannot read " + absent.string() + ": No such file or directory";
  EXPECT_EQ(error_of([&] { read_file(absent); }), wanted);
  EXPECT_EQ(error_of([&] { MappedFile file(absent); }), wanted);
  const std::string is_folder = "Cannot read " + folder_.string() + ": Is a directory";
  EXPECT_EQ(error_of([&] { read_file(folder_); }), is_folder);
  EXPECT_EQ(error_of([&] { MappedFile file(folder_); }), is_folder);
}

// Nobody writes to the pipe: a reader that opened it would wait for ever.
TEST_F(FileTest, RefusesWhatIsNoRegularFile) {
  const auto pipe = folder_ / "pipe", socket = folder_ / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  socket.native().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::vector<std::pair<std::filesystem::path, std::string>> cases{
      {pipe, "a pipe"}, {socket, "a socket"}, {"/dev/null", "a device"}, {"/dev/zero", "a device"}};
  for (const auto& [path, kind] : cases) {
    const std::string wanted = fmt::format("Cannot read {}: it is not a regular file but {}", path.string(), kind);
    EXPECT_EQ(error_of([&path = path] { read_file(path); }), wanted);
    EXPECT_EQ(error_of([&path = path] { MappedFile file(path); }), wanted);
    EXPECT_EQ(error_of([&path = path] { check_readable(path); }), wanted);
  }
  ::close(listener);
}

TEST_F(FileTest, ReadsStreams) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(300'000, 'x');  // more than a pipe holds
  std::thread writer([&] { std::ofstream(pipe) << text; });
  EXPECT_EQ(read_stream(pipe), text);
  writer.join();
  EXPECT_EQ(read_stream(write("file", "text")), "text");
  EXPECT_TRUE(contains(error_of([&] { read_stream("/dev/zero"); }), "a device"));
  EXPECT_TRUE(contains(error_of([&] { read_stream(folder_); }), "Is a directory"));
}

TEST_F(FileTest, AFailedWriteKeepsTheOldFile) {
  const auto path = folder_ / "a.txt";
  replace_file(path, "old");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = error_of([&] { replace_file(path, std::string(5000, 'x')); });
  }
  EXPECT_EQ(message, "Cannot write " + path.string() + ": File too large");
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(number_of_files(), 1u);
}

TEST_F(FileTest, AFolderInPlaceOfTheFile) {
  const auto path = folder_ / "a.txt";
  io::create_directories(path / "inner");
  const std::string message = error_of([&] { replace_file(path, "text"); });
  EXPECT_TRUE(contains(message, "Cannot write " + path.string() + ": ")) << message;
  EXPECT_EQ(number_of_files(), 1u);
}

TEST_F(FileTest, AMissingFolder) {
  const auto path = folder_ / "absent" / "a.txt";
  EXPECT_EQ(error_of([&] { replace_file(path, "text"); }),
            "Cannot write " + path.string() + ": No such file or directory");
  EXPECT_FALSE(error_of([&] { AtomicFile file(folder_ / ""); }).empty());
}

TEST_F(FileTest, AtomicFileShowsOnlyWhatIsCommitted) {
  const auto path = folder_ / "a.txt";
  {
    AtomicFile file(path);
    file.write("never ");
    file.write("seen");
  }
  EXPECT_EQ(number_of_files(), 0u);
  AtomicFile file(path);
  file.write("one ");
  EXPECT_FALSE(std::filesystem::exists(path));
  file.write(std::as_bytes(std::span(std::string_view("two"))));
  file.commit();
  EXPECT_EQ(read_file(path), "one two");
  EXPECT_EQ(number_of_files(), 1u);
  EXPECT_TRUE(contains(error_of([&] { file.write("late"); }), path.string()));
  EXPECT_TRUE(contains(error_of([&] { file.commit(); }), path.string()));
}

TEST_F(FileTest, TwoWritersOfOneFile) {
  const auto path = folder_ / "a.txt";
  AtomicFile first(path), second(path);
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(path), "first");
  EXPECT_EQ(number_of_files(), 1u);
}

TEST_F(FileTest, WritesWithTheUsualPermissions) {
  const auto path = folder_ / "a.txt", plain = folder_ / "b.txt";
  replace_file(path, "text");
  std::ofstream(plain) << "text";
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::status(plain).permissions());
}

TEST_F(FileTest, CreatesFolders) {
  io::create_directories(folder_ / "a" / "b");
  io::create_directories(folder_ / "a" / "b");
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "a" / "b"));
  replace_file(folder_ / "file", "");
  const auto path = folder_ / "file" / "c";
  EXPECT_EQ(error_of([&] { io::create_directories(path); }),
            "Cannot create the folder " + path.string() + ": Not a directory");
}

TEST_F(FileTest, AFolderOfSomebodyElse) {
  EXPECT_EQ(error_of([&] { check_writable(folder_); }), "");
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::others_read |
                                            std::filesystem::perms::owner_exec | std::filesystem::perms::others_exec);
  constexpr uid_t kNobody = 65534;
  const uid_t before = geteuid();
  if (seteuid(before == 0 ? kNobody : before) != 0) GTEST_SKIP() << "root, which may write anywhere, cannot be left";
  const std::string error = error_of([&] { check_writable(folder_); });
  ASSERT_EQ(seteuid(before), 0);
  EXPECT_EQ(error, "Cannot write into the folder " + folder_.string() + ": Permission denied");
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
}

TEST_F(FileTest, ReadsInPieces) {
  for (const std::size_t size : {0, 5, 1 << 20, (2 << 20) + 1}) {
    const auto path = write("a.bin", std::string(size, 'x'));
    std::size_t total = 0;
    read_in_pieces(path, [&](std::span<const std::byte> piece) {
      EXPECT_EQ(total % (1 << 20), 0u);
      total += piece.size();
    });
    EXPECT_EQ(total, size);
  }
  EXPECT_TRUE(contains(error_of([&] { read_in_pieces(folder_ / "none", [](auto) {}); }), "No such file"));
}

TEST_F(FileTest, TemporaryFilesOfDeadProcessesAreRemoved) {
  write(".model.safetensors.tmp-123-0", "half");
  for (const char* other : {"model.tmp-1-2", ".model.tmp-1", ".model.tmp-a-1", ".model.tmp-1-2.mine", ".hidden"})
    write(other, "mine");
  std::filesystem::create_directory(folder_ / ".folder.tmp-1-2");
  {
    AtomicFile busy(folder_ / "busy");
    busy.write("more");
    EXPECT_EQ(number_of_files(), 8u);
    remove_abandoned_files(folder_);
    EXPECT_EQ(number_of_files(), 7u);
    EXPECT_FALSE(std::filesystem::exists(folder_ / ".model.safetensors.tmp-123-0"));
    busy.commit();
  }
  EXPECT_EQ(read_file(folder_ / "busy"), "more");
  remove_abandoned_files(folder_ / "none");
}

}  // namespace
}  // namespace hearth::io
