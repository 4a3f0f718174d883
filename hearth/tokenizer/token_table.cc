#include "hearth/tokenizer/token_table.h"

#include <algorithm>

#include "hearth/base/check.h"
#include "hearth/io/json.h"

namespace hearth::tokenizer {
namespace {

constexpr std::int64_t kMostGaps = 1 << 20;  // ids that no token of a vocabulary has

}  // namespace

TokenTable::TokenTable(Vocabulary tokens) : tokens_(std::move(tokens)) {
  ids_.reserve(tokens_.size());
  for (std::size_t id = 0; id < tokens_.size(); ++id)
    if (!tokens_[id].empty()) ids_[tokens_[id]] = static_cast<std::int32_t>(id);
}

std::int32_t TokenTable::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? kNoToken : found->second;
}

const std::string* TokenTable::token(std::int32_t id) const {
  if (id < 0 || id >= size()) return nullptr;
  const std::string& token = tokens_[static_cast<std::size_t>(id)];
  return token.empty() ? nullptr : &token;
}

Vocabulary read_vocab(const io::Json& vocab, const std::string& where) {
  check(vocab.is_object() && !vocab.empty(), "{}: the model's \"vocab\" holds no tokens", where);
  const std::int64_t end = std::min<std::int64_t>(kMaxVocabulary, std::ssize(vocab) + kMostGaps);
  Vocabulary tokens(vocab.size());
  for (const auto& [token, value] : vocab.get_ref<const io::Json::object_t&>()) {
    const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    check(0 <= id && id < end, "{}: the id of token {} is not a whole number under {}", where, io::excerpt(token), end);
    const auto place = static_cast<std::size_t>(id);
    if (place >= tokens.size()) tokens.resize(place + 1);
    check(tokens[place].empty(), "{}: the tokens {} and {} have the same id, {}", where, io::excerpt(tokens[place]),
          io::excerpt(token), id);
    tokens[place] = token;
  }
  return tokens;
}

// Filled by hand, because every insertion through Json searches all keys.
io::Json make_vocab(const TokenTable& tokens) {
  io::Json vocab = io::Json::object();
  auto& members = vocab.get_ref<io::Json::object_t&>();
  for (std::size_t id = 0; id < tokens.all().size(); ++id)
    if (tokens.find(tokens.all()[id]) == static_cast<std::int32_t>(id)) members.emplace_back(tokens.all()[id], id);
  return vocab;
}

}  // namespace hearth::tokenizer
