#include "hearth/tasks/masked_lm/features.h"

#include <algorithm>
#include <vector>

#include "hearth/base/check.h"
#include "hearth/tasks/common/text_features.h"
#include "hearth/tasks/common/tokenizing.h"

namespace hearth::tasks {
namespace {

constexpr std::size_t kTextsPerGroup = 1000;  // the batch size of datasets.map

using Tokens = std::vector<std::int32_t>;

void append(TokenRows& rows, std::span<const std::int32_t> ids) {
  rows.ids.append(ids);
  rows.type_ids.own().resize(rows.ids.size(), 0);
  rows.starts.push_back(std::ssize(rows.ids));
}

TokenRows joined_rows(std::span<const Tokens> texts, std::size_t length, const std::string& file) {
  TokenRows rows;
  for (std::size_t begin = 0; begin < texts.size(); begin += kTextsPerGroup) {
    Tokens joined;
    for (const Tokens& text : texts.subspan(begin, std::min(kTextsPerGroup, texts.size() - begin)))
      joined.insert(joined.end(), text.begin(), text.end());
    for (std::size_t at = 0; at + length <= joined.size(); at += length)
      append(rows, std::span(joined).subspan(at, length));
  }
  check(rows.rows() > 0,
        "{} has too little text for one sequence of {} tokens: give more text, a smaller --max_seq_length, or "
        "--line_by_line",
        file, length);
  return rows;
}

TokenRows line_rows(std::span<const Tokens> texts, const std::string& file) {
  TokenRows rows;
  for (const Tokens& text : texts)
    if (!text.empty()) append(rows, text);
  check(rows.rows() > 0, "the rows of {} that are for training, or for evaluation, have no text: give more rows", file);
  return rows;
}

}  // namespace

TokenRows text_sequences(const Texts& texts, Grouping grouping, std::int64_t max_length, const TaskSetting& setting) {
  const bool joins = grouping == Grouping::joined;
  std::vector<Tokens> tokens(texts.rows.size());
  for_each_row(texts.file, texts.size(), setting, [&](std::int64_t row) {
    const std::string& text = texts.rows[static_cast<std::size_t>(row)];
    if (!joins && is_blank(text)) return;
    tokens[static_cast<std::size_t>(row)] =
        joins ? setting.tokenizer->encode(text).ids : setting.tokenizer->encode_truncated(text, max_length).ids;
  });
  TokenRows rows =
      joins ? joined_rows(tokens, static_cast<std::size_t>(max_length), texts.file) : line_rows(tokens, texts.file);
  check_rows(rows, {}, texts.file, setting);
  return rows;
}

}  // namespace hearth::tasks
