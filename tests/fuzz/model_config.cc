#include "hearth/models/family.h"
#include "hearth/models/pretrained.h"
#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    const models::Config config = models::Config::read(fuzz::write("model/config.json", bytes).parent_path());
    fuzz::attempt([&] { config.label_names(); });
    fuzz::attempt([&] { config.problem_type(); });
    fuzz::attempt([&] { models::head_of(config); });
    constexpr std::int64_t kFewLayers = 3;  // more of them would only take time
    if (models::transformer_config(config).layers > kFewLayers) return;
    using enum models::HeadKind;
    for (const models::HeadKind head :
         {question_answering, sequence_classification, token_classification, masked_lm, embedding})
      fuzz::attempt([&] { models::Pretrained(config, head); });
  });
}
