#include "hearth/io/folder_checksums.h"

#include <fmt/format.h>

#include <map>
#include <span>
#include <string>

#include "hearth/base/check.h"
#include "hearth/io/checksum.h"
#include "hearth/io/file.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

struct Contents {
  std::int64_t size = 0;
  std::string checksum;
};

// Read, not mapped: a bad sector of the disk is then an Error, not a SIGBUS.
Contents contents_of(const std::filesystem::path& path) {
  Contents contents;
  Checksum checksum;
  read_in_pieces(path, [&](std::span<const std::byte> piece) {
    contents.size += std::ssize(piece);
    checksum.update(piece);
  });
  contents.checksum = fmt::format("{:016x}", checksum.value());
  return contents;
}

bool is_inside(const std::filesystem::path& name) {
  const std::filesystem::path plain = name.lexically_normal();
  return plain.is_relative() && plain.has_filename() && plain != "." && *plain.begin() != "..";
}

void verify_file(const std::filesystem::path& path, const Json& expected, const std::string& list) {
  check(std::filesystem::exists(path), "{} is missing, but {} names it", path.string(), list);
  const Contents found = contents_of(path);
  const std::int64_t size = get_int(expected, "size", list);
  check(found.size == size, "{} has {} bytes, but {} says {}: it was cut or changed", path.string(), found.size, list,
        size);
  check(found.checksum == get_string(expected, "checksum", list),
        "{} does not have the checksum in {}: it is damaged, or was changed after it was written", path.string(), list);
}

}  // namespace

void write_checksums(const std::filesystem::path& folder) {
  std::map<std::string, Json> files;  // sorted by name
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (!entry.is_regular_file() || name == kChecksumsFile) continue;
    const Contents contents = contents_of(entry.path());
    files[name] = {{"size", contents.size}, {"checksum", contents.checksum}};
  }
  replace_file(folder / kChecksumsFile, dump_json({{"files", files}}, 2) + "\n");
}

void verify_checksums(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kChecksumsFile;
  if (!std::filesystem::exists(path)) return;
  const std::string list = path.string();
  const Json json = parse_json_strict(read_file(path), list);
  const auto files = json.find("files");
  check(files != json.end() && files->is_object(), "{} lacks the object \"files\"", list);
  for (const auto& [name, expected] : files->get_ref<const Json::object_t&>()) {
    check(is_inside(name), "{} names {}, which is not a file inside its folder", list, name);
    verify_file(folder / name, expected, list);
  }
}

}  // namespace hearth::io
