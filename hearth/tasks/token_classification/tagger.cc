#include "hearth/tasks/token_classification/tagger.h"

#include <algorithm>
#include <cmath>

#include "hearth/base/check.h"
#include "hearth/ops/context.h"
#include "hearth/tokenizer/text.h"

namespace hearth::tasks {

using tokenizer::Encoding, tokenizer::TokenizedText, tokenizer::Tokenizer;

// The tokens [begin, end) of a sentence as input of the model. [first, last) are those that take their probabilities
// from this window.
struct Tagger::Window {
  std::size_t sentence = 0;
  std::int64_t begin = 0, end = 0, first = 0, last = 0;
  Encoding encoding;

  std::int64_t place(std::int64_t token) const {  // in the encoding: special tokens stand before it
    return token - begin + (std::ranges::find(encoding.sequence, 0) - encoding.sequence.begin());
  }
};

namespace {

std::vector<float> softmax(std::span<const float> logits) {
  const float largest = std::ranges::max(logits);
  std::vector<float> values;
  float sum = 0;
  for (const float logit : logits) {
    values.push_back(std::exp(logit - largest));
    sum += values.back();
  }
  for (float& value : values) value /= sum;
  return values;
}

// As the pipeline of transformers: a token that goes on with a word is longer than its text by the "##", or no space
// stands before it.
bool continues_word(std::string_view text, const ScoredToken& token, const Tokenizer& tokenizer) {
  const auto [begin, end] = token.place;
  if (tokenizer.marks_continuations()) return tokenizer::python::length(token.word) != end - begin;
  return begin > 0 && tokenizer::python::slice(text, begin - 1, begin + 1).find(' ') == std::string_view::npos;
}

// The tokens of a text with the offsets of an encoding, where byte-level tokenizers leave out the space before a word.
TokenizedText encoded_pieces(std::string_view text, const Tokenizer& tokenizer) {
  TokenizedText pieces = tokenizer.pieces(text);
  const Encoding encoding = tokenizer.build(pieces);
  std::size_t piece = 0;
  for (std::size_t i = 0; i < encoding.sequence.size(); ++i)
    if (encoding.sequence[i] == 0) pieces.offsets[piece++] = encoding.offsets[i];
  return pieces;
}

}  // namespace

TokenizedSentence tokenized(std::string_view text, const Tokenizer& tokenizer) {
  return {std::string(text), encoded_pieces(text, tokenizer)};
}

TokenizedSentence tokenized(std::span<const std::string> words, const Tokenizer& tokenizer) {
  TokenizedSentence sentence;
  for (const std::string& word : words) {
    if (&word != &words.front()) sentence.text += ' ';
    const auto start = static_cast<std::int32_t>(tokenizer::python::length(sentence.text));
    const TokenizedText pieces = encoded_pieces(word, tokenizer);
    for (std::size_t i = 0; i < pieces.ids.size(); ++i) {
      sentence.tokens.ids.push_back(pieces.ids[i]);
      sentence.tokens.offsets.push_back({pieces.offsets[i].begin + start, pieces.offsets[i].end + start});
    }
    sentence.text += word;
  }
  return sentence;
}

Tagger::Tagger(nn::Model& model, std::vector<std::string> labels, const Tokenizer& tokenizer,
               const TaggerOptions& options)
    : model_(model), labels_(std::move(labels)), tokenizer_(tokenizer), options_(options) {
  const std::int64_t room = options_.max_seq_length - tokenizer_.special_tokens(false);
  check(room > 0, "--max_seq_length {} leaves no room for words; raise it", options_.max_seq_length);
  check(options_.stride < room, "--stride {} must be less than the {} tokens of a window (--max_seq_length)",
        options_.stride, room);
}

std::vector<Tagger::Window> Tagger::windows_of(const TokenizedText& tokens, std::size_t sentence) const {
  const auto size = static_cast<std::int64_t>(tokens.ids.size());
  const std::int64_t room = options_.max_seq_length - tokenizer_.special_tokens(false);
  std::vector<Window> windows;
  for (std::int64_t begin = 0, end = 0; end < size; begin += room - options_.stride) {
    end = std::min(begin + room, size);
    // In the middle of the tokens that two windows share, both have the same context.
    const std::int64_t first = windows.empty() ? 0 : begin + (windows.back().end - begin + 1) / 2;
    if (!windows.empty()) windows.back().last = first;
    windows.push_back({sentence, begin, end, first, end, tokenizer_.build(tokenizer::slice(tokens, begin, end))});
  }
  return windows;
}

std::vector<ScoredToken> Tagger::without_scores(const TokenizedSentence& sentence) const {
  std::vector<ScoredToken> result;
  for (std::size_t i = 0; i < sentence.tokens.ids.size(); ++i) {
    const auto [begin, end] = sentence.tokens.offsets[i];
    ScoredToken token;
    token.word = tokenizer_.token(sentence.tokens.ids[i]);
    token.place = {begin, end};
    token.continues_word = continues_word(sentence.text, token, tokenizer_);
    if (sentence.tokens.ids[i] == tokenizer_.special("unk")) {
      token.word = tokenizer::python::slice(sentence.text, begin, end);
      token.continues_word = false;
    }
    result.push_back(std::move(token));
  }
  return result;
}

void Tagger::run(std::span<const Window> windows, std::span<std::vector<ScoredToken>> tokens) const {
  Batch batch;
  std::uint32_t sample = 0;
  for (const Window& window : windows) batch.append(window.encoding.ids, window.encoding.type_ids, sample++);
  const BatchPtr shared = shared_batch(std::move(batch));
  ops::Context ctx;
  ctx.compute = options_.compute;
  const nn::ModelOutput output = model_.forward(ctx, shared);
  const Tensor& logits = output.logits_named("logits");  // (T, labels)
  for (std::size_t w = 0; w < windows.size(); ++w)
    for (std::int64_t t = windows[w].first; t < windows[w].last; ++t) {
      ScoredToken& token = tokens[windows[w].sentence][static_cast<std::size_t>(t)];
      const std::int64_t row = shared->starts[w] + windows[w].place(t);
      token.probabilities = softmax({logits.data<float>() + row * logits.row_size(), labels_.size()});
      token.index = windows[w].place(t) + windows[w].begin;
    }
}

std::vector<std::vector<Entity>> Tagger::operator()(std::span<const TokenizedSentence> sentences) const {
  std::vector<Window> windows;
  std::vector<std::vector<ScoredToken>> tokens;
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    std::ranges::move(windows_of(sentences[s].tokens, s), std::back_inserter(windows));
    tokens.push_back(without_scores(sentences[s]));
  }
  const auto size = static_cast<std::size_t>(options_.batch_size);
  for (std::size_t first = 0; first < windows.size(); first += size)
    run(std::span(windows).subspan(first, std::min(size, windows.size() - first)), tokens);
  std::vector<std::vector<Entity>> entities;
  for (const std::vector<ScoredToken>& scored : tokens)
    entities.push_back(aggregate(scored, options_.aggregation, labels_, tokenizer_));
  return entities;
}

}  // namespace hearth::tasks
