#include "hearth/io/growing_file.h"

#include "tests/support.h"

namespace hearth::io {
namespace {

using GrowingFiles = TemporaryFolder;

std::string text_of(const GrowingFile::Mapped& mapped) {
  return {reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size()};
}

void add(GrowingFile& file, std::string_view text) { file.write(std::as_bytes(std::span(text))); }

TEST_F(GrowingFiles, AreMappedAndHaveNoName) {
  GrowingFile::Mapped mapped;
  {
    GrowingFile file(folder_ / "new");
    add(file, "abc");
    add(file, std::string(100'000, 'x'));
    EXPECT_FALSE(file.is_in_memory());
    mapped = file.map();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "new"));
  EXPECT_EQ(text_of(mapped), "abc" + std::string(100'000, 'x'));
  release_pages(mapped.bytes.subspan(5000));
  EXPECT_EQ(text_of(mapped), "abc" + std::string(100'000, 'x')) << "they are read again";
}

TEST_F(GrowingFiles, MayBeEmpty) {
  GrowingFile file(folder_);
  EXPECT_TRUE(file.map().bytes.empty());
}

TEST_F(GrowingFiles, LieInMemoryWhereTheFolderCannotBeWritten) {
  GrowingFile file(write("file", "") / "folder");
  EXPECT_TRUE(file.is_in_memory());
  add(file, "abc");
  EXPECT_EQ(text_of(file.map()), "abc");
}

TEST_F(GrowingFiles, CanBeMoved) {
  GrowingFile file(folder_);
  add(file, "ab");
  GrowingFile moved = std::move(file);
  add(moved, "c");
  EXPECT_EQ(text_of(moved.map()), "abc");
}

}  // namespace
}  // namespace hearth::io
