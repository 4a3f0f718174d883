#include <algorithm>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/base64.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/bert_normalizer.h"
#include "hearth/tokenizer/byte_alphabet.h"
#include "hearth/tokenizer/character_map.h"
#include "hearth/tokenizer/node_table.h"
#include "hearth/tokenizer/normal_forms.h"
#include "hearth/tokenizer/normalizer.h"
#include "hearth/tokenizer/replacement.h"
#include "hearth/tokenizer/unicode.h"

namespace hearth::tokenizer {
namespace {

using io::Json;
using NormalizerPtr = std::unique_ptr<Normalizer>;

bool has_space_at(std::string_view text, std::size_t at) { return has_trait(read_code_point(text, at), kSpace); }

class DecomposedForm final : public Normalizer {
 public:
  explicit DecomposedForm(Decomposing kind) : kind_(kind) {}
  void normalize(Characters& characters) const override { decompose(characters, kind_); }
  bool changes(std::string_view text) const override { return decomposing_changes(text, kind_); }

 private:
  Decomposing kind_;
};

class ComposedForm final : public Normalizer {
 public:
  explicit ComposedForm(Decomposing kind) : kind_(kind) {}
  void normalize(Characters& characters) const override { compose(characters, kind_); }
  bool changes(std::string_view text) const override { return composing_changes(text, kind_); }

 private:
  Decomposing kind_;
};

class Lowercase final : public Normalizer {
 public:
  void normalize(Characters& characters) const override { make_lowercase(characters); }
  bool changes(std::string_view text) const override {
    return std::ranges::any_of(text, [](unsigned char c) { return c >= 0x80 || ('A' <= c && c <= 'Z'); });
  }
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  void normalize(Characters& characters) const override {
    const auto is_kept = [](const Character& c) { return !has_trait(c.value, kSpace); };
    if (right_)
      characters.erase(std::ranges::find_if(characters.rbegin(), characters.rend(), is_kept).base(), characters.end());
    if (left_) characters.erase(characters.begin(), std::ranges::find_if(characters, is_kept));
  }
  bool changes(std::string_view text) const override {
    if (text.empty()) return false;
    std::size_t last = text.size() - 1;
    while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0u) == 0x80u) --last;
    return (left_ && has_space_at(text, 0)) || (right_ && has_space_at(text, last));
  }

 private:
  bool left_, right_;
};

class StripAccents final : public Normalizer {
 public:
  void normalize(Characters& characters) const override {
    std::erase_if(characters, [](const Character& c) { return has_trait(c.value, kCombining); });
  }
  bool changes(std::string_view text) const override {
    return std::ranges::any_of(text, [](unsigned char c) { return c >= 0x80; });
  }
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(const std::string& text) : text_(decode_utf8(text, 0)) {}
  void normalize(Characters& characters) const override {
    if (characters.empty()) return;
    Characters prefix = text_;
    for (Character& c : prefix) c.origin = characters.front().origin;
    characters.insert(characters.begin(), prefix.begin(), prefix.end());
  }
  bool changes(std::string_view text) const override { return !text.empty() && !text_.empty(); }

 private:
  Characters text_;
};

class Replace final : public Normalizer {
 public:
  Replace(const Json& node, const std::string& where) : replacement_(node, where) {}
  void normalize(Characters& characters) const override { replacement_.apply(characters); }
  bool changes(std::string_view text) const override {
    const char byte = replacement_.first_byte();
    return byte == '\0' || text.find(byte) != text.npos;
  }

 private:
  Replacement replacement_;
};

// Control characters and spaces as the preparation of texts for machine translation has them.
class Nmt final : public Normalizer {
 public:
  void normalize(Characters& characters) const override {
    std::erase_if(characters, [](const Character& c) { return is_removed(c.value); });
    for (Character& c : characters)
      if (is_space(c.value)) c.value = U' ';
  }
  bool changes(std::string_view) const override { return true; }

 private:
  static bool is_removed(char32_t c) {
    return (0x1 <= c && c <= 0x8) || c == 0xB || (0xE <= c && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
  }
  static bool is_space(char32_t c) {
    return c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (0x200B <= c && c <= 0x200F) || c == 0x2028 ||
           c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
  }
};

class Bytes final : public Normalizer {
 public:
  void normalize(Characters& characters) const override {
    Characters result;
    std::string bytes;
    for (const auto& [value, origin] : characters) {
      bytes.clear();
      io::append_utf8(bytes, value);
      for (const char byte : bytes) result.push_back({character_of_byte(byte), origin});
    }
    characters = std::move(result);
  }
  bool changes(std::string_view) const override { return true; }
};

class Sequence final : public Normalizer {
 public:
  explicit Sequence(std::vector<NormalizerPtr> steps) : steps_(std::move(steps)) {}
  void normalize(Characters& characters) const override {
    for (const NormalizerPtr& step : steps_) step->normalize(characters);
  }
  bool changes(std::string_view text) const override {
    return std::ranges::any_of(steps_, [&](const NormalizerPtr& step) { return step->changes(text); });
  }

 private:
  std::vector<NormalizerPtr> steps_;
};

NormalizerPtr make_bert(const Json& node, const std::string& where) {
  NormalizerOptions options;
  options.clean_text = io::get_bool_or(node, "clean_text", options.clean_text, where);
  options.handle_chinese_chars = io::get_bool_or(node, "handle_chinese_chars", options.handle_chinese_chars, where);
  options.lowercase = io::get_bool_or(node, "lowercase", options.lowercase, where);
  if (node.contains("strip_accents") && !node["strip_accents"].is_null())
    options.strip_accents = io::get_bool(node, "strip_accents", where);
  return std::make_unique<BertNormalizer>(options);
}

NormalizerPtr make_sequence(const Json& node, const std::string& where) {
  std::vector<NormalizerPtr> steps;
  for (const Json& step : nodes_of(node, "normalizers", where)) steps.push_back(make_normalizer(step, where));
  return std::make_unique<Sequence>(std::move(steps));
}

NormalizerPtr make_character_map(const Json& node, const std::string& where) {
  const auto bytes = io::decode_base64(io::get_string(node, "precompiled_charsmap", where));
  check(bytes.has_value(), "{}: \"precompiled_charsmap\" is not Base64", where);
  return std::make_unique<CharacterMap>(*bytes, where);
}

template <class Form, Decomposing kind>
NormalizerPtr make_form(const Json&, const std::string&) {
  return std::make_unique<Form>(kind);
}

template <class Plain>
NormalizerPtr make_plain(const Json&, const std::string&) {
  return std::make_unique<Plain>();
}

constexpr NodeType<Normalizer> kTypes[] = {
    {"BertNormalizer", make_bert},
    {"ByteLevel", make_plain<Bytes>},
    {"Lowercase", make_plain<Lowercase>},
    {"NFC", make_form<ComposedForm, Decomposing::canonical>},
    {"NFD", make_form<DecomposedForm, Decomposing::canonical>},
    {"NFKC", make_form<ComposedForm, Decomposing::compatible>},
    {"NFKD", make_form<DecomposedForm, Decomposing::compatible>},
    {"Nmt", make_plain<Nmt>},
    {"Precompiled", make_character_map},
    {"Prepend",
     [](const Json& node, const std::string& where) -> NormalizerPtr {
       return std::make_unique<Prepend>(io::get_string(node, "prepend", where));
     }},
    {"Replace",
     [](const Json& node, const std::string& where) -> NormalizerPtr {
       return std::make_unique<Replace>(node, where);
     }},
    {"Sequence", make_sequence},
    {"Strip",
     [](const Json& node, const std::string& where) -> NormalizerPtr {
       return std::make_unique<Strip>(io::get_bool(node, "strip_left", where),
                                      io::get_bool(node, "strip_right", where));
     }},
    {"StripAccents", make_plain<StripAccents>},
};

}  // namespace

NormalizerPtr make_normalizer(const Json& node, const std::string& where) {
  return make_node<Normalizer>(kTypes, node, where);
}

std::string normalized(const Normalizer* normalizer, std::string_view text) {
  if (!normalizer) return std::string(text);
  Characters characters = decode_utf8(text, 0);
  normalizer->normalize(characters);
  std::string result;
  std::vector<std::int32_t> origins;
  encode_utf8(characters, result, origins);
  return result;
}

}  // namespace hearth::tokenizer
