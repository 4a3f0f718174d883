#include "hearth/launch/plan/hostfile.h"

#include "tests/support.h"

namespace hearth::launch {
namespace {

using HostfileTest = TemporaryFolder;

TEST_F(HostfileTest, HostsOneALine) {
  const auto path = write("hostfile", "127.0.0.1 #node0 ip\n\n  # all\n127.0.0.2:4\nlocalhost slots=2\n::1\n");
  EXPECT_EQ(read_hostfile(path), (std::vector<std::string>{"127.0.0.1", "127.0.0.2", "localhost", "::1"}));
}

TEST_F(HostfileTest, AnUnknownHostIsNamed) {
  const auto path = write("hostfile", "localhost\nno-such-host.invalid\n");
  const std::string error = error_of([&] { read_hostfile(path); });
  EXPECT_TRUE(contains(error, "hostfile, line 2: the host 'no-such-host.invalid' cannot be resolved"));
}

TEST_F(HostfileTest, NoFileAndNoHosts) {
  EXPECT_TRUE(contains(error_of([&] { read_hostfile(folder_ / "none"); }), "there is no hostfile"));
  EXPECT_TRUE(contains(error_of([&] { read_hostfile(write("empty", "# nobody\n")); }), "names no host"));
}

TEST_F(HostfileTest, AFolderIsNoHostfile) {
  EXPECT_TRUE(contains(error_of([&] { read_hostfile(folder_); }), "Is a directory"));
}

}  // namespace
}  // namespace hearth::launch
