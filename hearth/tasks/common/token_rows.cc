#include "hearth/tasks/common/token_rows.h"

#include <algorithm>

#include "hearth/base/check.h"

namespace hearth::tasks {
namespace {

std::int64_t padded_length(const TokenRows& rows, std::span<const std::int64_t> items, const CollateOptions& options) {
  if (options.padding == Padding::packed) return 0;
  if (options.padding == Padding::max_length) return options.max_seq_length;
  std::int64_t longest = 0;
  for (const std::int64_t row : items) longest = std::max(longest, rows.length(row));
  const std::int64_t unit = options.pad_to_multiple_of;
  return (longest + unit - 1) / unit * unit;
}

}  // namespace

std::int64_t TokenRows::length(std::int64_t row) const {
  const auto r = static_cast<std::size_t>(row);
  return starts[r + 1] - starts[r];
}

void TokenRows::append(const tokenizer::Encoding& encoding) {
  ids.append(encoding.ids);
  for (const std::int32_t type : encoding.type_ids) type_ids.push_back(static_cast<std::uint8_t>(type));
  starts.push_back(static_cast<std::int64_t>(ids.size()));
}

void TokenRows::append(const TokenRows& rows) {
  const std::int64_t before = tokens();
  for (std::size_t row = 1; row < rows.starts.size(); ++row) starts.push_back(before + rows.starts[row]);
  ids.append(rows.ids);
  type_ids.append(rows.type_ids);
}

void TokenRows::keep_first(std::int64_t count) {
  if (count >= rows()) return;
  starts.shrink(static_cast<std::size_t>(count) + 1);
  ids.shrink(static_cast<std::size_t>(tokens()));
  type_ids.shrink(ids.size());
}

void TokenRows::check_whole(std::int64_t vocab_size, std::int64_t max_length) const {
  constexpr std::uint8_t kLastType = 1;
  constexpr std::size_t kTokensPerCheck = 1 << 22;
  check(!starts.empty() && starts.front() == 0 && starts.back() == std::ssize(ids) && type_ids.size() == ids.size(),
        "the numbers of rows, tokens and types do not agree");
  for (std::size_t row = 1; row < starts.size(); ++row)
    check(starts[row - 1] < starts[row] && starts[row] - starts[row - 1] <= max_length,
          "row {} has an impossible length", row - 1);
  for (std::size_t begin = 0; begin < ids.size(); begin += kTokensPerCheck) {
    const std::size_t count = std::min(kTokensPerCheck, ids.size() - begin);
    for (std::size_t i = begin; i < begin + count; ++i) {
      check(ids[i] >= 0 && ids[i] < vocab_size, "{} is no token", ids[i]);
      check(type_ids[i] <= kLastType, "{} is no type of a token", type_ids[i]);
    }
    ids.release(begin, count);  // what lies in a file does not stay in memory
    type_ids.release(begin, count);
  }
}

Padding padding_of(const std::optional<bool>& pad_to_max_length) {
  if (!pad_to_max_length) return Padding::packed;
  return *pad_to_max_length ? Padding::max_length : Padding::longest;
}

Batch collate(const TokenRows& rows, std::span<const std::int64_t> items, std::uint32_t first_sample,
              const CollateOptions& options) {
  check(options.pad_to_multiple_of > 0, "[collate] cannot pad to a multiple of {}", options.pad_to_multiple_of);
  Batch batch;
  std::vector<std::int32_t> types;
  for (const std::int64_t row : items) check(row >= 0 && row < rows.rows(), "[collate] row {} of {}", row, rows.rows());
  const std::int64_t length = padded_length(rows, items, options);
  for (const std::int64_t row : items) {
    const auto type_ids = rows.type_ids_of(row);
    types.assign(type_ids.begin(), type_ids.end());
    batch.append(rows.ids_of(row), types, first_sample++, length, options.pad_id);
  }
  return batch;
}

}  // namespace hearth::tasks
