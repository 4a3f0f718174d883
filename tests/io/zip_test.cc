#include "hearth/io/zip.h"

#include "tests/support.h"

namespace hearth::io {
namespace {

std::map<std::string, std::string> read(const std::filesystem::path& path) {
  const ZipFile zip(std::make_shared<const MappedFile>(path));
  return {zip.entries().begin(), zip.entries().end()};
}

class Zips : public TemporaryFolder {
 protected:
  // A file with the entries a ("first") and b ("second"), in which the first `from` after `after` became `to`.
  std::string error_with(std::string_view after, std::size_t skipped, std::string_view to) const {
    ZipWriter writer(folder_ / "file.zip");
    writer.add("a", "first");
    writer.add("b", "second");
    writer.commit();
    std::string bytes = read_file(folder_ / "file.zip");
    const std::size_t place = bytes.find(after);
    check(place != bytes.npos, "there is no such place");
    bytes.replace(place + skipped, to.size(), to);
    return error_of([&] { read(write("file.zip", bytes)); });
  }
  const std::string file_ = (folder_ / "file.zip").string();
};

constexpr std::string_view kDirectory = "PK\x01\x02", kEnd64 = "PK\x06\x06", kLocator = "PK\x06\x07";

TEST_F(Zips, ComeBackAsTheyWereWritten) {
  const std::map<std::string, std::string> entries{{"a/b", "text"}, {"c", ""}, {"d", std::string(1000, 'x')}};
  ZipWriter writer(folder_ / "file.zip");
  for (const auto& [name, contents] : entries) writer.add(name, contents);
  writer.commit();
  EXPECT_EQ(read(folder_ / "file.zip"), entries);
  const ZipFile zip(std::make_shared<const MappedFile>(folder_ / "file.zip"));
  for (const auto& [name, contents] : zip.entries()) EXPECT_EQ((contents.data() - zip.file()->text().data()) % 64, 0);
}

TEST_F(Zips, LiesAreRefused) {
  EXPECT_EQ(error_with(kDirectory, 0, ""), "");
  EXPECT_EQ(error_with(kDirectory, 8, "\1"), file_ + ": the entry \"a\" is encrypted, which torch.save does not do");
  EXPECT_TRUE(contains(error_with(kDirectory, 10, "\x08"), file_ + ": the entry \"a\" is compressed"));
  EXPECT_EQ(error_with(kDirectory, 24, "\4"), file_ + " contradicts itself: it gives the entry \"a\" two sizes");
  EXPECT_EQ(error_with(kDirectory, 20, "\7\0\0\0\7"),
            file_ + " contradicts itself: it gives the entry \"a\" two sizes");
  EXPECT_TRUE(
      contains(error_with(kDirectory, 42, "\x40"), "contradicts itself: its directory says that \"a\" is at byte 64"));
  EXPECT_TRUE(contains(error_with(kDirectory, 42, "\xff\xff\xff"), "would end after the end of the file"));
  EXPECT_TRUE(contains(error_with(kDirectory, 46, "b"), "says that \"b\" is at byte 0"));
  EXPECT_TRUE(contains(error_with("PK\x03\x04", 0, "XXXX"), "something else is there"));
  EXPECT_TRUE(contains(error_with(kEnd64, 32, "\x03"), "no room for 3 entries"));
  EXPECT_TRUE(contains(error_with(kEnd64, 47, "\x7f"), "the zip directory would end after the end of the file"));
  EXPECT_TRUE(contains(error_with(kLocator, 8, "\1"), "is not where it should be"));
  EXPECT_TRUE(contains(error_with(kLocator, 15, "\x7f"), "would end after the end of the file"));
}

TEST_F(Zips, OverlapsAreRefused) {
  ZipWriter writer(folder_ / "file.zip");
  writer.add("a", std::string(100, 'x'));
  writer.add("b", "inside");
  writer.commit();
  // Both sizes of "a" grow until its values end in those of "b".
  std::string bytes = read_file(folder_ / "file.zip");
  bytes[18] = bytes[22] = '\x78';
  const std::size_t line = bytes.find(kDirectory);
  bytes[line + 20] = bytes[line + 24] = '\x78';
  EXPECT_EQ(error_of([&] { read(write("file.zip", bytes)); }),
            file_ + " contradicts itself: its entries \"a\" and \"b\" overlap");
}

TEST_F(Zips, TwoEntriesOfOneNameAreRefused) {
  ZipWriter writer(folder_ / "file.zip");
  writer.add("a", "first");
  writer.add("a", "second");
  writer.commit();
  EXPECT_EQ(error_of([&] { read(folder_ / "file.zip"); }), file_ + ": the zip file has two entries \"a\"");
}

}  // namespace
}  // namespace hearth::io
