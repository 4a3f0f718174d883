#include "hearth/tokenizer/tokenizer.h"

#include <algorithm>

#include "bindings.h"
#include "convert.h"
#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/tokenizer/pipeline_tokenizer.h"

namespace hearth::python {
namespace {

using tokenizer::Encoding, tokenizer::PairLengths, tokenizer::TokenizedText, tokenizer::Tokenizer;
using Words = std::vector<std::string>;

constexpr std::int64_t kTextsPerTask = 16;
constexpr std::int32_t kNoWord = -1;

// How texts are cut, as a call of a tokenizer in transformers says it.
struct EncodeOptions {
  std::string truncation = "longest_first";  // or only_first, only_second
  std::int64_t max_length = tokenizer::kUnlimited;
  std::int64_t stride = 0;
  bool overflowing = false;  // also what was cut off, as further encodings
};

// A text or a list of words, which are tokenized one by one.
struct Text {
  TokenizedText tokens;
  std::vector<std::int32_t> words;  // by token; empty: not known
};

// An encoding with the number of the text that it comes from, and the word of each token.
struct Window {
  Encoding encoding;
  std::vector<std::int32_t> words;
};

Text tokens_of(const Words& words, bool split, const Tokenizer& tokenizer) {
  if (!split) return {tokenizer.pieces(words.front()), {}};
  Text text;
  for (std::size_t word = 0; word < words.size(); ++word) {
    const TokenizedText pieces = tokenizer.pieces(words[word]);
    text.tokens.ids.insert(text.tokens.ids.end(), pieces.ids.begin(), pieces.ids.end());
    text.tokens.offsets.insert(text.tokens.offsets.end(), pieces.offsets.begin(), pieces.offsets.end());
    text.words.resize(text.tokens.ids.size(), static_cast<std::int32_t>(word));
  }
  return text;
}

Text cut(const Text& text, std::int64_t begin, std::int64_t end) {
  Text part{slice(text.tokens, begin, end), {}};
  if (!text.words.empty()) part.words.assign(text.words.begin() + begin, text.words.begin() + end);
  return part;
}

// The words of an encoding's tokens follow from those of its texts, in order.
Window window_of(const Text& first, const Text* second, const Tokenizer& tokenizer) {
  Window window{second == nullptr ? tokenizer.build(first.tokens) : tokenizer.build(first.tokens, second->tokens), {}};
  const Text* const texts[] = {&first, second};
  if (first.words.empty()) return window;
  std::size_t next[] = {0, 0};
  for (const std::int8_t sequence : window.encoding.sequence)
    window.words.push_back(sequence < 0 ? kNoWord : texts[sequence]->words[next[sequence]++]);
  return window;
}

// Text `which` is cut into windows that overlap by `stride` tokens; the other one is whole in each of them.
std::vector<Window> windows_of(const Text& first, const Text* second, bool cuts_second, std::int64_t room,
                               const EncodeOptions& options, const Tokenizer& tokenizer) {
  const Text& long_text = cuts_second ? *second : first;
  const auto length = static_cast<std::int64_t>(long_text.tokens.ids.size());
  const std::int64_t other = second == nullptr ? 0
                             : cuts_second     ? static_cast<std::int64_t>(first.tokens.ids.size())
                                               : static_cast<std::int64_t>(second->tokens.ids.size());
  const std::int64_t width = room - other;
  check(width > 0 && (!options.overflowing || options.stride < width),
        "[tokenizer] max_length {} leaves room for {} tokens of the text that is cut, and stride is {}: give a larger "
        "max_length or a smaller stride",
        options.max_length, width, options.stride);
  std::vector<Window> windows;
  for (std::int64_t begin = 0;; begin += width - options.stride) {
    const std::int64_t end = std::min(begin + width, length);
    const Text part = cut(long_text, begin, end);
    windows.push_back(cuts_second ? window_of(first, &part, tokenizer) : window_of(part, second, tokenizer));
    if (end == length || !options.overflowing) return windows;
  }
}

std::vector<Window> encode(const Text& first, const Text* second, const EncodeOptions& options,
                           const Tokenizer& tokenizer) {
  const auto a = static_cast<std::int64_t>(first.tokens.ids.size());
  const auto b = second == nullptr ? 0 : static_cast<std::int64_t>(second->tokens.ids.size());
  if (options.max_length == tokenizer::kUnlimited) return {window_of(first, second, tokenizer)};
  const std::int64_t room = options.max_length - tokenizer.special_tokens(second != nullptr);
  check(room > 0, "[tokenizer] max_length {} leaves no room for a text beside the special tokens", options.max_length);
  if (a + b <= room) return {window_of(first, second, tokenizer)};
  if (second != nullptr && options.truncation == "longest_first") {
    check(!options.overflowing,
          "[tokenizer] return_overflowing_tokens of pairs needs truncation='only_first' or 'only_second'");
    const PairLengths kept = tokenizer::longest_first({a, b}, room);
    const Text cut_second = cut(*second, 0, kept.second);
    return {window_of(cut(first, 0, kept.first), &cut_second, tokenizer)};
  }
  return windows_of(first, second, second != nullptr && options.truncation == "only_second", room, options, tokenizer);
}

nb::list list_of(const auto& values) {
  nb::list list;
  for (const auto& value : values) list.append(value);
  return list;
}

// One entry per encoding under transformers' names, and where each comes from.
nb::dict encode_all(const Tokenizer& tokenizer, const std::vector<Words>& texts, const std::vector<Words>& pairs,
                    bool split, const EncodeOptions& options) {
  check(pairs.empty() || pairs.size() == texts.size(), "[tokenizer] {} texts, but {} second texts", texts.size(),
        pairs.size());
  std::vector<std::vector<Window>> windows(texts.size());
  {
    const nb::gil_scoped_release without_gil;
    cpu::parallel_chunks(static_cast<std::int64_t>(texts.size()), kTextsPerTask,
                         [&](std::int64_t begin, std::int64_t end) {
                           for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                             const Text first = tokens_of(texts[i], split, tokenizer);
                             const Text second = pairs.empty() ? Text() : tokens_of(pairs[i], split, tokenizer);
                             windows[i] = encode(first, pairs.empty() ? nullptr : &second, options, tokenizer);
                           }
                         });
  }
  nb::list ids, types, offsets, sequences, words, samples;
  for (std::size_t i = 0; i < windows.size(); ++i)
    for (const Window& window : windows[i]) {
      ids.append(list_of(window.encoding.ids));
      types.append(list_of(window.encoding.type_ids));
      nb::list places;
      for (const tokenizer::Offset& offset : window.encoding.offsets)
        places.append(nb::make_tuple(offset.begin, offset.end));
      offsets.append(places);
      nb::list of_sequence, of_word;
      for (const std::int8_t sequence : window.encoding.sequence)
        of_sequence.append(sequence < 0 ? nb::object(nb::none()) : nb::object(nb::int_(static_cast<int>(sequence))));
      for (const std::int32_t word : window.words)
        of_word.append(word == kNoWord ? nb::object(nb::none()) : nb::object(nb::int_(word)));
      sequences.append(of_sequence);
      words.append(of_word);
      samples.append(i);
    }
  nb::dict result;
  result["input_ids"] = ids;
  result["token_type_ids"] = types;
  result["offset_mapping"] = offsets;
  result["sequence_ids"] = sequences;
  result["word_ids"] = words;
  result["overflow_to_sample_mapping"] = samples;
  return result;
}

}  // namespace

void bind_tokenizer(nb::module_& m) {
  nb::class_<EncodeOptions>(m, "EncodeOptions")
      .def(nb::init<>())
      .def_rw("truncation", &EncodeOptions::truncation)
      .def_rw("max_length", &EncodeOptions::max_length)
      .def_rw("stride", &EncodeOptions::stride)
      .def_rw("overflowing", &EncodeOptions::overflowing);
  m.attr("UNLIMITED") = tokenizer::kUnlimited;
  nb::class_<Tokenizer>(m, "Tokenizer")
      .def_static(
          "load",
          [](const std::string& folder, bool takes_words) {
            return std::const_pointer_cast<Tokenizer>(tokenizer::load_tokenizer(folder, {.takes_words = takes_words}));
          },
          WithoutGil())
      .def("encode", encode_all)
      .def("decode", &Tokenizer::decode, WithoutGil())
      .def("token", &Tokenizer::token)
      .def("joined", &Tokenizer::joined)
      .def("special", [](const Tokenizer& self, const std::string& name) { return self.special(name); })
      .def("special_ids", &Tokenizer::special_ids)
      .def("special_tokens", &Tokenizer::special_tokens)
      .def_prop_ro("vocab_size", &Tokenizer::vocab_size)
      .def_prop_ro("model_max_length", &Tokenizer::model_max_length)
      .def_prop_ro("tokenizer_class",
                   [](const Tokenizer& self) {
                     const auto* const pipeline = dynamic_cast<const tokenizer::PipelineTokenizer*>(&self);
                     return pipeline == nullptr ? std::string() : pipeline->config().tokenizer_class;
                   })
      .def(
          "save", [](const Tokenizer& self, const std::string& folder) { self.save(folder); }, WithoutGil());
}

}  // namespace hearth::python
