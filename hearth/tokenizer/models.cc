#include <cmath>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/io/json.h"
#include "hearth/io/utf8.h"
#include "hearth/tokenizer/bpe.h"
#include "hearth/tokenizer/model.h"
#include "hearth/tokenizer/unigram.h"
#include "hearth/tokenizer/wordpiece.h"

namespace hearth::tokenizer {
namespace {

using io::Json;

Json take(Json& node, std::string_view key, const std::string& where) {
  check(node.contains(key), "{} has no \"{}\"", where, key);
  return std::exchange(node[key], nullptr);
}

// An empty string is as good as none.
std::optional<std::string> optional_string(const Json& node, std::string_view key, const std::string& where) {
  std::string text = io::get_string_or(node, key, "", where);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::unique_ptr<Model> make_wordpiece(Json& node, const std::string& where, bool) {
  WordPiece::Options options;
  options.unk_token = io::get_string_or(node, "unk_token", options.unk_token, where);
  options.continuing_subword_prefix =
      io::get_string_or(node, "continuing_subword_prefix", options.continuing_subword_prefix, where);
  options.max_input_chars_per_word =
      io::get_int_or(node, "max_input_chars_per_word", options.max_input_chars_per_word, where);
  return std::make_unique<WordPiece>(TokenTable(read_vocab(take(node, "vocab", where), where)), std::move(options),
                                     where);
}

// Each merge is a list of two tokens, or a string with a space between them.
void read_merges(const Json& json, const std::string& where, Bpe::Options& options) {
  check(json.is_array(), "{}: \"merges\" must be a list", where);
  options.spells_merges = !json.empty() && json.front().is_string();
  for (const Json& merge : json) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      options.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
    } else {
      const std::string text = merge.is_string() ? merge.get<std::string>() : "";
      const std::size_t space = text.find(' ');
      check(space != text.npos && text.find(' ', space + 1) == text.npos, "{}: merge {} is not two tokens: {}", where,
            options.merges.size() + 1, io::excerpt(merge));
      options.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    const auto& [first, second] = options.merges.back();
    check(!first.empty() && !second.empty(), "{}: merge {} has an empty token", where, options.merges.size());
  }
}

std::unique_ptr<Model> make_bpe(Json& node, const std::string& where, bool) {
  Bpe::Options options;
  check(io::get_double_or(node, "dropout", 0, where) == 0,
        "{}: \"dropout\" makes the tokens of a text random, which is not supported", where);
  options.unk_token = optional_string(node, "unk_token", where);
  options.continuing_subword_prefix = optional_string(node, "continuing_subword_prefix", where);
  options.end_of_word_suffix = optional_string(node, "end_of_word_suffix", where);
  options.fuse_unk = io::get_bool_or(node, "fuse_unk", false, where);
  options.byte_fallback = io::get_bool_or(node, "byte_fallback", false, where);
  options.ignore_merges = io::get_bool_or(node, "ignore_merges", false, where);
  read_merges(take(node, "merges", where), where, options);
  return std::make_unique<Bpe>(TokenTable(read_vocab(take(node, "vocab", where), where)), std::move(options), where);
}

std::unique_ptr<Model> make_unigram(Json& node, const std::string& where, bool read_from_json) {
  const Json vocab = take(node, "vocab", where);
  check(vocab.is_array() && !vocab.empty() && std::ssize(vocab) <= kMaxVocabulary,
        "{}: the model's \"vocab\" must be a list of at most {} pairs of token and score", where, kMaxVocabulary);
  Unigram::Options options;
  options.read_from_json = read_from_json;
  Vocabulary tokens;
  for (const Json& pair : vocab) {
    check(pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_number(),
          "{}: entry {} of the model's \"vocab\" is not a pair of token and score: {}", where, tokens.size(),
          io::excerpt(pair));
    tokens.push_back(pair[0].get<std::string>());
    options.scores.push_back(pair[1].get<double>());
    check(std::isfinite(options.scores.back()), "{}: the score of the token {} is not a finite number", where,
          io::excerpt(tokens.back()));
  }
  if (const auto id = node.find("unk_id"); id != node.end() && !id->is_null())
    options.unk_id = static_cast<std::int32_t>(io::get_int_within(node, "unk_id", 0, std::ssize(tokens) - 1, where));
  options.byte_fallback = io::get_bool_or(node, "byte_fallback", false, where);
  return std::make_unique<Unigram>(TokenTable(std::move(tokens)), std::move(options));
}

class WordLevel final : public Model {
 public:
  WordLevel(TokenTable tokens, const std::string& unk_token)
      : Model(std::move(tokens)), unk_id_(this->tokens().find(unk_token)) {}
  void tokenize(std::string_view word, std::vector<Piece>& pieces) const override {
    const std::int32_t id = tokens().find(word);
    check(id != TokenTable::kNoToken || unk_id_ != TokenTable::kNoToken,
          "the text has words that the tokenizer does not know, and its vocabulary has no unknown token");
    pieces.push_back({id == TokenTable::kNoToken ? unk_id_ : id, 0, static_cast<std::uint32_t>(word.size())});
  }
  std::int32_t unk_id() const override { return unk_id_; }
  void write(Json& node) const override { node["vocab"] = make_vocab(tokens()); }

 private:
  std::int32_t unk_id_;
};

std::unique_ptr<Model> make_word_level(Json& node, const std::string& where, bool) {
  const std::string unk = io::get_string_or(node, "unk_token", "<unk>", where);
  return std::make_unique<WordLevel>(TokenTable(read_vocab(take(node, "vocab", where), where)), unk);
}

struct ModelType {
  std::string_view name;
  std::unique_ptr<Model> (*make)(Json& node, const std::string& where, bool read_from_json);
};
constexpr ModelType kTypes[] = {
    {"BPE", make_bpe}, {"Unigram", make_unigram}, {"WordLevel", make_word_level}, {"WordPiece", make_wordpiece}};

// The first versions of the tokenizers library left the type out.
std::string type_of(const Json& node, const std::string& where) {
  if (node.contains("type")) return io::get_string(node, "type", where);
  if (node.contains("max_input_chars_per_word")) return "WordPiece";
  if (node.contains("merges")) return "BPE";
  if (node.contains("unk_id")) return "Unigram";
  fail("{}: the model has no \"type\"", where);
}

}  // namespace

std::unique_ptr<Model> make_model(Json& node, const std::string& where, bool read_from_json) {
  check(node.is_object(), "{}: \"model\" must be an object, found {}", where, io::excerpt(node));
  const std::string type = type_of(node, where);
  for (const ModelType& known : kTypes)
    if (known.name == type) return known.make(node, where, read_from_json);
  fail("{}: the model {} is not supported", where, type);
}

}  // namespace hearth::tokenizer
