#include "hearth/models/sentence_transformer.h"

#include "hearth/io/file.h"
#include "hearth/io/json.h"
#include "tests/support.h"

namespace hearth::models {
namespace {

using ops::Pooling;

class SentenceTransformerFolder : public TemporaryFolder {
 protected:
  void write_modules(const std::string& prefix, const std::string& last = "Normalize") const {
    std::filesystem::create_directories(folder_ / "1_Pooling");
    write("modules.json", fmt::format(R"([{{"idx":0,"name":"0","path":"","type":"{0}Transformer"}},
                          {{"idx":1,"name":"1","path":"1_Pooling","type":"{0}Pooling"}},
                          {{"idx":2,"name":"2","path":"2_{1}","type":"{0}{1}"}}])",
                                      prefix, last));
  }
  std::string error() const {
    return error_of([&] { read_sentence_transformer(folder_); });
  }
};

TEST_F(SentenceTransformerFolder, APlainModelHasMeanPooling) {
  const SentenceTransformer settings = read_sentence_transformer(folder_);
  EXPECT_EQ(settings.pooling, std::vector{Pooling::mean});
  EXPECT_FALSE(settings.normalize);
  EXPECT_EQ(settings.query_prompt(), "");
}

TEST_F(SentenceTransformerFolder, ReadsTheLayoutBefore5_4) {
  write_modules("sentence_transformers.models.");
  write("1_Pooling/config.json",
        R"({"word_embedding_dimension": 8, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false,
            "pooling_mode_weightedmean_tokens": true, "include_prompt": false})");
  write("sentence_bert_config.json", R"({"max_seq_length": 100, "do_lower_case": false})");
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "q: ", "passage": "p: "}, "default_prompt_name": "query"})");
  const SentenceTransformer settings = read_sentence_transformer(folder_);
  EXPECT_EQ(settings.pooling, (std::vector{Pooling::cls, Pooling::weightedmean}));
  EXPECT_TRUE(settings.normalize);
  EXPECT_FALSE(settings.include_prompt);
  EXPECT_EQ(settings.max_seq_length, 100);
  EXPECT_EQ(settings.query_prompt(), "q: ");
  EXPECT_EQ(settings.document_prompt(), "p: ");
  EXPECT_EQ(settings.prompt(std::nullopt, "m"), "q: ");
  EXPECT_TRUE(
      contains(error_of([&] { settings.prompt("title", "m"); }), "m has no prompt 'title'; it has passage, query"));
}

TEST_F(SentenceTransformerFolder, ReadsWhatItWrites) {
  SentenceTransformer settings;
  settings.pooling = {Pooling::lasttoken, Pooling::max};
  settings.normalize = true;
  settings.prompts = {{"query", "query: "}, {"passage", "passage: "}};
  settings.default_prompt_name = "passage";
  settings.truncate_dim = 4;
  settings.max_seq_length = 77;
  write("tokenizer_config.json", R"({"model_max_length": 512, "tokenizer_class": "BertTokenizer"})");
  write_sentence_transformer(settings, 8, folder_);
  EXPECT_EQ(io::read_json(folder_ / "1_Pooling/config.json").dump(),
            R"({"embedding_dimension":8,"pooling_mode":["lasttoken","max"],"include_prompt":true})");
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "2_Normalize"));
  EXPECT_EQ(io::read_json(folder_ / "tokenizer_config.json").at("model_max_length"), 77);
  const SentenceTransformer again = read_sentence_transformer(folder_);
  EXPECT_EQ(again.pooling, settings.pooling);
  EXPECT_TRUE(again.normalize);
  EXPECT_EQ(again.truncate_dim, 4);
  EXPECT_EQ(again.default_prompt_name, "passage");
  EXPECT_EQ(again.query_prompt(), "query: ");
  EXPECT_EQ(again.document_prompt(), "");  // the empty prompt "document", which the layout always has
}

TEST_F(SentenceTransformerFolder, WhatIsNotKnownIsAnError) {
  write_modules("sentence_transformers.models.");
  write("1_Pooling/config.json", R"({"embedding_dimension": 8, "pooling_mode": "median"})");
  EXPECT_TRUE(contains(error(), "the pooling mode 'median' is not known; use one of cls, max, mean"));
  write_modules("sentence_transformers.models.", "Dense");
  write("1_Pooling/config.json", R"({"embedding_dimension": 8, "pooling_mode": "mean"})");
  EXPECT_TRUE(contains(error(), "the module sentence_transformers.models.Dense is not supported"));
  write("modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}])");
  EXPECT_TRUE(contains(error(), "its Transformer is in the folder 0_Transformer"));
  write("modules.json", R"([{"path": "", "type": "sentence_transformers.models.WordEmbeddings"}])");
  EXPECT_TRUE(contains(error(), "the first module must be a Transformer"));
}

}  // namespace
}  // namespace hearth::models
