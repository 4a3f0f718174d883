#include "hearth/tasks/question_answering/preprocess.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "hearth/base/check.h"
#include "hearth/cpu/parallel.h"
#include "hearth/tokenizer/text.h"

namespace hearth::tasks {
namespace {

using tokenizer::Encoding;
using tokenizer::Offset;
using tokenizer::TokenizedText;
using tokenizer::Tokenizer;
namespace python = tokenizer::python;

constexpr std::int64_t kContextsPerTask = 64, kExamplesPerTask = 256;

// The tokens of each distinct context, and which of them each example has.
struct Contexts {
  std::vector<TokenizedText> pieces;
  std::vector<std::size_t> of_example;
};

Contexts tokenize_contexts(std::span<const QaExample> examples, const Tokenizer& tokenizer) {
  Contexts contexts;
  std::vector<std::string_view> texts;
  std::unordered_map<std::string_view, std::size_t> known;
  for (const QaExample& example : examples) {
    const auto [found, is_new] = known.try_emplace(*example.context, texts.size());
    if (is_new) texts.push_back(*example.context);
    contexts.of_example.push_back(found->second);
  }

  contexts.pieces.resize(texts.size());
  cpu::parallel_chunks(static_cast<std::int64_t>(texts.size()), kContextsPerTask, [&](auto begin, auto end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      contexts.pieces[i] = tokenizer.pieces(texts[i]);
  });
  return contexts;
}

void check_room(const QaExample& example, const TokenizedText& question, const TokenizedText& context,
                const Tokenizer& tokenizer, const QaFeatureOptions& options) {
  const std::int64_t special = tokenizer.special_tokens(true);
  const auto question_size = static_cast<std::int64_t>(question.ids.size());
  const std::int64_t room = options.max_seq_length - special - question_size;
  if (static_cast<std::int64_t>(context.ids.size()) <= room) return;
  check(room > options.doc_stride,
        "{} has {} tokens: with max_seq_length {} it leaves {} for the context, and doc_stride {} must be less "
        "than that; raise --max_seq_length or lower --doc_stride",
        example.id.empty() ? "the question" : "Question " + example.id, question_size, options.max_seq_length,
        std::max<std::int64_t>(room, 0), options.doc_stride);
}

// An answer that does not occur in the context has no label. A question with such answers alone would be trained as one
// without an answer.
bool can_be_trained_on(const QaExample& example) {
  return example.answers.empty() || std::ranges::any_of(example.answers, &QaAnswer::is_placed);
}

struct Span {
  std::int32_t start = 0, end = 0;
};

// As run_qa.py: the label of a window without the answer is the place of the token cls, else of bos, else the first.
Span place_of_no_answer(const Encoding& window, const Tokenizer& tokenizer) {
  for (const char* name : {"cls", "bos"}) {
    const auto id = tokenizer.special(name);
    const auto found = id ? std::ranges::find(window.ids, *id) : window.ids.end();
    if (found == window.ids.end()) continue;
    const auto place = static_cast<std::int32_t>(found - window.ids.begin());
    return {place, place};
  }
  return {0, 0};
}

Span label_of(const Encoding& window, const QaExample& example, const Tokenizer& tokenizer) {
  const auto size = static_cast<std::int32_t>(window.ids.size());
  const Span nowhere = place_of_no_answer(window, tokenizer);
  if (example.answers.empty()) return nowhere;

  const auto in_context = [&](std::int32_t i) { return window.sequence[static_cast<std::size_t>(i)] == 1; };
  const auto offset = [&](std::int32_t i) { return window.offsets[static_cast<std::size_t>(i)]; };
  std::int32_t first = 0, last = size - 1;
  while (first < size && !in_context(first)) ++first;
  while (last >= 0 && !in_context(last)) --last;
  if (last < 0) return nowhere;

  const QaAnswer& answer = *std::ranges::find_if(example.answers, &QaAnswer::is_placed);
  const std::int64_t start_char = answer.start, end_char = start_char + python::length(answer.text);
  if (offset(first).begin > start_char || offset(last).end < end_char) return nowhere;
  // As run_qa.py: the start of an answer that begins in the last token of the context runs on over [SEP], whose offset
  // is 0, to the end of the window.
  while (first < size && offset(first).begin <= start_char) ++first;
  while (last >= 0 && offset(last).end >= end_char) --last;
  return {first - 1, last + 1};
}

void append_tokens(QaFeatures& features, const Encoding& window, std::int64_t example) {
  features.append(window);
  features.examples.push_back(static_cast<std::int32_t>(example));
}

// The windows of the examples that `takes(example)` accepts; `extra(features, window, example)` adds what training or
// validation alone needs.
template <class Takes, class Extra>
QaFeatures prepare(std::span<const QaExample> examples, const Tokenizer& tokenizer, const QaFeatureOptions& options,
                   const FeatureProgress& progress, const Takes& takes, const Extra& extra) {
  check(options.doc_stride >= 0, "doc_stride is {}; it must not be negative", options.doc_stride);
  check(
      options.doc_stride < options.max_seq_length - tokenizer.special_tokens(true),
      "--doc_stride {} is too large: windows of {} tokens hold {} special tokens, the question and the overlap; give a "
      "smaller --doc_stride",
      options.doc_stride, options.max_seq_length, tokenizer.special_tokens(true));
  const Contexts contexts = tokenize_contexts(examples, tokenizer);

  const auto count = static_cast<std::int64_t>(examples.size());
  std::vector<QaFeatures> parts(static_cast<std::size_t>((count + kExamplesPerTask - 1) / kExamplesPerTask));
  std::mutex mutex;
  std::int64_t done = 0;
  cpu::parallel_chunks(count, kExamplesPerTask, [&](std::int64_t begin, std::int64_t end) {
    QaFeatures& part = parts[static_cast<std::size_t>(begin / kExamplesPerTask)];
    for (std::int64_t i = begin; i < end; ++i) {
      const QaExample& example = examples[static_cast<std::size_t>(i)];
      if (!takes(example)) continue;
      const TokenizedText& context = contexts.pieces[contexts.of_example[static_cast<std::size_t>(i)]];
      const TokenizedText question = tokenizer.pieces(python::lstrip(example.question));
      check_room(example, question, context, tokenizer, options);
      for (const Encoding& window :
           tokenizer.encode_windows(question, context, options.max_seq_length, options.doc_stride)) {
        append_tokens(part, window, i);
        extra(part, window, example);
      }
    }
    const std::lock_guard lock(mutex);
    done += end - begin;
    if (progress) progress(done, count);
  });

  QaFeatures all;
  for (QaFeatures& part : parts) all.append(std::exchange(part, {}));  // memory goes back as the whole grows
  return all;
}

QaFeatures labelled(std::span<const QaExample> examples, const Tokenizer& tokenizer, const QaFeatureOptions& options,
                    const FeatureProgress& progress) {
  return prepare(examples, tokenizer, options, progress, can_be_trained_on,
                 [&](QaFeatures& part, const Encoding& window, const QaExample& example) {
                   const Span label = label_of(window, example, tokenizer);
                   part.start_positions.push_back(label.start);
                   part.end_positions.push_back(label.end);
                 });
}

}  // namespace

QaFeatures prepare_train_part(std::span<const QaExample> examples, std::int64_t first, const Tokenizer& tokenizer,
                              const QaFeatureOptions& options) {
  QaFeatures features = labelled(examples, tokenizer, options, {});
  for (std::int32_t& example : features.examples.own()) example += static_cast<std::int32_t>(first);
  return features;
}

void check_trainable(const QaFeatures& features, std::int64_t examples) {
  check(features.size() > 0 || examples == 0,
        "There is nothing to train on: not one of {} questions has an answer that occurs in its context; check that "
        "question, context and answer are not mixed up",
        examples);
}

QaFeatures prepare_train_features(std::span<const QaExample> examples, const Tokenizer& tokenizer,
                                  const QaFeatureOptions& options, const FeatureProgress& progress) {
  QaFeatures features = labelled(examples, tokenizer, options, progress);
  check_trainable(features, std::ssize(examples));
  return features;
}

QaFeatures prepare_validation_features(std::span<const QaExample> examples, const Tokenizer& tokenizer,
                                       const QaFeatureOptions& options, const FeatureProgress& progress) {
  return prepare(
      examples, tokenizer, options, progress, [](const QaExample&) { return true; },
      [](QaFeatures& features, const Encoding& window, const QaExample&) {
        for (std::size_t i = 0; i < window.offsets.size(); ++i)
          features.offsets.push_back(window.sequence[i] == 1 ? window.offsets[i] : QaFeatures::kNoOffset);
      });
}

}  // namespace hearth::tasks
