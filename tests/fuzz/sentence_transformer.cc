// The files of sentence-transformers beside a model. The first byte of the input chooses the file that has the rest.
#include "hearth/models/sentence_transformer.h"

#include "tests/fuzz/fuzz.h"

using namespace hearth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::string_view bytes) {
    constexpr std::string_view kModules =
        R"([{"type": "m.Transformer", "path": ""}, {"type": "m.Pooling", "path": "1_Pooling"}])";
    const std::pair<std::string_view, std::string_view> files[] = {{"modules.json", kModules},
                                                                   {"1_Pooling/config.json", "{}"},
                                                                   {"sentence_bert_config.json", "{}"},
                                                                   {"config_sentence_transformers.json", "{}"}};
    if (bytes.empty()) return;
    const std::size_t chosen = static_cast<unsigned char>(bytes[0]) % std::size(files);
    for (std::size_t i = 0; i < std::size(files); ++i)
      fuzz::write(std::filesystem::path("model") / files[i].first, i == chosen ? bytes.substr(1) : files[i].second);
    const auto settings = models::read_sentence_transformer(fuzz::scratch() / "model");
    fuzz::attempt([&] { settings.prompt("query", "model"); });
    settings.document_prompt();
  });
}
