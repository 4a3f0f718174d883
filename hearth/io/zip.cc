#include "hearth/io/zip.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30, kDirectorySize = 46, kEndSize = 22, kEnd64Size = 56, kLocator64Size = 20;
constexpr std::size_t kLongestComment = 0xffff;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the value stands in a field of 64 bits
constexpr std::uint16_t kEncrypted = 1, kSizesFollow = 8, kUtf8 = 0x800;
constexpr std::uint16_t kExtra64 = 1, kPadding = 0x4246;  // kinds of extra fields; PyTorch pads with the latter
constexpr std::size_t kAlignment = 64;

template <class Number>
Number number_at(std::string_view bytes, std::size_t place) {
  Number value;
  std::memcpy(&value, bytes.data() + place, sizeof value);
  return value;
}
std::uint16_t u16(std::string_view bytes, std::size_t place) { return number_at<std::uint16_t>(bytes, place); }
std::uint32_t u32(std::string_view bytes, std::size_t place) { return number_at<std::uint32_t>(bytes, place); }
std::uint64_t u64(std::string_view bytes, std::size_t place) { return number_at<std::uint64_t>(bytes, place); }

// What the directory says of an entry.
struct Described {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint64_t stored_size = 0, size = 0, offset = 0;
};

class ZipReader {
 public:
  explicit ZipReader(const MappedFile& file) : bytes_(file.text()), file_(file.path().string()) {}

  std::map<std::string, std::string_view, std::less<>> read() {
    find_directory();
    std::map<std::string, std::string_view, std::less<>> entries;
    for (std::uint64_t i = 0; i < count_; ++i) {
      const Described entry = next_entry();
      check(entries.emplace(entry.name, data_of(entry)).second, "{}: the zip file has two entries {}", file_,
            excerpt(entry.name));
    }
    check_overlap();
    return entries;
  }

 private:
  struct Place {
    std::uint64_t begin, end;
    std::string name;
  };

  [[noreturn]] void fail_as_damaged(std::string_view reason) const {
    fail("{} is cut off or damaged: {}; copy or download it again", file_, reason);
  }

  // Bytes [place, place + size) of the file, from untrusted numbers.
  std::string_view part(std::uint64_t place, std::uint64_t size, std::string_view what) const {
    if (place > bytes_.size() || size > bytes_.size() - place)
      fail_as_damaged(fmt::format("{} would end after the end of the file", what));
    return bytes_.substr(place, size);
  }

  std::size_t end_record() const {
    const std::size_t first =
        bytes_.size() > kEndSize + kLongestComment ? bytes_.size() - kEndSize - kLongestComment : 0;
    for (std::size_t place = bytes_.size(); place-- > first;)
      if (bytes_.size() - place >= kEndSize && u32(bytes_, place) == kEnd &&
          u16(bytes_, place + 20) == bytes_.size() - place - kEndSize)
        return place;
    fail_as_damaged("a zip file has its directory at the end, and there is none");
  }

  void find_directory() {
    const std::size_t end = end_record();
    std::uint64_t size = u32(bytes_, end + 12), begin = u32(bytes_, end + 16);
    count_ = u16(bytes_, end + 10);
    limit_ = end;
    if (end >= kLocator64Size && u32(bytes_, end - kLocator64Size) == kLocator64) {
      limit_ = u64(bytes_, end - kLocator64Size + 8);
      const std::string_view record = part(limit_, kEnd64Size, "the record of the directory");
      if (u32(record, 0) != kEnd64) fail_as_damaged("the record of the zip directory is not where it should be");
      count_ = u64(record, 32);
      size = u64(record, 40);
      begin = u64(record, 48);
    }
    if (begin > limit_ || size > limit_ - begin)
      fail_as_damaged("the zip directory would end after the end of the file");
    directory_ = bytes_.substr(begin, size);
    limit_ = begin;
    if (count_ > directory_.size() / kDirectorySize)
      fail_as_damaged(fmt::format("its zip directory has no room for {} entries", count_));
  }

  Described next_entry() {
    const auto take = [&](std::size_t size) {
      if (size > directory_.size()) fail_as_damaged("its zip directory is too short");
      const std::string_view taken = directory_.substr(0, size);
      directory_.remove_prefix(size);
      return taken;
    };
    const std::string_view header = take(kDirectorySize);
    if (u32(header, 0) != kDirectoryHeader) fail_as_damaged("its zip directory has an entry that is none");
    Described entry;
    entry.flags = u16(header, 8);
    entry.method = u16(header, 10);
    entry.stored_size = u32(header, 20);
    entry.size = u32(header, 24);
    entry.offset = u32(header, 42);
    entry.name = take(u16(header, 28));
    read_extra(take(u16(header, 30)), entry);
    take(u16(header, 32));  // the comment
    return entry;
  }

  // Fields of 64 bits, for values that do not fit 32.
  void read_extra(std::string_view extra, Described& entry) const {
    while (extra.size() >= 4) {
      const std::size_t length = u16(extra, 2);
      if (length > extra.size() - 4) fail_as_damaged(fmt::format("the entry {} is too long", excerpt(entry.name)));
      std::string_view field = extra.substr(4, length);
      if (u16(extra, 0) == kExtra64)
        for (std::uint64_t* const value : {&entry.size, &entry.stored_size, &entry.offset}) {
          if (*value != kIn64) continue;
          if (field.size() < 8) fail_as_damaged(fmt::format("the size of {} is missing", excerpt(entry.name)));
          *value = u64(field, 0);
          field.remove_prefix(8);
        }
      extra.remove_prefix(4 + length);
    }
  }

  std::string_view data_of(const Described& entry) {
    const std::string name = excerpt(entry.name);
    check((entry.flags & kEncrypted) == 0, "{}: the entry {} is encrypted, which torch.save does not do", file_, name);
    check(entry.method == 0,
          "{}: the entry {} is compressed, which torch.save does not do: unpack the file and save it again with "
          "torch.save",
          file_, name);
    const std::string_view header = part(entry.offset, kLocalSize, name);
    const std::uint64_t name_size = u16(header, 26), before = kLocalSize + name_size + u16(header, 28);
    check(u32(header, 0) == kLocalHeader && part(entry.offset + kLocalSize, name_size, name) == entry.name,
          "{} contradicts itself: its directory says that {} is at byte {}, and something else is there", file_, name,
          entry.offset);
    check(entry.size == entry.stored_size && (has_sizes_elsewhere(header) || u32(header, 22) == entry.size),
          "{} contradicts itself: it gives the entry {} two sizes", file_, name);
    const std::uint64_t begin = entry.offset + before;
    if (begin > limit_ || entry.size > limit_ - begin)
      fail_as_damaged(fmt::format("the entry {} would reach into the directory", name));
    places_.push_back({entry.offset, begin + entry.size, entry.name});
    return bytes_.substr(begin, entry.size);
  }

  static bool has_sizes_elsewhere(std::string_view local_header) {
    return (u16(local_header, 6) & kSizesFollow) != 0 || u32(local_header, 22) == kIn64;
  }

  void check_overlap() {
    std::ranges::sort(places_, {}, &Place::begin);
    for (std::size_t i = 1; i < places_.size(); ++i)
      check(places_[i - 1].end <= places_[i].begin, "{} contradicts itself: its entries {} and {} overlap", file_,
            excerpt(places_[i - 1].name), excerpt(places_[i].name));
  }

  std::string_view bytes_;
  std::string file_;
  std::string_view directory_;  // what is left of it
  std::uint64_t count_ = 0;
  std::uint64_t limit_ = 0;  // where entries end and the directory begins
  std::vector<Place> places_;
};

// CRC-32 of zip files, eight bytes at a time.
std::uint32_t crc32(std::string_view bytes) {
  using Tables = std::array<std::array<std::uint32_t, 256>, 8>;
  static constexpr Tables tables = [] {
    Tables made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0u);
      made[0][i] = value;
    }
    for (std::size_t table = 1; table < 8; ++table)
      for (std::size_t i = 0; i < 256; ++i)
        made[table][i] = (made[table - 1][i] >> 8) ^ made[0][made[table - 1][i] & 0xff];
    return made;
  }();
  std::uint32_t crc = 0xffffffff;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    const std::uint64_t word = u64(bytes, 0) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (const char byte : bytes) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

// Appends numbers as little-endian bytes.
template <class... Numbers>
void append(std::string& bytes, Numbers... numbers) {
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
}

std::uint32_t in_32(std::uint64_t value) { return value < kIn64 ? static_cast<std::uint32_t>(value) : kIn64; }
std::uint16_t in_16(std::uint64_t value) { return static_cast<std::uint16_t>(std::min<std::uint64_t>(value, 0xffff)); }

// The extra field with those of the values that do not fit 32 bits.
std::string extra_64(std::initializer_list<std::uint64_t> values) {
  std::string field;
  for (const std::uint64_t value : values)
    if (value >= kIn64) append(field, value);
  if (field.empty()) return field;
  std::string extra;
  append(extra, kExtra64, in_16(field.size()));
  return extra + field;
}

// What the header of an entry and its line in the directory both have.
std::string common_fields(std::uint32_t crc, std::uint64_t size, std::size_t name, std::size_t extra) {
  constexpr std::uint16_t kVersion = 45, kStored = 0;
  constexpr std::uint16_t kMidnight = 0, kFirstOf1980 = 0x21;
  std::string fields;
  append(fields, kVersion, kUtf8, kStored, kMidnight, kFirstOf1980, crc, in_32(size), in_32(size), in_16(name),
         in_16(extra));
  return fields;
}

}  // namespace

ZipFile::ZipFile(std::shared_ptr<const MappedFile> file) : file_(std::move(file)), entries_(ZipReader(*file_).read()) {}

bool ZipFile::is_zip(std::string_view bytes) { return bytes.size() >= 4 && u32(bytes, 0) == kLocalHeader; }

std::string_view ZipFile::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), "{} lacks the entry {}: it is not a whole file of torch.save", path().string(),
        excerpt(name));
  return found->second;
}

void ZipWriter::write(std::string_view bytes) {
  file_.write(bytes);
  written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view contents) {
  const Entry entry{name, crc32(contents), contents.size(), written_};
  std::string extra = extra_64({entry.size, entry.size});
  const std::uint64_t begin = written_ + kLocalSize + name.size() + extra.size() + 4;
  const std::size_t padding = (kAlignment - begin % kAlignment) % kAlignment;
  append(extra, kPadding, in_16(padding));
  extra.append(padding, '\0');
  std::string header;
  append(header, kLocalHeader);
  write(header + common_fields(entry.crc, entry.size, name.size(), extra.size()) + name + extra);
  write(contents);
  entries_.push_back(entry);
}

void ZipWriter::commit() {
  const std::uint64_t begin = written_;
  for (const Entry& entry : entries_) {
    const std::string extra = extra_64({entry.size, entry.size, entry.offset});
    std::string line;
    append(line, kDirectoryHeader, std::uint16_t{45});
    line += common_fields(entry.crc, entry.size, entry.name.size(), extra.size());
    // length of the comment, disk, attributes
    append(line, std::uint16_t{0}, std::uint16_t{0}, std::uint16_t{0}, std::uint32_t{0}, in_32(entry.offset));
    write(line + entry.name + extra);
  }
  const std::uint64_t end = written_, count = entries_.size(), size = end - begin;
  std::string record;
  append(record, kEnd64, std::uint64_t{kEnd64Size - 12}, std::uint16_t{45}, std::uint16_t{45}, std::uint32_t{0},
         std::uint32_t{0}, count, count, size, begin);
  append(record, kLocator64, std::uint32_t{0}, end, std::uint32_t{1});
  append(record, kEnd, std::uint16_t{0}, std::uint16_t{0}, in_16(count), in_16(count), in_32(size), in_32(begin),
         std::uint16_t{0});
  write(record);
  file_.commit();
}

}  // namespace hearth::io
