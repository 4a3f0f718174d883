#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/io/json_fwd.h"
#include "hearth/tokenizer/tokenizer.h"

namespace hearth::tokenizer {

// The node "post_processor": which special tokens stand around a text or a pair of texts, and whether the spaces at
// both ends of a token belong to its offsets.
class PostProcessor {
 public:
  PostProcessor() = default;  // no special tokens; the types of a pair are 0 and 1
  PostProcessor(const io::Json& node, const std::string& where);

  void check_ids(std::int64_t vocab_size, const std::string& where) const;  // of the special tokens
  std::int64_t special_tokens(bool pair) const;
  Encoding build(const TokenizedText& first) const { return build(single_, {&first, nullptr}); }
  Encoding build(const TokenizedText& first, const TokenizedText& second) const {
    return build(pair_, {&first, &second});
  }

  // Names of the first and the last special token around a text, such as [CLS] and [SEP].
  std::optional<std::string> first_special() const;
  std::optional<std::string> last_special() const;

  // As Hugging Face's byte-level post-processors: offsets without the spaces at both ends of a token.
  struct Trimming {
    bool add_prefix_space;  // the first space of a text was added, so it is not part of the text
  };
  const std::optional<Trimming>& trimming() const { return trimming_; }
  struct Spaces {
    std::int32_t leading = 0, trailing = 0;
  };
  static Spaces spaces_of(std::string_view token);
  static Offset trimmed(Offset offset, Spaces spaces, bool is_first, const Trimming& trimming);
  // The spaces of the tokens of a model, by id, which `build` trims by.
  void set_spaces(std::vector<Spaces> spaces) { spaces_ = std::move(spaces); }

  // A special token, with its ids, or one of the texts.
  struct Part {
    int text = -1;  // 0 or 1; -1: a special token
    std::int32_t type_id = 0;
    std::string name = {};
    std::vector<std::int32_t> ids = {};
  };
  using Template = std::vector<Part>;

 private:
  using Texts = std::array<const TokenizedText*, 2>;
  void read(const io::Json& node, const std::string& where);
  void read_around(const io::Json& node, const std::string& where);
  void read_template(const io::Json& node, const std::string& where);
  void read_sequence(const io::Json& node, const std::string& where);
  void read_trimming(const io::Json& node, const std::string& where);
  void set_templates(Template single, Template pair, const std::string& where);
  Encoding build(const Template& parts, const Texts& texts) const;
  void trim(std::size_t begin, Encoding& encoding) const;

  Template single_ = {{.text = 0}}, pair_ = {{.text = 0}, {.text = 1, .type_id = 1}};
  bool has_template_ = false;
  std::optional<Trimming> trimming_;
  std::vector<Spaces> spaces_;
};

}  // namespace hearth::tokenizer
