#include "hearth/io/npy.h"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "hearth/base/check.h"
#include "hearth/io/file.h"

namespace hearth::io {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kAlignment = 64;  // of the values in the file

// "\x93NUMPY", version 1.0, the header's length in two bytes, the header: a Python dict, spaces, a newline.
std::string header_of(const Shape& shape) {
  std::string dict = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", shape[0], shape[1]);
  const std::size_t before = kMagic.size() + 4;
  while ((before + dict.size() + 1) % kAlignment != 0) dict += ' ';
  dict += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

// The parts of a .npy file.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : file_(std::make_shared<const MappedFile>(path)), name_(path.string()) {
    const std::string_view text = file_->text();
    check(text.starts_with(kMagic) && text.size() > kMagic.size() + 4, "{} is not a NumPy .npy file", name_);
    const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(text[at])); };
    const bool is_first_version = byte(kMagic.size()) == 1;  // later ones have four bytes of length
    begin_ = kMagic.size() + (is_first_version ? 4 : 6);
    check(text.size() >= begin_, "{} ends within its header", name_);
    std::size_t length = 0;
    for (std::size_t i = begin_; i > kMagic.size() + 2; --i) length = length << 8 | byte(i - 1);
    check(length <= text.size() - begin_, "{} ends within its header", name_);
    header_ = text.substr(begin_, length);
    begin_ += length;
  }

  Tensor matrix() const {
    check(value_of("descr").starts_with("'<f4'") && value_of("fortran_order").starts_with("False"),
          "{} must hold float32 numbers row by row; write it with numpy.save(file, x.astype('float32'))", name_);
    std::string_view shape = value_of("shape");
    const std::int64_t rows = number_in(shape, '('), columns = number_in(shape, ',');
    const std::size_t bytes = file_->size() - begin_;
    check(begin_ % alignof(float) == 0, "{}: its header must end at a multiple of 4 bytes, as numpy.save writes it",
          name_);
    check(shape.find_first_not_of(" ,") != shape.npos && shape[shape.find_first_not_of(" ,")] == ')' && columns > 0 &&
              rows <= std::numeric_limits<std::int64_t>::max() / 4 / columns &&
              bytes == static_cast<std::size_t>(rows * columns) * sizeof(float),
          "{} must hold one matrix, but its shape and its {} bytes do not fit", name_, bytes);
    return Tensor::view_of(file_->data() + begin_, {rows, columns}, DType::f32, file_);
  }

 private:
  std::string_view value_of(std::string_view key) const {
    const std::size_t at = header_.find(fmt::format("'{}':", key));
    check(at != header_.npos, "{} lacks '{}' in its header", name_, key);
    std::string_view rest = header_.substr(at + key.size() + 3);
    rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(' ')));
    return rest;
  }

  // The whole number behind `before`, which begins the text.
  std::int64_t number_in(std::string_view& text, char before) const {
    std::int64_t number = 0;
    if (!text.empty() && text.front() == before) text.remove_prefix(1);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    check(error == std::errc() && number >= 0, "{} must hold a matrix with two dimensions", name_);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
  }

  std::shared_ptr<const MappedFile> file_;
  std::string name_;
  std::string_view header_;
  std::size_t begin_ = 0;  // of the values
};

}  // namespace

void write_npy(const std::filesystem::path& path, const Tensor& matrix) {
  check(matrix.type() == DType::f32 && matrix.shape().rank() == 2, "[write_npy] {} {} is not an fp32 matrix",
        name_of(matrix.type()), matrix.shape().to_string());
  AtomicFile file(path);
  file.write(header_of(matrix.shape()));
  file.write(std::span(static_cast<const std::byte*>(matrix.raw()), matrix.bytes()));
  file.commit();
}

Tensor read_npy(const std::filesystem::path& path) { return Reader(path).matrix(); }

}  // namespace hearth::io
