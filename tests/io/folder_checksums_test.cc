#include "hearth/io/folder_checksums.h"

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::io {
namespace {

class FolderChecksums : public TemporaryFolder {
 protected:
  void SetUp() override {
    replace_file(folder_ / "a", std::string(3 << 20, 'a') + "tail");
    replace_file(folder_ / "b", "");
    io::create_directories(folder_ / "inner" / "empty");
    replace_file(folder_ / "inner" / "c", "in a subfolder");
    write_checksums(folder_);
  }
  std::string fault() const {
    return error_of([&] { verify_checksums(folder_); });
  }
};

TEST_F(FolderChecksums, AGoodFolderPasses) {
  EXPECT_EQ(fault(), "");
  replace_file(folder_ / "added", "later");
  EXPECT_EQ(fault(), "");
  const Json files = read_json(folder_ / kChecksumsFile).at("files");
  EXPECT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("inner/c").at("size"), 14);
  EXPECT_EQ(files.at("a").at("size"), (3 << 20) + 4);
  write_checksums(folder_);  // again: the list is no part of itself
  EXPECT_EQ(fault(), "");
}

TEST_F(FolderChecksums, WithoutAListPasses) {
  std::filesystem::remove(folder_ / kChecksumsFile);
  replace_file(folder_ / "a", "other");
  EXPECT_EQ(fault(), "");
}

TEST_F(FolderChecksums, AFlippedBitIsNoticed) {
  std::string contents = read_file(folder_ / "a");
  for (const std::size_t at : {std::size_t{0}, std::size_t{2 << 20}, contents.size() - 1}) {
    contents[at] = static_cast<char>(contents[at] ^ 4);
    replace_file(folder_ / "a", contents);
    EXPECT_TRUE(contains(fault(), (folder_ / "a").string() + " does not have the checksum")) << at;
    contents[at] = static_cast<char>(contents[at] ^ 4);
  }
}

TEST_F(FolderChecksums, ACutOrMissingFileIsNoticed) {
  std::filesystem::resize_file(folder_ / "a", 2 << 20);
  EXPECT_TRUE(contains(fault(), "a has 2097152 bytes, but "));
  std::filesystem::remove(folder_ / "a");
  EXPECT_TRUE(contains(fault(), "a is missing, but "));
}

TEST_F(FolderChecksums, FilesOfSubfoldersCount) {
  replace_file(folder_ / "inner" / "c", "in a Subfolder");
  EXPECT_TRUE(contains(fault(), (folder_ / "inner/c").string() + " does not have the checksum"));
  std::filesystem::remove_all(folder_ / "inner");
  EXPECT_TRUE(contains(fault(), "inner/c is missing, but "));
}

TEST_F(FolderChecksums, NamesThatLeaveTheFolderAreRefused) {
  for (const char* name : {"../a", "inner/../../a", "/etc/passwd", "..", ".", ""}) {
    replace_file(folder_ / kChecksumsFile, dump_json({{"files", {{name, {{"size", 1}, {"checksum", ""}}}}}}, kOneLine));
    EXPECT_TRUE(contains(fault(), "which is not a file inside its folder")) << name;
  }
}

TEST_F(FolderChecksums, ADamagedListIsNoticed) {
  for (const char* list : {"", "{", "[]", "{}", R"({"files": 3})", R"({"files": {"a": 3}})",
                           R"({"files": {"a": {"size": "x"}}})", R"({"files": {"../../etc/passwd": {"size": 1}}})"}) {
    replace_file(folder_ / kChecksumsFile, list);
    EXPECT_TRUE(contains(fault(), kChecksumsFile)) << list;
  }
}

}  // namespace
}  // namespace hearth::io
