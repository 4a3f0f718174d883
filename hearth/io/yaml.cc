#include "hearth/io/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <span>
#include <sstream>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"

namespace hearth::io {
namespace {

constexpr std::array<std::string_view, 9> kTrue{"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr std::array<std::string_view, 9> kFalse{"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

template <class Number>
bool is_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

Json value_of_plain(std::string_view text) {
  if (is_one_of(text, kNull)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (std::int64_t integer = 0; is_number(digits, integer)) return integer;
  const bool has_point = text.find('.') != text.npos && text.find_first_of("0123456789") != text.npos;
  if (double real = 0; has_point && is_number(digits, real)) return real;
  return text;
}

// Looks over a document before it is read: with aliases a few lines can stand for any amount of data.
class Guard final : public YAML::EventHandler {
 public:
  explicit Guard(std::string_view name) : name_(name) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
    open(mark);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapEnd() override { --depth_; }
  void OnAnchor(const YAML::Mark& mark, const std::string& anchor) override {
    refuse(mark, fmt::format("the anchor &{} is not supported; write the value where it is used", anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "aliases (*name) are not supported; write the value itself");
  }

 private:
  void count(const YAML::Mark& mark) {
    constexpr int kMostValues = 100'000;
    if (++values_ > kMostValues) refuse(mark, fmt::format("the file has more than {} values", kMostValues));
  }
  void open(const YAML::Mark& mark) {
    constexpr int kMaxDepth = 100;
    if (++depth_ > kMaxDepth) refuse(mark, fmt::format("values are nested deeper than {} levels", kMaxDepth));
    count(mark);
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& why) const {
    fail("{}, line {}: {}", name_, mark.line + 1, why);
  }

  std::string_view name_;
  int depth_ = 0, values_ = 0;
};

void look_over(std::string_view text, std::string_view name) {
  std::istringstream stream{std::string(text)};
  Guard guard(name);
  YAML::Parser(stream).HandleNextDocument(guard);
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Json value(const YAML::Node& node) const {
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return table(node);
      case YAML::NodeType::Sequence: {
        Json list = Json::array();
        for (const YAML::Node& item : node) list.push_back(value(item));
        return list;
      }
      case YAML::NodeType::Scalar:
        return node.Tag() == "?" ? value_of_plain(node.Scalar()) : Json(node.Scalar());
      default:
        return nullptr;
    }
  }

 private:
  Json table(const YAML::Node& node) const {
    Json object = Json::object();
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      check(entry.first.IsScalar(), "{}, line {}: a key must be a word, not a list or a table", name_, line);
      const std::string key = entry.first.Scalar();
      check(!entry.second.IsNull() || has_colon(entry.first),
            "{}, line {}: {} has no colon and no value; the file may be cut off", name_, line, excerpt(key));
      check(!object.contains(key), "{}, line {}: {} is given twice", name_, line, excerpt(key));
      object[key] = value(entry.second);
    }
    return object;
  }

  bool has_colon(const YAML::Node& key) const {
    const auto end = static_cast<std::size_t>(key.Mark().pos) + key.Scalar().size();
    const std::size_t next = text_.find_first_not_of(" \t'\"", end);
    return next != text_.npos && text_[next] == ':';
  }

  std::string_view text_, name_;
};

void emit(YAML::Emitter& out, const Json& value) {
  if (value.is_object()) {
    const std::map<std::string, Json> sorted = value;
    out << YAML::BeginMap;
    for (const auto& [key, inner] : sorted) {
      out << YAML::Key;
      emit(out, key);
      out << YAML::Value;
      emit(out, inner);
    }
    out << YAML::EndMap;
  } else if (value.is_array()) {
    if (value.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : value) emit(out, item);
    out << YAML::EndSeq;
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (!value_of_plain(text).is_string()) out << YAML::SingleQuoted;
    out << text;
  } else if (value.is_null()) {
    out << YAML::LowerNull << YAML::Null;
  } else {
    out << value.dump();
  }
}

}  // namespace

Json parse_yaml(std::string_view text, std::string_view name) {
  check(is_utf8(text), "{} is not UTF-8 text; save the file as UTF-8", name);
  try {
    look_over(text, name);
    return Reader(text, name).value(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    fail("{}, line {}: {}; the file is not valid YAML", name, error.mark.line + 1, error.msg);
  }
}

std::string dump_yaml(const Json& value) {
  YAML::Emitter out;
  emit(out, value);
  return std::string(out.c_str()) + "\n";
}

}  // namespace hearth::io
