#include "hearth/io/byte_source.h"

#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "hearth/base/check.h"
#include "hearth/io/input_file.h"

namespace hearth::io {
namespace {

constexpr std::size_t kPiece = 1 << 18;  // of compressed bytes
constexpr int kLargestZstdWindow = 27;   // log2: 128 MiB, what the zstd command accepts without an option

class PlainBytes final : public ByteSource {
 public:
  explicit PlainBytes(const std::filesystem::path& path) : file_(path) {}
  std::size_t read(std::span<std::byte> into) override { return file_.read(into); }

 private:
  InputFile file_;
};

// What both decompressors share: pieces of the compressed file.
class CompressedBytes : public ByteSource {
 public:
  explicit CompressedBytes(const std::filesystem::path& path) : file_(path), piece_(kPiece) {}

 protected:
  // The next piece; empty at the end of the file.
  std::span<std::byte> next_piece() { return std::span(piece_).first(file_.read(piece_)); }

  void check_whole(bool whole, std::string_view format) const {
    check(whole, "{} is cut short: its {} data has no end; copy or download it again", file_.path().string(), format);
  }
  [[noreturn]] void damaged(std::string_view format, std::string_view reason) const {
    fail("{} cannot be decompressed: it is damaged or no {} file ({}); copy or download it again",
         file_.path().string(), format, reason);
  }

 private:
  InputFile file_;
  std::vector<std::byte> piece_;
};

// One gzip member after another, as gzip and bgzip write them.
class GzipBytes final : public CompressedBytes {
 public:
  explicit GzipBytes(const std::filesystem::path& path) : CompressedBytes(path) {
    constexpr int kGzipOnly = 16;
    check(::inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, "zlib cannot start");
  }
  ~GzipBytes() override { ::inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(std::span<std::byte> into) override {
    stream_.next_out = reinterpret_cast<Bytef*>(into.data());
    stream_.avail_out = static_cast<uInt>(into.size());
    while (stream_.avail_out > 0 && refill()) {
      if (at_start_) check_result(::inflateReset(&stream_));
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      at_start_ = result == Z_STREAM_END;
      if (!at_start_) check_result(result);
    }
    return into.size() - stream_.avail_out;
  }

 private:
  bool refill() {
    if (stream_.avail_in > 0) return true;
    const std::span<std::byte> piece = next_piece();
    stream_.next_in = reinterpret_cast<Bytef*>(piece.data());
    stream_.avail_in = static_cast<uInt>(piece.size());
    if (piece.empty()) check_whole(at_start_ && began_, "gzip");
    began_ = true;
    return !piece.empty();
  }
  void check_result(int result) const {
    if (result != Z_OK && result != Z_BUF_ERROR)
      damaged("gzip", stream_.msg != nullptr ? stream_.msg : "unknown contents");
  }

  z_stream stream_{};
  bool began_ = false;
  bool at_start_ = true;  // of a member
};

class ZstdBytes final : public CompressedBytes {
 public:
  explicit ZstdBytes(const std::filesystem::path& path) : CompressedBytes(path), stream_(::ZSTD_createDStream()) {
    check(stream_ != nullptr, "zstd cannot start");
    ::ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kLargestZstdWindow);
  }
  ~ZstdBytes() override { ::ZSTD_freeDStream(stream_); }
  ZstdBytes(const ZstdBytes&) = delete;
  ZstdBytes& operator=(const ZstdBytes&) = delete;

  std::size_t read(std::span<std::byte> into) override {
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    while (out.pos < out.size) {
      if (in_.pos == in_.size && !flushing_ && !refill()) break;
      const std::size_t before = out.pos + in_.pos;
      const std::size_t result = ::ZSTD_decompressStream(stream_, &out, &in_);
      if (::ZSTD_isError(result) != 0U) damaged("zstd", ::ZSTD_getErrorName(result));
      flushing_ = out.pos + in_.pos > before;  // there may be more inside
      if (flushing_) at_start_ = result == 0;
    }
    return out.pos;
  }

 private:
  bool refill() {
    const std::span<std::byte> piece = next_piece();
    in_ = {piece.data(), piece.size(), 0};
    if (piece.empty()) check_whole(at_start_ && began_, "zstd");
    began_ = true;
    return !piece.empty();
  }

  ZSTD_DStream* stream_;
  ZSTD_inBuffer in_{};
  bool began_ = false;
  bool at_start_ = true;   // of a frame
  bool flushing_ = false;  // the last call went on: the decompressor may hold more bytes
};

}  // namespace

Compression compression_of(const std::filesystem::path& file) {
  const std::filesystem::path ending = file.extension();
  return ending == ".gz" ? Compression::gzip : ending == ".zst" ? Compression::zstd : Compression::none;
}

std::filesystem::path uncompressed_name(const std::filesystem::path& file) {
  return compression_of(file) == Compression::none ? file : std::filesystem::path(file).replace_extension();
}

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& file) {
  switch (compression_of(file)) {
    case Compression::gzip:
      return std::make_unique<GzipBytes>(file);
    case Compression::zstd:
      return std::make_unique<ZstdBytes>(file);
    case Compression::none:
      break;
  }
  return std::make_unique<PlainBytes>(file);
}

}  // namespace hearth::io
