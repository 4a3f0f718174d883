#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/apps/program.h"

namespace hearth {
namespace {

const fs::path kMaskedLm = fs::path(kFixturesFolder) / "masked_lm";

class RunMlm : public ProgramTest {
 protected:
  static std::string text() { return " --train_file " + (kMaskedLm / "text.txt").string() + " --disable_tqdm True "; }
};

// tests/tasks/make_masked_lm.py trained the same model on the same masks with transformers' Trainer.
TEST_F(RunMlm, HasTheLossCurveOfPyTorch) {
  const io::Json expected = io::read_json(kMaskedLm / "curve.json");
  const Outcome outcome =
      hearth("run_mlm --model_name_or_path " + kMaskedLm.string() + text() + expected.at("flags").get<std::string>() +
             " --do_train --do_eval --logging_steps 1 --save_strategy no --num_threads 1 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::vector<double> losses;
  const io::Json state = json("out/trainer_state.json");
  for (const io::Json& row : state.at("log_history"))
    if (row.contains("loss")) losses.push_back(row.at("loss").get<double>());
  ASSERT_EQ(losses.size(), expected.at("losses").size());
  EXPECT_LT(losses.back(), 0.85 * losses.front());
  for (std::size_t step = 0; step < losses.size(); ++step)
    EXPECT_NEAR(losses[step], expected.at("losses")[step].get<double>(), 1e-3) << step;
  const io::Json results = json("out/eval_results.json");
  for (const char* name : {"eval_loss", "eval_accuracy", "perplexity"})
    EXPECT_NEAR(results.at(name).get<double>(), expected.at(name).get<double>(), 1e-3 * expected.at(name).get<double>())
        << name;
}

TEST_F(RunMlm, StartsFromNothing) {
  const std::string run = "run_mlm --model_type bert --tokenizer_name " + kMaskedLm.string() + text() +
                          "--line_by_line --do_train --do_eval --max_steps 3 --save_strategy no ";
  const Outcome outcome =
      hearth(run +
             "--config_overrides vocab_size=64,hidden_size=32,num_hidden_layers=1,num_attention_heads=2,"
             "intermediate_size=64,max_position_embeddings=64 --output_dir out");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const io::Json config = json("out/config.json");
  EXPECT_EQ(config.at("architectures"), io::Json({"BertForMaskedLM"}));
  EXPECT_EQ(config.at("hidden_size"), 32);
  EXPECT_EQ(config.at("hidden_act"), "gelu");
  const auto tokens = std::ssize(lines_of(io::read_file(kMaskedLm / "vocab.txt")));
  EXPECT_EQ(config.at("vocab_size"), tokens) << "it grows to the tokenizer's";
  EXPECT_TRUE(fs::exists(folder() / "out/vocab.txt"));
  const double loss = json("out/eval_results.json").at("eval_loss").get<double>();
  EXPECT_NEAR(loss, std::log(static_cast<double>(tokens)), 1);
  EXPECT_NEAR(json("out/eval_results.json").at("perplexity").get<double>(), std::exp(loss), 1e-3);
  // The weights are found again, those of the head included.
  const Outcome again =
      hearth("run_mlm --model_name_or_path out" + text() + "--line_by_line --do_eval --output_dir again");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NEAR(json("again/eval_results.json").at("eval_loss").get<double>(), loss, 1e-6);
}

// Sentences as those of text.txt, with tags. The words of each kind are those from `first` on, `count` of them.
std::string tagged_sentences(int sentences, std::size_t first, std::size_t count) {
  using Words = std::vector<std::string>;
  const Words people{"Elif", "Greta", "Kira", "Bruno", "Pavel"}, towns{"Bergen", "Faro", "Jena", "Galway"},
      quarters{"north", "south", "east", "west"}, crafts{"baker", "weaver", "cooper", "smith", "potter"},
      goods{"bread", "cloth", "barrels", "nails", "bowls"};
  const std::vector<std::vector<std::string>> forms{
      {"PERSON", "the", "CRAFT", "of", "TOWN", "sells", "GOODS", "in", "the", "QUARTER", "."},
      {"In", "TOWN", ",", "which", "lies", "in", "the", "QUARTER", ",", "PERSON", "makes", "GOODS", "as", "a", "CRAFT"},
      {"The", "CRAFT", "PERSON", "makes", "GOODS", "."}};
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(sentences); ++i) {
    const std::size_t person = first + i * 7 / 3 % count, craft = first + i * 5 / 2 % count, town = first + i % count;
    const std::map<std::string, std::string> words{{"PERSON", people[person]},
                                                   {"CRAFT", crafts[craft]},
                                                   {"GOODS", goods[craft]},
                                                   {"TOWN", towns[town]},
                                                   {"QUARTER", quarters[town]}};
    for (const std::string& word : forms[i % forms.size()]) {
      const auto found = words.find(word);
      const bool is_entity = found != words.end() && word != "QUARTER";
      text += fmt::format("{} {}\n", found == words.end() ? word : found->second, is_entity ? "B-" + word : "O");
    }
    text += "\n";
  }
  return text;
}

// Tags of words that no tagged sentence has, but the texts have: only from them can the model know their kind.
TEST_F(RunMlm, FineTuningFromItBeatsFineTuningFromNothing) {
  write("train.conll", tagged_sentences(20, 0, 2));
  write("dev.conll", tagged_sentences(60, 2, 2));
  const Outcome pretraining =
      hearth("run_mlm --model_name_or_path " + kMaskedLm.string() + text() +
             "--line_by_line --do_train --num_train_epochs 60 --per_device_train_batch_size 16 --learning_rate 3e-3 "
             "--save_strategy no --num_threads 1 --output_dir pretrained");
  ASSERT_EQ(pretraining.status, 0) << pretraining.err;
  const auto f1_from = [&](const std::string& model) {
    double sum = 0;
    for (const char* seed : {"1", "2"}) {
      const Outcome outcome =
          hearth("run_ner --model_name_or_path " + model +
                 " --train_file train.conll --validation_file dev.conll --do_train --do_eval "
                 "--num_train_epochs 20 --learning_rate 3e-3 --save_strategy no --disable_tqdm True "
                 "--num_threads 1 --overwrite_output_dir --output_dir tagger --seed " +
                 seed);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      sum += json("tagger/eval_results.json").at("eval_f1").get<double>();
    }
    return sum / 2;
  };
  const double from_nothing = f1_from(kMaskedLm.string()), from_pretrained = f1_from("pretrained");
  EXPECT_GT(from_pretrained, from_nothing + 0.15) << from_nothing;
}

TEST_F(RunMlm, RefusesATokenizerThatIsLargerThanTheModel) {
  fs::create_directories(folder() / "bigger");
  write("bigger/vocab.txt", io::read_file(kMaskedLm / "vocab.txt") + "another\n");
  EXPECT_TRUE(contains(hearth("run_mlm --model_name_or_path " + kMaskedLm.string() + " --tokenizer_name bigger" +
                              text() + "--do_train --output_dir out")
                           .error(),
                       "more than the"));
}

TEST_F(RunMlm, NamesWhatANewModelNeeds) {
  const std::string run = "run_mlm --do_train --output_dir out" + text();
  EXPECT_TRUE(contains(hearth(run).error(), "no model was given: add --model_name_or_path, or --model_type and"));
  EXPECT_TRUE(contains(hearth(run + "--model_type bert").error(), "--tokenizer_name"));
  EXPECT_TRUE(contains(hearth(run + "--model_type bird --tokenizer_name " + kMaskedLm.string()).error(),
                       "model_type 'bird' is not supported"));
}

}  // namespace
}  // namespace hearth
