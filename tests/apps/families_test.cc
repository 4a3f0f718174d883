// Every task on every model family, with the tokenizer of the family: two steps of training, then the command that uses
// the model. What the numbers must be is tested by `hearth verify` and by tests/peers.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/apps/program.h"
#include "tests/apps/task_files.h"

namespace hearth {
namespace {

const fs::path kFamilies = fs::path(kFixturesFolder) / "families";

struct FamilyCase {
  std::string name, class_name, tokenizer;  // its folder in the fixtures; empty: WordPiece, as BERT's
  std::string tokenizer_class;
};

void PrintTo(const FamilyCase& family, std::ostream* out) { *out << family.name; }

const FamilyCase kCases[] = {
    {"bert", "Bert", "", "BertTokenizer"},
    {"distilbert", "DistilBert", "", "DistilBertTokenizer"},
    {"roberta", "Roberta", "roberta", "RobertaTokenizer"},
    {"xlm-roberta", "XLMRoberta", "xlm-roberta", "XLMRobertaTokenizer"},
    {"electra", "Electra", "", "ElectraTokenizer"},
    {"albert", "Albert", "albert", "AlbertTokenizer"},
};

class EveryFamily : public ProgramTest, public testing::WithParamInterface<FamilyCase> {
 protected:
  static constexpr int kRows = 12;

  // A model with random weights, and the tokenizer of BERT if the fixtures have none for the family.
  void SetUp() override {
    const FamilyCase& family = GetParam();
    const fs::path tokenizer = family.tokenizer.empty() ? start_model() : kFamilies / "tokenizers" / family.tokenizer;
    io::Json config = io::read_json(kFamilies / "models" / (family.name + "-qa") / "config.json");
    config["max_position_embeddings"] = 80;
    write("start.json", io::dump_json(config, 2));
    must("init_model --config start.json --output_dir start --tokenizer " + tokenizer.string());
  }

  Outcome must(const std::string& arguments) const {
    const Outcome outcome = hearth(arguments);
    EXPECT_EQ(outcome.status, 0) << arguments << "\n" << outcome.err;
    return outcome;
  }
  // Two steps; the names of the files are those that every task takes.
  void train(const std::string& command, const std::string& file, const std::string& suffix, const std::string& out) {
    must(command + " --model_name_or_path start --train_file " + file + " --validation_file " + file +
         " --do_train --do_eval --max_steps 2 --per_device_train_batch_size 4 --save_strategy no --disable_tqdm True "
         "--num_threads 1 --output_dir " +
         out);
    const io::Json config = json(out + "/config.json");
    EXPECT_EQ(config.at("architectures"), io::Json({GetParam().class_name + suffix}));
    EXPECT_EQ(config.at("model_type"), GetParam().name);
    const std::string tokenizer = json(out + "/tokenizer_config.json").at("tokenizer_class").get<std::string>();
    EXPECT_TRUE(tokenizer == GetParam().tokenizer_class || tokenizer == GetParam().tokenizer_class + "Fast")
        << tokenizer;
    EXPECT_TRUE(std::isfinite(json(out + "/train_results.json").at("train_loss").get<double>()));
    EXPECT_TRUE(fs::exists(folder() / out / "eval_results.json"));
  }
};

TEST_P(EveryFamily, AnswersQuestions) {
  train("run_qa --max_seq_length 64 --doc_stride 16", (kFixtures / "dev.json").string(), "ForQuestionAnswering", "qa");
  const Outcome answer =
      must("ask --model qa --question 'Where does Elif live?' --context_text 'Elif the baker lives in Bergen.'");
  EXPECT_FALSE(answer.out.empty());
}

TEST_P(EveryFamily, ClassifiesTexts) {
  write("pairs.csv", pairs(kRows));
  train("run_glue --max_seq_length 64", "pairs.csv", "ForSequenceClassification", "glue");
  EXPECT_EQ(json("glue/config.json").at("id2label"), io::Json({{"0", "other"}, {"1", "same"}}));
  write("labels.json", several_labels(kRows));
  train("run_classification --max_seq_length 64", "labels.json", "ForSequenceClassification", "several");
  EXPECT_EQ(json("several/config.json").at("problem_type"), "multi_label_classification");
  write("texts.txt", texts(2));
  EXPECT_EQ(lines_of(must("classify --model several --file texts.txt").out).size(), 2u);
}

TEST_P(EveryFamily, TagsWords) {
  write("tags.conll", tags(kRows));
  train("run_ner --max_seq_length 64", "tags.conll", "ForTokenClassification", "ner");
  EXPECT_EQ(json("ner/config.json").at("label2id"), io::Json({{"B-LOC", 0}, {"B-PER", 1}, {"O", 2}}));
  must("tag --model ner --text 'Elif lives in Bergen.'");
}

TEST_P(EveryFamily, FindsMaskedTokens) {
  write("texts.txt", texts(kRows));
  train("run_mlm --line_by_line --mlm_probability 0.3", "texts.txt", "ForMaskedLM", "mlm");
  // The same from the defaults of the family.
  const std::string sizes = GetParam().name == "distilbert"
                                ? "dim=16,n_layers=2,n_heads=2,hidden_dim=24"
                                : "hidden_size=16,num_hidden_layers=2,num_attention_heads=2,intermediate_size=24";
  must(
      "run_mlm --line_by_line --train_file texts.txt --do_train --max_steps 1 --save_strategy no --disable_tqdm True "
      "--tokenizer_name start --output_dir new --model_type " +
      GetParam().name + " --config_overrides " + sizes);
  EXPECT_EQ(json("new/config.json").at("architectures"), io::Json({GetParam().class_name + "ForMaskedLM"}));
  const Outcome again = must(
      "run_mlm --model_name_or_path mlm --line_by_line --validation_file texts.txt --do_eval "
      "--num_threads 1 --mlm_probability 0.3 --output_dir again");
  EXPECT_FALSE(contains(again.err, "newly initialised")) << again.err;
  EXPECT_FALSE(contains(again.err, "does not use")) << again.err;
  EXPECT_NEAR(json("again/eval_results.json").at("eval_loss").get<double>(),
              json("mlm/eval_results.json").at("eval_loss").get<double>(), 1e-6);
}

TEST_P(EveryFamily, EmbedsTexts) {
  write("anchors.jsonl", anchors(kRows));
  train("run_embedding --max_seq_length 64", "anchors.jsonl", "Model", "embedding");
  write("texts.txt", texts(3));
  must("embed --model embedding --file texts.txt --output out.npy");
  EXPECT_EQ(fs::file_size(folder() / "out.npy"), 128u + 3 * 16 * sizeof(float));
}

TEST_P(EveryFamily, HasAnEstimateOfItsMemory) {
  EXPECT_TRUE(contains(must("estimate-memory start --batch 2 --seq 32 --head mlm").out, "total"));
}

INSTANTIATE_TEST_SUITE_P(All, EveryFamily, testing::ValuesIn(kCases),
                         [](const auto& family) { return family.param.class_name; });

}  // namespace
}  // namespace hearth
