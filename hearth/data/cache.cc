#include "hearth/data/cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "hearth/base/check.h"
#include "hearth/base/environment.h"
#include "hearth/base/log.h"
#include "hearth/io/checksum.h"
#include "hearth/io/growing_file.h"

namespace hearth::data {
namespace {

// A file holds the header, the size of each section, then the sections, each padded to 8 bytes. Numbers have the byte
// order of this machine: cache files are not portable.
constexpr std::array<char, 8> kMagic{'H', 'E', 'A', 'R', 'T', 'H', 'C', '1'};

struct Header {
  std::array<char, 8> magic = kMagic;
  std::array<char, 64> key{};
  std::uint64_t sections = 0;
  std::uint64_t checksum = 0;  // of everything after the header
};
static_assert(sizeof(Header) % 8 == 0);

std::size_t padding_of(std::size_t size) { return (8 - size % 8) % 8; }

// Pieces of whole 8-byte words, but for the last.
template <class Take>
void for_each_piece(std::span<const std::byte> bytes, const Take& take) {
  constexpr std::size_t kPiece = 1 << 24;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size())))
    take(bytes.first(std::min(kPiece, bytes.size())));
}

// Says what is wrong with the file; empty if it is good.
std::string_view damage(const io::MappedFile& file, const CacheKey& key, Cached& cached) {
  Header header;
  if (file.size() < sizeof header || file.size() % 8 != 0) return "cut short";
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic) return "another format";
  if (std::string_view(header.key.data(), header.key.size()) != key.hex()) return "another key";

  const std::span<const std::byte> body(file.data() + sizeof header, file.size() - sizeof header);
  io::Checksum checksum;
  for_each_piece(body, [&](std::span<const std::byte> piece) {
    checksum.update(piece);
    io::release_pages(piece);
  });
  if (checksum.value() != header.checksum) return "a wrong checksum";

  if (header.sections > body.size() / 8) return "cut short";
  std::size_t at = 8 * header.sections;
  for (std::size_t i = 0; i < header.sections; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, body.data() + 8 * i, 8);
    if (size > body.size() - at) return "cut short";
    cached.sections.push_back(body.subspan(at, size));
    at += size + padding_of(size);
  }
  return at == body.size() ? "" : "another size";
}

}  // namespace

CacheKey& CacheKey::add(std::string_view name, std::string_view value) {
  hash_.update(fmt::format("{}:{}:{}:", name, value.size(), value));
  return *this;
}

CacheKey& CacheKey::add(std::string_view name, std::int64_t value) { return add(name, fmt::format("{}", value)); }

CacheKey& CacheKey::add_file(std::string_view name, const std::filesystem::path& path) {
  return add(name, std::filesystem::exists(path) ? io::sha256_of_file(path) : "absent");
}

std::filesystem::path Cache::path_of(const CacheKey& key) const { return folder_ / (key.hex() + ".cache"); }

std::optional<Cached> Cache::load(const CacheKey& key) const {
  const std::filesystem::path path = path_of(key);
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::string problem;
  try {
    Cached cached{std::make_shared<io::MappedFile>(path), {}};
    problem = damage(*cached.file, key, cached);
    if (problem.empty()) {
      std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now(), error);  // it was used
      return cached;
    }
  } catch (const Error& unreadable) {
    problem = unreadable.what();
  }
  warn_of_damage(key, problem);
  return std::nullopt;
}

void Cache::warn_of_damage(const CacheKey& key, std::string_view problem) const {
  log_warning("the cache file {} is damaged ({}); the features are prepared again", path_of(key).string(), problem);
}

void Cache::store(const CacheKey& key, const std::vector<Section>& sections) const try {
  std::vector<std::uint64_t> sizes;
  for (const Section& section : sections) sizes.push_back(section.bytes.size());

  static constexpr std::array<std::byte, 8> kZeros{};
  // Each section: its whole 8-byte words, then its last bytes padded to a word.
  const auto for_all = [&](const auto& take) {
    take(std::as_bytes(std::span(sizes)));
    for (const auto& [bytes, is_mapped] : sections) {
      const std::size_t whole = bytes.size() / 8 * 8, rest = bytes.size() - whole;
      for_each_piece(bytes.first(whole), [&, release = is_mapped](std::span<const std::byte> piece) {
        take(piece);
        if (release) io::release_pages(piece);
      });
      std::array<std::byte, 8> last = kZeros;
      if (rest > 0) std::memcpy(last.data(), bytes.data() + whole, rest);
      if (rest > 0) take(std::span<const std::byte>(last));
    }
  };

  io::Checksum checksum;
  for_all([&](std::span<const std::byte> piece) { checksum.update(piece); });
  Header header;
  const std::string name = key.hex();
  std::memcpy(header.key.data(), name.data(), header.key.size());
  header.sections = sections.size();
  header.checksum = checksum.value();

  io::create_directories(folder_);
  io::remove_abandoned_files(folder_);
  io::AtomicFile file(path_of(key));
  file.write(std::as_bytes(std::span(&header, 1)));
  for_all([&](std::span<const std::byte> piece) { file.write(piece); });
  file.commit();
  shrink(path_of(key));
} catch (const Error& error) {
  log_warning("the features are not cached: {}", error.what());
}

std::uintmax_t Cache::limit_of_environment() {
  constexpr double kGiB = 1 << 30, kMost = 1 << 30;
  const std::string text = environment("HEARTH_CACHE_LIMIT");
  if (text.empty()) return static_cast<std::uintmax_t>(10 * kGiB);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  check(*end == '\0' && value >= 0 && value <= kMost, "HEARTH_CACHE_LIMIT: '{}' is not a number of GiB", text);
  return static_cast<std::uintmax_t>(value * kGiB);
}

std::vector<Cache::File> Cache::files() const {
  std::vector<File> files;
  std::error_code gone;  // other processes may remove files meanwhile
  for (const auto& entry : std::filesystem::directory_iterator(folder_, gone)) {
    if (entry.path().extension() != ".cache" || !entry.is_regular_file(gone)) continue;
    const File file{entry.path(), entry.file_size(gone), entry.last_write_time(gone)};
    if (!gone) files.push_back(file);
  }
  std::ranges::sort(files, {}, &File::used);
  return files;
}

void Cache::clear() const {
  io::remove_abandoned_files(folder_);
  for (const File& file : files()) std::filesystem::remove(file.path);
}

void Cache::shrink(const std::filesystem::path& kept) const {
  const std::vector<File> all = files();
  std::uintmax_t bytes = 0;
  for (const File& file : all) bytes += file.bytes;
  for (const File& file : all) {
    if (bytes <= limit_) return;
    std::error_code gone;
    if (file.path != kept && std::filesystem::remove(file.path, gone)) bytes -= file.bytes;
  }
}

}  // namespace hearth::data
