#include "hearth/hub/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "hearth/base/check.h"
#include "hearth/base/log.h"
#include "hearth/base/progress.h"
#include "hearth/hub/checksum.h"
#include "hearth/hub/file_lock.h"
#include "hearth/io/file.h"

namespace hearth::hub {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int kMostTries = 4;  // without a single new byte
constexpr auto kPause = 500ms;
constexpr std::int64_t kMebibyte = 1 << 20;

std::string mib(double bytes) { return fmt::format("{:.1f} MiB", bytes / static_cast<double>(kMebibyte)); }

// A file that grows at its end: ETAG.incomplete.
class PartialFile {
 public:
  explicit PartialFile(fs::path path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail_writing();
  }
  ~PartialFile() { ::close(descriptor_); }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const fs::path& path() const { return path_; }
  std::int64_t size() const { return ::lseek(descriptor_, 0, SEEK_END); }
  void cut_to(std::int64_t size) {
    if (::ftruncate(descriptor_, size) != 0) fail_writing();
  }
  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing();
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (::fsync(descriptor_) != 0) fail_writing();
  }

 private:
  [[noreturn]] void fail_writing() const {
    throw ResourceError(fmt::format("Cannot write {}: {}; the same command continues the download", path_.string(),
                                    std::generic_category().message(errno)));
  }

  fs::path path_;
  int descriptor_;
};

// One file on its way into the cache.
class Transfer {
 public:
  Transfer(Client& client, const RepositoryCache& cache, const std::string& commit, const std::string& file, bool quiet)
      : client_(client), cache_(cache), subject_{cache.repository(), commit, file}, quiet_(quiet) {}

  void run() {
    facts_ = client_.facts(cache_.repository(), subject_.revision, subject_.file);
    const fs::path blob = cache_.blob(facts_.etag);
    const FileLock lock(cache_.lock(facts_.etag), "downloads " + subject_.file);
    if (!fs::exists(blob)) {
      io::create_directories(blob.parent_path());
      const fs::path incomplete = blob.string() + ".incomplete";
      fetch(incomplete);
      check_whole(incomplete);
      std::error_code error;
      fs::rename(incomplete, blob, error);
      check(!error, "Cannot write {}: {}", blob.string(), error.message());
      io::sync_folder(blob.parent_path());
    }
    cache_.link(subject_.revision, subject_.file, facts_.etag);
  }

 private:
  std::string name() const { return fmt::format("{} of {}", subject_.file, cache_.repository().text()); }

  void check_room(std::int64_t missing, const fs::path& folder) const {
    std::error_code error;
    const fs::space_info room = fs::space(folder, error);
    if (error || room.available >= static_cast<std::uintmax_t>(missing)) return;
    throw ResourceError(fmt::format(
        "{} needs {} more, and the disk of {} has {} left: make room, or choose another "
        "place with --cache_dir or HF_HOME",
        name(), mib(static_cast<double>(missing)), folder.string(), mib(static_cast<double>(room.available))));
  }

  // A transfer that is cut is continued as long as bytes arrive.
  void fetch(const fs::path& path) {
    PartialFile part(path);
    if (part.size() > facts_.size) part.cut_to(0);
    check_room(facts_.size - part.size(), path.parent_path());
    Progress progress("downloading " + subject_.file + ", MiB", facts_.size / kMebibyte,
                      quiet_ || facts_.size < kMebibyte);
    for (int tries = 0; part.size() < facts_.size;) {
      const std::int64_t before = part.size();
      try {
        fetch_rest(part, progress);
        check(part.size() > before, "{} sends nothing of {}", client_.endpoint(), name());
      } catch (const NetworkError&) {
        tries = part.size() > before ? 0 : tries + 1;
        if (tries == kMostTries) throw;
        std::this_thread::sleep_for(kPause * tries);
      }
    }
    part.sync();
  }

  void fetch_rest(PartialFile& part, Progress& progress) {
    const auto begin = [&](std::int64_t offset) { part.cut_to(offset); };
    const auto take = [&](std::span<const std::byte> bytes) {
      const std::int64_t size = part.size() + std::ssize(bytes);
      check(size <= facts_.size, "{} sends more of {} than the {} bytes it announced", client_.endpoint(), name(),
            facts_.size);
      part.append(bytes);
      progress.update(size / kMebibyte);
    };
    client_.get(facts_, part.size(), subject_, begin, take);
  }

  void check_whole(const fs::path& incomplete) const try {
    check_contents(incomplete, facts_.etag, name());
  } catch (const Error&) {
    fs::remove(incomplete);  // continuing it would not mend it
    throw;
  }

  Client& client_;
  const RepositoryCache& cache_;
  Subject subject_;
  bool quiet_;
  Client::FileFacts facts_;
};

}  // namespace

void download(Client& client, const RepositoryCache& cache, const std::string& commit,
              std::span<const std::string> files, bool quiet) {
  for (const std::string& file : files)
    if (!cache.has(commit, file)) Transfer(client, cache, commit, file, quiet).run();
}

}  // namespace hearth::hub
