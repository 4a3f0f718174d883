#include "hearth/apps/text_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "hearth/apps/input_lines.h"
#include "hearth/base/check.h"
#include "hearth/data/record_format.h"
#include "hearth/data/table.h"
#include "hearth/data/text_lines.h"
#include "hearth/io/file.h"

namespace hearth::apps {
namespace {

std::vector<std::string> checked(std::vector<std::string> texts, const std::string& file) {
  check(!texts.empty(), "{} has no texts; write one per line", file);
  const auto blank = std::ranges::find_if(texts, is_blank);
  check(blank == texts.end(), "{}: text {} is empty; write a text, or leave it out", file, blank - texts.begin() + 1);
  return texts;
}

const data::Column& text_column(const data::Table& table, const std::string& column) {
  if (!column.empty()) return table.at(column);
  if (const data::Column* text = table.find("text")) return *text;
  const data::Column* only = nullptr;
  for (const data::Column& each : table.columns()) {
    if (each.kind() != data::ColumnKind::text) continue;
    check(only == nullptr, "{} has no column \"text\"; name the one to read with --text_column_name: {}", table.file(),
          fmt::join(table.names(), ", "));
    only = &each;
  }
  check(only != nullptr, "{} has no column of texts; its columns are {}", table.file(), fmt::join(table.names(), ", "));
  return *only;
}

}  // namespace

void TextFileFlags::declare(Arguments& arguments, std::string_view what, File need) {
  auto& option = arguments.add("file", &file, fmt::format("{}: {}, or one per line", what, data::record_endings()));
  if (need == File::required) option.required();
  arguments.add("text_column_name", &text_column_name, "column of the texts in --file; if not given, text");
}

std::vector<std::string> TextFileFlags::read() const { return read_text_file(file.value_or(""), text_column_name); }

std::vector<std::string> read_text_file(const std::string& file, const std::string& column) {
  std::vector<std::string> texts;
  if (data::record_format_of(file)) {
    const data::Table table = data::read_table(file);
    const data::Column& found = text_column(table, column);
    for (std::size_t row = 0; row < found.size(); ++row) texts.push_back(found.text(row));
  } else {
    const io::MappedFile contents(file);
    data::TextLines lines(contents.text(), file);
    for (std::string_view line; lines.next(line);) texts.emplace_back(line);
  }
  return checked(std::move(texts), file);
}

std::vector<std::string> read_text_input() {
  std::vector<std::string> texts;
  for (std::string line; std::getline(std::cin, line);) {
    texts.push_back(line);
    check_utf8(line, fmt::format("line {} of standard input", texts.size()));
  }
  return checked(std::move(texts), "standard input");
}

}  // namespace hearth::apps
