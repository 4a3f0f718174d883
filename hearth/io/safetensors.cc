#include "hearth/io/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::io {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kMaxHeader = 100'000'000;  // the reference implementation's limit
constexpr std::string_view kMetadataKey = "__metadata__";

struct Format {
  std::string_view name;
  std::uint64_t bits;
  std::optional<DType> type;
};

// U8 before BOOL: a tensor is written with the first entry of its DType.
constexpr std::array kFormats = {
    Format{"F32", 32, DType::f32}, Format{"BF16", 16, DType::bf16}, Format{"F16", 16, DType::f16},
    Format{"F64", 64, DType::f64}, Format{"I64", 64, DType::i64},   Format{"I32", 32, DType::i32},
    Format{"U8", 8, DType::u8},    Format{"BOOL", 8, DType::u8},    Format{"I8", 8, {}},
    Format{"I16", 16, {}},         Format{"U16", 16, {}},           Format{"U32", 32, {}},
    Format{"U64", 64, {}},         Format{"C64", 64, {}},           Format{"F8_E4M3", 8, {}},
    Format{"F8_E5M2", 8, {}},      Format{"F8_E8M0", 8, {}},        Format{"F8_E4M3FNUZ", 8, {}},
    Format{"F8_E5M2FNUZ", 8, {}},  Format{"F6_E2M3", 6, {}},        Format{"F6_E3M2", 6, {}},
    Format{"F4", 4, {}},
};

const Format* find_format(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &Format::name);
  return found == kFormats.end() ? nullptr : found;
}

std::string_view spelling_of(DType type) {
  return std::ranges::find(kFormats, std::optional(type), &Format::type)->name;
}

std::string_view header_text(const MappedFile& file) {
  const std::string path = file.path().string();
  check(!file.text().starts_with("version https://git-lfs"),
        "{} is a Git LFS pointer, not the weights themselves: fetch them with git lfs pull", path);
  check(file.size() >= kLengthBytes,
        "{} is not a safetensors file: it has {} bytes, but the header's length alone takes 8", path, file.size());
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  check(length <= kMaxHeader, "{} is not a safetensors file: its header would have {} bytes, the limit is {}", path,
        length, kMaxHeader);
  check(length <= file.size() - kLengthBytes,
        "{} is cut off or not a safetensors file: its header would have {} bytes, the file has {} in all", path, length,
        file.size());
  return file.text().substr(kLengthBytes, length);
}

// `where` names the file and the tensor.
std::vector<std::int64_t> read_shape(const Json& info, const std::string& where) {
  const auto found = info.find("shape");
  check(found != info.end() && found->is_array(), "{}: \"shape\" must be an array", where);
  std::vector<std::int64_t> shape;
  for (const Json& dim : *found) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    check(dim.is_number_unsigned() && dim.get<std::uint64_t>() <= kMax,
          "{}: \"shape\" must hold non-negative integers of 64 bits, found {}", where, excerpt(dim));
    shape.push_back(dim.get<std::int64_t>());
  }
  return shape;
}

std::pair<std::uint64_t, std::uint64_t> read_offsets(const Json& info, const std::string& where) {
  const auto found = info.find("data_offsets");
  check(found != info.end() && found->is_array() && found->size() == 2 && (*found)[0].is_number_unsigned() &&
            (*found)[1].is_number_unsigned(),
        "{}: \"data_offsets\" must be two non-negative integers{}", where,
        found == info.end() ? "" : ", found " + excerpt(*found));
  return {(*found)[0].get<std::uint64_t>(), (*found)[1].get<std::uint64_t>()};
}

// Zeros count as ones, so that the product of any subset of the dimensions fits 64 bits as well.
std::uint64_t data_bytes(const std::vector<std::int64_t>& shape, const Format& format, const std::string& where) {
  std::int64_t bound = static_cast<std::int64_t>(format.bits);
  bool fits = true;
  for (const std::int64_t dim : shape) {
    fits = fits && !__builtin_mul_overflow(bound, std::max<std::int64_t>(dim, 1), &bound);
  }
  check(fits, "{}: the shape [{}] overflows 64 bits", where, fmt::join(shape, ", "));
  const std::uint64_t bits = std::ranges::count(shape, 0) > 0 ? 0 : static_cast<std::uint64_t>(bound);
  check(bits % 8 == 0, "{}: the shape [{}] in {} does not fill whole bytes", where, fmt::join(shape, ", "),
        format.name);
  return bits / 8;
}

Safetensors::Entry read_entry(const Json& info, const std::string& where, std::size_t data_begin,
                              std::size_t data_size) {
  check(info.is_object(), "{} must be described by an object with dtype, shape and data_offsets", where);
  const std::string dtype = get_string(info, "dtype", where);
  const Format* format = find_format(dtype);
  check(format != nullptr, "{} has the unknown dtype {}", where, excerpt(dtype));
  std::vector<std::int64_t> shape = read_shape(info, where);
  const std::uint64_t bytes = data_bytes(shape, *format, where);
  const auto [begin, end] = read_offsets(info, where);
  check(begin <= end, "{}: its data begins at byte {}, after its end at byte {}", where, begin, end);
  check(end <= data_size, "{}: its data ends at byte {}, but the file has only {} bytes of data: it may be cut off",
        where, end, data_size);
  check(end - begin == bytes, "{}: the shape [{}] in {} takes {} bytes, but data_offsets span {}", where,
        fmt::join(shape, ", "), dtype, bytes, end - begin);
  return {dtype, std::move(shape), data_begin + begin, data_begin + end};
}

Safetensors::Metadata read_metadata(const Json& object, const std::string& where) {
  check(object.is_object(), "{} must be an object of strings", where);
  Safetensors::Metadata metadata;
  for (const auto& [key, value] : object.get_ref<const Json::object_t&>()) {
    check(value.is_string(), "{}: {} must be a string, found {}", where, excerpt(key), excerpt(value));
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

// Checks that the tensors follow each other without gap or overlap.
void check_coverage(const std::map<std::string, Safetensors::Entry, std::less<>>& entries, const std::string& path,
                    std::size_t data_begin, std::size_t file_size) {
  struct Range {
    std::size_t begin, end;
    std::string_view name;
  };
  std::vector<Range> ranges;
  ranges.reserve(entries.size());
  for (const auto& [name, entry] : entries) ranges.push_back({entry.begin, entry.end, name});
  std::ranges::sort(ranges, {}, [](const Range& range) { return std::pair(range.begin, range.end); });
  Range previous{data_begin, data_begin, ""};
  for (const Range& range : ranges) {
    check(range.begin >= previous.end, "{}: the data of the tensors {} and {} overlap", path, excerpt(previous.name),
          excerpt(range.name));
    check(range.begin == previous.end, "{}: the bytes from {} to {}, before the tensor {}, belong to no tensor", path,
          previous.end, range.begin, excerpt(range.name));
    previous = range;
  }
  check(previous.end == file_size, "{}: the bytes from {} to the end at {} belong to no tensor", path, previous.end,
        file_size);
}

}  // namespace

Safetensors Safetensors::open(const std::filesystem::path& path) {
  Safetensors result;
  result.file_ = std::make_shared<const MappedFile>(path);
  const std::size_t file_size = result.file_->size();
  const std::string name = path.string();
  const std::string_view text = header_text(*result.file_);
  const std::size_t data_begin = kLengthBytes + text.size();
  const Json header = parse_json_strict(text, "The header of " + name);
  check(header.is_object(), "The header of {} must be a JSON object, found {}", name, excerpt(header));
  for (const auto& [key, info] : header.get_ref<const Json::object_t&>()) {
    if (key == kMetadataKey) {
      result.metadata_ = read_metadata(info, fmt::format("{}, {}", name, kMetadataKey));
    } else {
      const std::string where = fmt::format("{}, tensor {}", name, excerpt(key));
      result.entries_.emplace(key, read_entry(info, where, data_begin, file_size - data_begin));
    }
  }
  check_coverage(result.entries_, name, data_begin, file_size);
  return result;
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

const Safetensors::Entry& Safetensors::entry(std::string_view name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), "{} has no tensor {}", path().string(), excerpt(name));
  return found->second;
}

Tensor Safetensors::tensor(std::string_view name) const {
  const Entry& wanted = entry(name);
  const std::optional<DType> type = find_format(wanted.dtype)->type;
  check(type.has_value(), "{}: the tensor {} has dtype {}, which is not supported: store it as F32, BF16 or F16",
        path().string(), excerpt(name), wanted.dtype);
  check(wanted.shape.size() <= Shape::kMaxRank, "{}: the tensor {} has {} dimensions, but at most {} are supported",
        path().string(), excerpt(name), wanted.shape.size(), Shape::kMaxRank);
  const Shape shape{std::span<const std::int64_t>(wanted.shape)};
  const std::byte* data = file_->data() + wanted.begin;
  if (reinterpret_cast<std::uintptr_t>(data) % size_of(*type) == 0) return Tensor::view_of(data, shape, *type, file_);
  return Tensor::view_of(data, shape, *type, file_).clone();
}

void write_safetensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const Safetensors::Metadata& metadata) {
  std::map<std::string_view, const Tensor*> by_name;
  for (const auto& [name, tensor] : tensors) {
    check(tensor.defined(), "Cannot write {}: the tensor {} has no value", path.string(), excerpt(name));
    check(name != kMetadataKey, "Cannot write {}: no tensor may be called {}", path.string(), excerpt(name));
    check(by_name.emplace(name, &tensor).second, "Cannot write {}: two tensors are called {}", path.string(),
          excerpt(name));
  }
  // Tensors with wide elements first: then each tensor is aligned to the size of its elements.
  std::vector<std::pair<std::string_view, const Tensor*>> ordered(by_name.begin(), by_name.end());
  std::ranges::stable_sort(ordered, std::greater{}, [](const auto& item) { return size_of(item.second->type()); });

  Json header = Json::object();
  if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, tensor] : ordered) {
    Json& info = header[std::string(name)];
    info["dtype"] = spelling_of(tensor->type());
    info["shape"] = Json::array();
    for (const std::int64_t dim : tensor->shape().dims()) info["shape"].push_back(dim);
    info["data_offsets"] = {offset, offset + tensor->bytes()};
    offset += tensor->bytes();
  }
  std::string text = dump_json(header, kOneLine);
  text.resize((text.size() + 7) / 8 * 8, ' ');

  AtomicFile file(path);
  const std::uint64_t length = text.size();
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(text);
  for (const auto& [name, tensor] : ordered)
    file.write({static_cast<const std::byte*>(tensor->raw()), tensor->bytes()});
  file.commit();
}

}  // namespace hearth::io
