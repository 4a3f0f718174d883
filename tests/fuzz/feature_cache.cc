// The input is a cache file as it stands, and then the seven arrays of features: one byte for their kind, the seven
// lengths in bytes, 16 bits each, and the arrays. Features that are accepted are used as training and evaluation use
// them.
#include "hearth/tasks/question_answering/feature_cache.h"

#include <cstring>
#include <numeric>

#include "hearth/tasks/question_answering/dataset.h"
#include "hearth/tasks/question_answering/postprocess.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

namespace {

constexpr std::int64_t kExamples = 3;

std::vector<data::Section> sections_in(std::string_view bytes) {
  constexpr std::size_t kSections = 7;
  std::uint16_t sizes[kSections] = {};
  std::memcpy(sizes, bytes.data(), std::min(sizeof sizes, bytes.size()));
  bytes.remove_prefix(std::min(sizeof sizes, bytes.size()));
  std::vector<data::Section> sections;
  for (const std::uint16_t size : sizes) {
    sections.push_back({std::as_bytes(std::span(bytes.substr(0, size)))});
    bytes.remove_prefix(std::min<std::size_t>(size, bytes.size()));
  }
  return sections;
}

void use(tasks::QaFeatures features) {
  const auto all = std::make_shared<const tasks::QaFeatures>(std::move(features));
  std::vector<std::int64_t> items(static_cast<std::size_t>(all->size()));
  std::iota(items.begin(), items.end(), 0);
  for (const tasks::Padding padding : {tasks::Padding::packed, tasks::Padding::longest, tasks::Padding::max_length})
    tasks::QaDataset(all, {.padding = padding, .max_seq_length = 64}).collate(items, 0);
  if (all->has_labels()) return;
  const auto context = std::make_shared<const std::string>("K\u00f6ln lies on the Rhine.");
  const std::vector<tasks::QaExample> examples(kExamples, {"id", "", context, "Where?", {}});
  const std::vector<float> zeros(64);
  std::vector<tasks::QaLogits> logits;
  for (std::int64_t f = 0; f < all->size(); ++f) {
    const std::span<const float> of_tokens = std::span(zeros).first(static_cast<std::size_t>(all->length(f)));
    logits.push_back({of_tokens, of_tokens});
  }
  tasks::postprocess_qa_predictions(examples, *all, logits, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const data::Cache cache(fuzz::scratch());
    const data::CacheKey key = data::CacheKey().add("format", "fuzz");
    fuzz::write(cache.path_of(key).filename(), bytes);
    cache.load(key);
    if (bytes.empty()) return;
    const auto kind = bytes[0] % 2 == 0 ? tasks::QaFeatureKind::train : tasks::QaFeatureKind::validation;
    cache.store(key, sections_in(bytes.substr(1)));
    if (auto features = tasks::load_features(cache, key, {kind, kExamples, 100, 64})) use(std::move(*features));
  });
}
